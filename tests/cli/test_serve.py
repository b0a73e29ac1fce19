import asyncio

import httpx
import pytest
from tests.runs import command
from tests.serve.small import small_task
from tests.small_tasks import small

from sublayer.serve.server import listen


@pytest.fixture
def run(tmp_path):
    small_task().save_pretrained(tmp_path / "small")
    return tmp_path / "small"


@pytest.fixture
def answers(monkeypatch):
    """What the application that would be served answers to a question."""
    found = []

    def run(app, bound, limits):
        async def questions():
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
                found.extend([(await client.get("/models")).json(), limits])

        with bound:
            asyncio.run(questions())

    monkeypatch.setattr("sublayer.serve.server.run", run)
    return found


def test_several_runs_are_served_by_name_with_limits(run, answers):
    said = command("serve", run, f"other={run}", "--port", 0, "--limit", "waiting=7")
    assert said.code == 0 and said.out == ""
    assert said.err.splitlines()[-1].startswith("small, other: http://127.0.0.1:")
    models, limits = answers
    assert [(model["name"], model["task"], model["engine"]) for model in models["models"]] == [
        ("small", "translate", "native"),
        ("other", "translate", "native"),
    ]
    assert limits.waiting == 7


def test_every_task_can_be_served_and_engines_are_for_one(tmp_path, answers):
    runs = []
    for kind in ("classify", "tag", "complete", "embed", "answer", "fill"):
        small(kind)[0].save_pretrained(tmp_path / kind)
        runs.append(tmp_path / kind)
    assert command("serve", *runs, "--engine", "auto", "--port", 0).code == 0
    assert [(m["name"], m["engine"]) for m in answers[0]["models"]] == [(run.name, "native") for run in runs]
    said = command("serve", runs[0], "--engine", "onnx", "--port", 0)
    assert said.code == 2 and "--engine onnx is for runs of task translate, and this one holds a Classify" in said.err


def test_an_open_door_is_told(run, answers, monkeypatch):
    assert (
        "Whoever reaches 0.0.0.0 can ask: set SUBLAYER_API_KEY"
        in command("serve", run, "--host", "0.0.0.0", "--port", 0).err
    )
    monkeypatch.setenv("SUBLAYER_API_KEY", "key")
    assert "Whoever" not in command("serve", run, "--host", "0.0.0.0", "--port", 0).err
    assert answers[-2]["error"].startswith("This server asks for a key")


def test_what_cannot_be_served_is_told(run, tmp_path):
    assert command("serve", run, run, "--port", 0).err.startswith("sublayer: Several runs have the name small")
    assert command("serve", tmp_path / "nothing", "--port", 0) == (
        2,
        "",
        f"sublayer: {tmp_path / 'nothing'} is no run folder: there is no such folder.\n",
    )
    assert "weiting: Did you mean 'waiting'?" in command("serve", run, "--limit", "weiting=1").err
    with listen("127.0.0.1", 0) as taken:
        taken.listen()
        said = command("serve", run, "--port", taken.getsockname()[1])
    assert said.code == 2 and "Choose another --host or --port." in said.err
