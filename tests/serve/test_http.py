import asyncio
import json
import logging
import re
import threading
from itertools import product
from pathlib import Path

import pytest
from tests.serve.asking import Shout, events, post, run

from sublayer.serve.limits import Limits
from sublayer.serve.page import page_files

ROOT = Path(__file__).parents[2]
TEXTS = {"texts": ["a", "bc"]}


def test_answers_come_in_order():
    assert post("/predict", TEXTS, {"m": Shout()}) == (200, {"model": "m", "answers": ["A", "BC"]})
    asked = TEXTS | {"options": {"times": 2}, "model": "m"}
    assert post("/predict", asked, {"m": Shout(), "n": Shout()})[1]["answers"] == ["AA", "BCBC"]
    assert post("/attention", {"text": "a", "target": "b"}, {"m": Shout()})[1]["attention"] == ["a", "b"]


def test_a_stream_is_events():
    async def questions(client):
        reply = await client.post("/stream", json={"text": "ab"})
        assert reply.headers["content-type"].startswith("text/event-stream")
        return events(reply.text)

    pieces = [("piece", {"piece": "A"}), ("piece", {"piece": "B"}), ("answer", {"answer": "AB"})]
    assert run({"m": Shout()}, questions) == pieces


@pytest.mark.parametrize(
    "path, asked, status, said",
    [
        ("/predict", "{", 400, "The body is not JSON that can be read."),
        ("/predict", b"\xff", 400, "The body is not JSON"),
        ("/predict", "[" * 100_000, 400, "The body is not JSON"),
        ("/predict", [], 422, "valid dictionary"),
        ("/predict", {}, 422, '"at": "texts", "problem": "Field required"'),
        ("/predict", {"texts": []}, 422, "at least 1 item"),
        ("/predict", {"texts": [1]}, 422, '"at": "texts.0", "problem": "Input should be a valid string"'),
        ("/predict", {"texts": ["a"], "text": "a"}, 422, "Extra inputs are not permitted"),
        ("/predict", '{"texts": ["\\ud800"]}', 422, "half of a surrogate pair"),
        ("/predict", '{"texts": ["a"], "\\ud800": 1}', 422, "valid string"),
        ("/predict", {"texts": ["a"] * 5}, 422, "5 texts, and at most 4 make a request"),
        ("/predict", {"texts": ["a", "long"]}, 422, '"at": "texts.1", "problem": "too long"'),
        ("/predict", {"texts": ["a"], "options": {"times": "x"}}, 422, '"at": "options.times"'),
        ("/predict", {"texts": ["a"], "options": {"times": 10}}, 422, "too loud"),
        ("/predict", {"texts": ["mend"]}, 422, "cannot be shouted"),
        ("/predict", {"texts": ["a"], "model": "mm"}, 404, "Did you mean 'm'?"),
        ("/stream", {"text": "long"}, 422, '"at": "text", "problem": "too long"'),
        ("/stream", {"texts": ["a"]}, 422, "Field required"),
        ("/attention", {"text": None}, 422, "valid string"),
        ("/attention/", {"text": "a"}, 404, "no such path"),
        ("/healthz", {}, 405, "Not with this method."),
    ],
)
def test_what_cannot_be_answered_is_told_in_json(path, asked, status, said):
    code, reply = post(path, asked, {"m": Shout()}, texts=4)
    assert code == status
    assert said in json.dumps(reply) and reply.keys() == {"error", "problems"}


def test_a_request_without_a_model_is_told_which_there_are():
    said = 'Several models are served: say which in "model". Known: m, n.'
    assert post("/predict", TEXTS, {"m": Shout(), "n": Shout()}) == (404, {"error": said, "problems": []})


def test_a_body_has_a_size_and_a_kind():
    async def questions(client):
        async def pieces():
            for _ in range(30):
                yield b" " * 10

        kind = {"Content-Type": "application/json"}
        announced = await client.post("/predict", content=b" " * 201, headers=kind)
        assert (announced.status_code, announced.json()["error"][:31]) == (413, "The body has more than 200 byte")
        assert (await client.post("/predict", content=pieces(), headers=kind)).status_code == 413
        plain = await client.post("/predict", content=b"{}", headers={"Content-Type": "text/plain"})
        assert plain.status_code == 415 and "Content-Type: application/json" in plain.json()["error"]
        assert (await client.post("/predict", json=TEXTS)).status_code == 200

    run({"m": Shout()}, questions, body=200)


def test_a_body_arrives_in_time():
    async def questions(client):
        async def slow():
            yield b"{"
            await asyncio.sleep(5)

        reply = await client.post("/predict", content=slow(), headers={"Content-Type": "application/json"})
        assert (reply.status_code, reply.json()["error"]) == (408, "The request did not arrive within 0.1 seconds.")

    run({"m": Shout()}, questions, reading=0.1)


def test_where_there_is_no_room_the_client_is_told_when_to_come_again():
    door = Shout()
    door.gate = threading.Event()

    async def questions(client):
        first = asyncio.create_task(client.post("/predict", json={"texts": ["a"]}))
        while client.service.batchers["m"].waiting or not client.service.meters:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        second = asyncio.create_task(client.post("/predict", json=TEXTS))
        await asyncio.sleep(0.05)
        third = await client.post("/predict", json={"texts": ["c"]})
        door.gate.set()
        assert (await first).json()["answers"] == ["A"] and (await second).json()["answers"] == ["A", "BC"]
        return third

    reply = run({"m": door}, questions, waiting=2)
    assert reply.status_code == 503 and reply.headers["retry-after"] == "1" and "Ask again" in reply.json()["error"]
    reply = run({"m": door}, lambda client: client.post("/predict", json=TEXTS), patience=1e-9)
    assert reply.status_code == 503 and reply.headers["retry-after"] == "1"


def test_requests_in_hand_have_a_limit():
    door = Shout()
    door.gate = threading.Event()

    async def questions(client):
        first = asyncio.create_task(client.post("/predict", json=TEXTS))
        await asyncio.sleep(0.05)
        full = await client.get("/models")
        assert full.status_code == 503 and full.headers["retry-after"] == "1"
        assert (await client.get("/healthz")).status_code == 200
        door.gate.set()
        assert (await first).status_code == 200
        assert (await client.get("/models")).status_code == 200

    run({"m": door}, questions, requests=1)


def test_a_fault_is_told_to_the_one_it_befell_and_the_log_holds_no_text(caplog):
    caplog.set_level(logging.INFO)
    door = Shout()

    async def questions(client):
        asked = [client.post("/predict", json={"texts": [text]}) for text in ("a", "boom", "c")]
        replies = await asyncio.gather(*asked)
        await client.get("/where?secret=text")
        await client.get("/secret")
        return [reply.status_code for reply in replies]

    assert run({"m": door}, questions) == [200, 500, 200]
    ours = [record for record in caplog.records if record.name.startswith("sublayer")]
    assert "RuntimeError" in "".join(record.getMessage() for record in ours)
    assert not [r for r in ours if "secret" in r.getMessage().replace('"secret text"', "") or "boom" in r.getMessage()]
    lines = [record.getMessage() for record in ours if record.name == "sublayer.access"]
    assert all(re.fullmatch(r"127\.0\.0\.1 (GET|POST) (/predict|-) \d{3} \d+\.\dms \d+B", line) for line in lines)


def test_a_key_is_asked_for_where_there_is_one():
    async def questions(client):
        async def status(path, **headers):
            return (await client.get(path, headers=headers)).status_code

        for path, given in product(("/models", "/metrics"), ("", "Bearer", "Bearer other", "Basic key", "Bearer kéy")):
            assert await status(path, Authorization=given.encode()) == 401
        assert await status("/models", Authorization=b"bearer key") == 200
        reply = await client.post("/predict", json=TEXTS)
        assert reply.status_code == 401 and reply.headers["www-authenticate"] == "Bearer"
        assert "Authorization: Bearer KEY" in reply.json()["error"]
        for path in ("/", "/page/main.js", "/healthz", "/readyz", "/openapi.json"):
            assert await status(path) == 200

    run({"m": Shout()}, questions, key="key")


def test_life_readiness_and_meters():
    async def questions(client):
        await client.post("/predict", json=TEXTS)
        await asyncio.sleep(0.05)  # a batch is measured after its answers are out
        ready = await client.get("/readyz")
        meters = (await client.get("/metrics")).text
        client.service.ending = True
        ending = await client.get("/readyz")
        return ready, ending, meters

    ready, ending, meters = run({"m": Shout()}, questions)
    assert (ready.status_code, ending.status_code, ending.headers["retry-after"]) == (200, 503, "1")
    for line in (
        'sublayer_requests_total{path="/predict",status="200"} 1.0',
        'sublayer_batch_texts_sum{model="m"} 2.0',
        'sublayer_waiting_texts{model="m"} 0.0',
    ):
        assert line in meters


def test_the_description_has_the_options_and_answers_of_what_is_served():
    async def questions(client):
        return (await client.get("/openapi.json")).json()

    found = run({"m": Shout()}, questions)
    options = found["components"]["schemas"]["Texts"]["properties"]["options"]["anyOf"]
    assert [set(option["properties"]) for option in options] == [{"times"}]
    answers = found["paths"]["/predict"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert answers["properties"]["answers"]["items"]["anyOf"] == [{"items": {"type": "string"}, "type": "array"}]


def test_every_reply_says_what_a_browser_may_do_with_it():
    async def questions(client):
        return [await client.get(path) for path in ("/", "/page/style.css", "/page/nothing", "/models")]

    for reply in run({"m": Shout()}, questions):
        assert reply.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in reply.headers["content-security-policy"]
        assert reply.headers["x-content-type-options"] == "nosniff"


def test_the_page_asks_nobody_else():
    for name, (content, _) in page_files().items():
        text = content.decode().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//\w+\.|@import|innerHTML|eval\(| style=", text), name


def test_the_docs_tell_every_limit():
    for language in ("en", "zh"):
        page = (ROOT / "docs" / language / "serve.md").read_text(encoding="utf-8")
        for name, field in Limits.model_fields.items():
            assert f"| `{name}` | {field.default} |" in page
