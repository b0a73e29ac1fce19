"""`sublayer serve --engine` in a process of its own: what is exported, told and answered."""

import os
import re
import subprocess
import sys
from contextlib import contextmanager

import pytest
from tests.runs import command
from tests.serve.small import small_task

import sublayer
from sublayer.serve.client import Client, Refused

TEXTS = ["abcd", "", "hgf é", "b", "你好 abc"]
ENGINES = ["ctranslate2", pytest.param("onnx", marks=pytest.mark.slow)]  # its export takes half a minute of a core


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("engines") / "small"
    small_task().save_pretrained(folder)
    return folder


@contextmanager
def served(run, engine):
    """A client of `sublayer serve`, and what it said until it was ready."""
    ask = [sys.executable, "-m", "sublayer", "serve", run, "--engine", engine, "--port", "0"]
    one = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(ask, stderr=subprocess.PIPE, text=True, encoding="utf-8", env=one) as process:
        said = []
        while not (address := re.search(r"http://[\d.:]+", said[-1] if said else "")):
            assert (line := process.stderr.readline()), said
            said.append(line.rstrip())
        try:
            yield Client(address[0]), said
        finally:
            process.terminate()
            process.stderr.read()
    assert process.returncode == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_the_answers_are_those_of_the_model(run, engine):
    with served(run, engine) as (client, said):
        assert said[0] == f"{run}/exports/{engine}: exporting, once for these weights; this can take minutes"
        assert said[1].startswith(f"{run}/exports/{engine}: 50 of 50 greedy answers identical, log-probabilities ")
        assert client.models()[0]["engine"] == engine
        task = sublayer.load(run)
        expected = [found[0] for found in task.predict(TEXTS)]
        found = [answer for (answer,) in client.predict(TEXTS)]
        assert [answer["tokens"] for answer in found] == [list(right.tokens) for right in expected]
        assert [answer["logp"] for answer in found] == pytest.approx([right.logp for right in expected], abs=1e-3)
        # What an engine does not do is done without it, or refused by name.
        assert [set(event) for event in client.stream("abcd")] == [{"answer"}]
        assert list(client.attention("abcd")["kinds"]) == ["cross", "alignment", "encoder", "decoder"]
        assert client.predict(["abcd"], alignments=True)[0][0]["alignment"]["source"] == list("abcd")
        options = {"temperature": 2.0, "top_k": 4, "seed": 3}
        if engine == "onnx":
            drawn = client.predict(["abcd"], **options)[0][0]["text"]
            search = task.search.model_copy(update=options)
            assert drawn == next(task.predict(["abcd"], search=search))[0].text
        else:
            with pytest.raises(Refused, match="422: .*\n.* greedily or with a beam. .*temperature.*: take engine"):
                client.predict(["abcd"], **options)
            assert client.predict(["abcd"]) == [[found[0]]]
    with served(run, engine) as (client, said):
        assert len(said) == 1 and client.predict(TEXTS[:1]) == [[found[0]]]


def test_a_run_that_cannot_be_written_is_told_to_export_before(tmp_path):
    small_task().save_pretrained(tmp_path / "run")
    (tmp_path / "run" / "exports").write_text("a file")
    said = command("serve", tmp_path / "run", "--engine", "ctranslate2", "--port", 0)
    assert said.code == 2 and "cannot be written: " in said.err
    assert said.err.endswith(f"Export where it can, before: sublayer export {tmp_path / 'run'} --to ctranslate2\n")
