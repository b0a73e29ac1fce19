"""Every code block of README and pages does what it says.

python     is run, one namespace a page; `print(…)  # text` prints that text
{code-cell}  is run when the page is built, and what it gives stands in the page
console    each `$ command` is run by bash in the page's folder and ends with 0; the lines under it are among those
           that it writes, in their order
:caption:  makes a block a file of that name in the page's folder; yaml is nothing else
text       is no code

In what is shown, … stands for anything. Commands that take minutes stand in UNRUN: their spelling is checked.
"""

import importlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest
from markdown_it import MarkdownIt

from sublayer.text import KINDS

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "README.zh.md", "CONTRIBUTING.md"]
PAGES += sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").glob("[ez][nh]/*.md"))
UNRUN = {
    "make demo",
    "make test",
    "make lab",
    "make demo PIP_ARGS='--extra-index-url …'",
    "python3 -m venv .venv",
    ".venv/bin/pip install -e '.[plot]'",
    ".venv/bin/pip install -e '.[serve]'",
    "sublayer demo",
    "sublayer serve runs/demo",
    "sublayer serve runs/demo small=runs/mine --port 8080 --engine auto",
    """curl -s 127.0.0.1:8000/predict --json '{"texts": ["hello", "world"], "options": {"beam": 4, "nbest": 2}}'""",
    """curl -sN 127.0.0.1:8000/stream --json '{"text": "hello", "options": {"beam": 1}}'""",
    "sublayer train recipes/g2p-en.yaml --out runs/g2p-en",
}
ALWAYS = "--set train.steps=6 --set train.batch_tokens=256"
SHORT = f"{ALWAYS} --set train.validate_pairs=4 --set search.max_extra=4"
TOOL = """#!/bin/sh
ask() {{ exec "{python}" -S "{fast}" ask "{address}" "$@"; }}
case "$*" in
*--help* | *--resume*) ask "$@" ;;
train*--task\\ translate*) ask "$@" {short} ;;
train*--task*) ask "$@" {always} ;;
train* | search*) ask "$@" {short} ;;
*) ask "$@" ;;
esac
"""
DIRECTIVES = {"{toctree}"}
CELL = "{code-cell} ipython3"


class Block(NamedTuple):
    line: int
    kind: str
    file: str | None
    text: str


def blocks(page):
    for token in MarkdownIt().parse((ROOT / page).read_text(encoding="utf-8")):
        if token.type in ("fence", "code_block"):
            options, text = re.fullmatch(r"((?::\w+:.*\n)*)\n?([\s\S]*)", token.content).groups()
            caption = re.search(r":caption: (.*)", options)
            kind = token.info.replace("{code-block}", "").strip() if token.type == "fence" else "indented"
            yield Block(token.map[0] + 1, kind, caption and caption[1], text)


@pytest.fixture(scope="session")
def bash():
    """Runs a command line in a folder and gives what it wrote; `sublayer train` and `search` are cut short."""
    fast = Path(__file__).with_name("fast_sublayer.py")
    with tempfile.TemporaryDirectory(prefix="docs") as tools:
        address = f"{tools}/s"
        tool = Path(tools, "sublayer")
        tool.write_text(
            TOOL.format(python=sys.executable, fast=fast, address=address, short=SHORT, always=ALWAYS), encoding="utf-8"
        )
        tool.chmod(0o755)
        path = os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
        server = subprocess.Popen([sys.executable, fast, "serve", address], stdout=subprocess.PIPE, env=path)
        assert server.stdout.readline() == b"ready\n"

        def run(command, folder):
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", command],
                cwd=folder,
                env=path,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=120,
            )
            output = done.stdout.decode("utf-8")
            assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{output}"
            return output

        yield run
        server.kill()
        server.communicate()


@pytest.fixture(scope="session")
def demo(bash, tmp_path_factory):
    """What `sublayer demo` leaves behind, from a few updates."""
    folder = tmp_path_factory.mktemp("demo")
    (folder / "recipes").symlink_to(ROOT / "recipes")
    bash("sublayer train recipes/g2p-en.yaml --train recipes/cmudict/valid.tsv.gz --out run", folder)
    return folder / "run"


@pytest.fixture
def folder(demo, tmp_path, monkeypatch):
    """Where a page's blocks run: a clone's recipes, a trained run, and the files that the reader is told to bring."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "recipes").symlink_to(ROOT / "recipes")
    shutil.copytree(demo, tmp_path / "runs" / "demo")
    for name, numbers in (("mine.tsv", range(0, 400, 2)), ("held-out.tsv", range(1, 40, 2))):
        (tmp_path / name).write_text("".join(f"{n}\t{n:b}\n" for n in numbers), encoding="utf-8")
    with mock.patch.dict(KINDS):  # a page adds a kind of its own
        yield tmp_path
    for file in tmp_path.glob("*.py"):
        sys.modules.pop(file.stem, None)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_runs(page, folder, bash):
    space = {"__name__": "__main__"}
    for block in blocks(page):
        at = f"{page}, line {block.line}"
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
            importlib.invalidate_caches()
        elif block.kind == "python":
            run_python(block, at, space)
        elif block.kind == "console":
            run_console(block, at, lambda command: bash(command, folder))
        else:
            assert block.kind in {"text", CELL, *DIRECTIVES}, f"{at}: a block of kind {block.kind!r} is run by nothing"


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/en") or page == "README.md"])
def test_both_languages_show_the_same_code(page):
    other = page.replace("docs/en", "docs/zh").replace("README.md", "README.zh.md")
    ours, theirs = ([(b.kind, b.file) for b in blocks(p) if b.kind != "text"] for p in (page, other))
    assert ours == theirs


def test_nothing_in_the_list_of_the_unrun_is_forgotten():
    shown = "".join(block.text for page in PAGES for block in blocks(page) if block.kind == "console")
    assert not [command for command in UNRUN if f"$ {command}\n" not in shown]


def run_python(block, at, space):
    prints = re.findall(r"^ *print\(.*?\)(?:  # (.+))?$", block.text, re.MULTILINE)
    assert all(prints), f"{at}: say in a comment what each print prints"
    with redirect_stdout(io.StringIO()) as written:
        exec(compile("\n" * block.line + block.text, at, "exec"), space)
    printed = written.getvalue().splitlines()
    assert len(printed) == len(prints), f"{at} prints {printed}"
    for said, line in zip(prints, printed, strict=True):
        assert like(said, line), f"{at} says {said!r} and prints {line!r}"


def run_console(block, at, run):
    first, *commands = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not first and commands, f"{at}: a console block begins with $"
    for part in commands:
        command, *shown = part.replace("\\\n", "").splitlines()
        if command in UNRUN:
            check_spelling(command, run)
            continue
        output = run(command)
        lines = iter(output.splitlines())
        for said in shown:
            assert any(like(said, line) for line in lines), f"{at}: {command} should show {said!r}:\n{output}"


def check_spelling(command, run):
    if command.startswith("sublayer"):
        run(f"{command} --help")
    elif command.startswith("make"):
        run(f"{command} --dry-run --directory {shlex.quote(str(ROOT))}")
    elif extras := re.search(r"'\.\[(.*)\]'", command):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert extras[1] in project["optional-dependencies"]


def like(said, line):
    return re.fullmatch(".*".join(map(re.escape, said.rstrip().split("…"))), line.rstrip()) is not None
