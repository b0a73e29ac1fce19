"""The examples of `deploy` are spelt right, and name options that there are."""

import os
import re
import subprocess
import sys

import pytest
import yaml
from tests.house.sources import ROOT
from tests.runs import command, reverse_run

DEPLOY = ROOT / "deploy"
SHELL = {path.name: path.read_text(encoding="utf-8") for path in DEPLOY.glob("*.slurm")}
JOBS = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8")))
SHELL["kubernetes.yaml"] = JOBS[1]["spec"]["template"]["spec"]["containers"][0]["args"][0]


@pytest.mark.parametrize("name", SHELL)
def test_a_shell_reads_it_and_sublayer_knows_its_options(name):
    checked = subprocess.run(["bash", "-n"], input=SHELL[name].encode(), capture_output=True)
    assert (checked.returncode, checked.stderr) == (0, b"")
    (said,) = re.findall(r"^ *(?:-m )?sublayer (.*(?:\\\n.*)*)", SHELL[name], re.MULTILINE)
    verb, *words = said.replace("\\\n", " ").split()
    help = command(verb, "--help").out
    assert {word for word in words if word.startswith("--")} <= set(re.findall(r"--[a-z-]+", help))


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
