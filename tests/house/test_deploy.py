"""The examples of `deploy` are spelt right, and name options that there are."""

import ast
import re
import subprocess

import pytest
import yaml
from tests.house.sources import ROOT
from tests.runs import command

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


def test_python_reads_it():
    ast.parse((DEPLOY / "ray_predict.py").read_text(encoding="utf-8"))
