"""The examples of `deploy` are spelt right, and name options that there are."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from tests.house.sources import ROOT
from tests.runs import command, reverse_run

from sublayer.serve.limits import read_limits

DEPLOY = ROOT / "deploy"
SHELL = {path.name: path.read_text(encoding="utf-8") for path in DEPLOY.glob("*.slurm")}
JOBS = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8")))
SHELL["kubernetes.yaml"] = JOBS[1]["spec"]["template"]["spec"]["containers"][0]["args"][0]
DOCKER = re.findall(r"^([A-Z]+) ((?:.*\\\n)*.*)$", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("name", SHELL)
def test_a_shell_reads_it_and_sublayer_knows_its_options(name):
    checked = subprocess.run(["bash", "-n"], input=SHELL[name].encode(), capture_output=True)
    assert (checked.returncode, checked.stderr) == (0, b"")
    (said,) = re.findall(r"^ *(?:-m )?sublayer (.*(?:\\\n.*)*)", SHELL[name], re.MULTILINE)
    known_options(said.replace("\\\n", " ").split())


def test_the_service_finds_the_pods_that_the_address_names():
    service, job = JOBS
    assert service["spec"]["selector"] == {"job-name": job["metadata"]["name"]}
    pod = job["spec"]["template"]["spec"]
    port = service["spec"]["ports"][0]["port"]
    assert f"--rdzv-endpoint={job['metadata']['name']}-0.{pod['subdomain']}:{port}" in SHELL["kubernetes.yaml"]
    assert pod["subdomain"] == service["metadata"]["name"]


RAY = """
class data:
    def __init__(self, numbers, **_): self.numbers, self.how = numbers, None
    @classmethod
    def range(cls, number, *, override_num_blocks): return cls(range(number))
    def map(self, how, *, num_cpus): self.how = how; return self
    def take_all(self): return [self.how({"id": number}) for number in self.numbers]
"""


def test_the_parts_of_ray_are_the_whole_file_and_those_that_are_there_stay(tmp_path):
    """With a stand-in that has the calls of Ray Data."""
    (tmp_path / "ray.py").write_text(RAY, encoding="utf-8")
    (tmp_path / "lines.txt").write_text("ab\nba\n\nabc\ncab\n", encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])

    def answered():
        ray = [sys.executable, DEPLOY / "ray_predict.py", reverse_run(), "lines.txt", "answers", "3"]
        return subprocess.run(ray, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)

    said = answered()
    assert said.returncode == 0, said.stderr
    parts = [tmp_path / f"answers.{part}-of-3" for part in (1, 2, 3)]
    assert said.stdout == "".join(f"{part}\n" for part in parts)
    whole = command("predict", reverse_run(), tmp_path / "lines.txt").out
    assert "".join(part.read_text("utf-8") for part in parts) == whole
    parts[1].unlink()
    before = [part.stat().st_mtime_ns for part in (parts[0], parts[2])]
    assert answered().stdout == said.stdout
    assert [part.stat().st_mtime_ns for part in (parts[0], parts[2])] == before
    assert "".join(part.read_text("utf-8") for part in parts) == whole


def known_options(words):
    """The options among the words behind `sublayer`, all of which its verb has."""
    given = {word for word in words if word.startswith("--")}
    assert given <= set(re.findall(r"--[a-z-]+", command(words[0], "--help").out))
    return given


def test_the_image_is_built_from_files_that_are_there_and_starts_a_server():
    said = [(word, rest.split()) for word, rest in DOCKER if word == "COPY"]
    copied = [source for _, (*sources, _) in said for source in sources]
    assert [source for source in copied if not (ROOT / source).exists()] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    wanted = {project["project"]["readme"], *project["project"]["license-files"], *wheel["force-include"]}
    assert wanted | {"pyproject.toml", "constraints.txt", "src"} == set(copied)
    first, second = dict(DOCKER)["RUN"].replace("\\\n", " ").split("&&")
    assert first.split()[:2] == second.split()[:2] == ["pip", "install"] and first.split()[-1] == "torch"
    (extra,) = re.findall(r"'\.\[(\w+)\]'", second)
    assert extra in project["project"]["optional-dependencies"]
    program, *words = json.loads(dict(DOCKER)["ENTRYPOINT"])
    assert program in project["project"]["scripts"]
    assert known_options(words) == {"--host"}
    assert dict(DOCKER)["STOPSIGNAL"] == "SIGTERM"


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False)])
def test_the_image_is_healthy_while_readyz_says_so(status, healthy):
    class Ready(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status if self.path == "/readyz" else 200)
            self.end_headers()

        def log_message(self, *_):
            pass

    python, *words = json.loads(dict(DOCKER)["HEALTHCHECK"].split("CMD")[1])
    port = dict(DOCKER)["EXPOSE"]
    assert f"[default: {port}]" in command("serve", "--help").out
    with ThreadingHTTPServer(("127.0.0.1", 0), Ready) as server:
        threading.Thread(target=server.serve_forever).start()
        words = [word.replace(f":{port}/", f":{server.server_port}/") for word in words]
        checked = subprocess.run([sys.executable, *words], capture_output=True)
        server.shutdown()
    assert python == "python" and (checked.returncode == 0) is healthy


def test_the_unit_starts_a_server_and_waits_for_its_end(tmp_path):
    text = (DEPLOY / "sublayer.service").read_text(encoding="utf-8")
    settings = dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))
    program, *words = settings["ExecStart"].split()
    assert Path(program).name == "sublayer" and known_options(words) == {"--port", "--limit"}
    limits = read_limits([words[at + 1] for at, word in enumerate(words) if word == "--limit"])
    assert limits.finishing < int(settings["TimeoutStopSec"])
    if analyze := shutil.which("systemd-analyze"):
        (tmp_path / "sublayer.service").write_text(text.replace(program, sys.executable), encoding="utf-8")
        checked = subprocess.run([analyze, "verify", tmp_path / "sublayer.service"], capture_output=True, text=True)
        assert (checked.returncode, checked.stderr) == (0, "")
