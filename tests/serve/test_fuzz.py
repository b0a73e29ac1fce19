"""Whatever is sent, no request is answered with a 5xx. Minutes of it: pytest -m slow tests/serve/test_fuzz.py"""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.serve.asking import asking
from tests.serve.process import server
from tests.serve.small import small_door

ANY = st.text(st.characters(exclude_categories=[]), max_size=60)
NUMBERS = st.integers() | st.floats()
OPTIONS = {
    "beam": st.integers(1, 6),
    "nbest": st.integers(1, 6),
    "groups": st.integers(1, 3),
    "length_penalty": st.floats(-10, 10),
    "length_rule": st.sampled_from(["gnmt", "power"]),
    "stop": st.sampled_from(["exact", "early"]),
    "max_ratio": st.floats(0, 3),
    "max_extra": st.integers(1, 9),
    "min_ratio": st.floats(0, 10),
    "min_length": st.integers(0, 2**31 - 1),
    "diversity": st.floats(0, 10),
    "temperature": st.floats(0, 10),
    "top_k": st.integers(0, 2**31 - 1),
    "top_p": st.floats(0, 1, exclude_min=True),
    "min_p": st.floats(0, 1),
    "seed": st.integers(0, 2**31 - 1),
    "repetition_penalty": st.floats(0, 10, exclude_min=True),
    "no_repeat": st.integers(0, 2**31 - 1),
    "forbid": st.lists(ANY, max_size=3),
    "require": st.lists(ANY, max_size=3),
    "prefix": ANY,
    "stop_strings": st.lists(ANY, max_size=3),
}
SENSIBLE = st.fixed_dictionaries({}, optional=OPTIONS)
WILD = st.dictionaries(st.sampled_from([*OPTIONS, "other"]), NUMBERS | ANY | st.none() | st.lists(ANY, max_size=2))
UNHURRIED = dict(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def ask():
    """The statuses of all that can be asked with a text and options, of one application."""
    with asyncio.Runner() as runner:
        context = asking({"m": small_door()})
        client = runner.run(context.__aenter__())

        async def posted(text, options):
            one = {"text": text, "options": options}
            bodies = {"/predict": {"texts": [text], "options": options}, "/stream": one, "/attention": {"text": text}}
            kind = {"Content-Type": "application/json"}
            replies = [await client.post(path, content=json.dumps(b), headers=kind) for path, b in bodies.items()]
            return {reply.status_code for reply in replies}

        yield lambda text, options: runner.run(posted(text, options))
        runner.run(context.__aexit__(None, None, None))


@settings(max_examples=15, **UNHURRIED)
@given(ANY, SENSIBLE | WILD)
def test_any_text_and_any_options(ask, text, options):
    assert ask(text, options) <= {200, 422}


@pytest.mark.slow
@settings(max_examples=1000, **UNHURRIED)
@given(ANY, SENSIBLE | WILD)
def test_any_text_and_any_options_for_long(ask, text, options):
    assert ask(text, options) <= {200, 422}


def test_long_texts_and_strange_ones(ask):
    for text in ("\x00" * 50, "é" * 50, "👩\u200d👩" * 5, "\u202eabc", "\r\n\u2028\u0085", "\ufeff", "a" * 511):
        assert ask(text, {"max_extra": 1, "max_ratio": 0.01}) <= {200, 422}
    for text in ("a" * 512, "a" * 2**19, "\ud800"):
        assert ask(text, {}) == {422}
    assert ask("a" * 2**20, {}) == {413}


@pytest.mark.slow
def test_schemathesis_finds_nothing(tmp_path):
    with server("small") as process:
        checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
        url = f"http://127.0.0.1:{process.port}/openapi.json"
        command = [
            Path(sys.executable).with_name("schemathesis"),
            "run",
            url,
            "--checks",
            checks,
            "--max-examples",
            "100",
        ]
        said = subprocess.run([*command, "--seed", "1"], capture_output=True, text=True, timeout=1200)
        assert said.returncode == 0, said.stdout
