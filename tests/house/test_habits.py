"""What the source never does: print in the library, run code from files, name the machine it was written on."""

import ast
import re

import pytest
from tests.house.sources import MODULES, calls, imports, name_of, tracked, tree

modules = pytest.mark.parametrize("path", MODULES, ids=name_of)
UNSAFE = {"pickle", "dill", "joblib", "marshal", "shelve", "cloudpickle"}
RUNS_CODE = {"eval", "exec", "compile", "torch.save", "yaml.unsafe_load", "yaml.full_load", "os.system"}
MACHINE = re.compile("|".join(["/" + "work/", "/" + "tmp/", "/" + "root/", "/" + "home/[a-z]", r"[A-Z]:\\Users"]))


@modules
def test_the_library_prints_nothing(path):
    if not name_of(path).startswith("cli/"):
        assert not [line for line, name in calls(path) if name in ("print", "sys.stdout.write", "sys.stderr.write")]


@modules
def test_nothing_that_is_read_can_run(path):
    assert not {name.split(".")[0] for name in imports(path)} & UNSAFE
    assert not [f"{name} in line {line}" for line, name in calls(path) if name in RUNS_CODE]
    loads = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Call) and called(node) == "torch.load"]
    assert all("weights_only=True" in ast.unparse(node) for node in loads)


def called(node):
    return ast.unparse(node.func)


@modules
def test_text_is_opened_as_utf8(path):
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            text = name in ("read_text", "write_text") or (name == "open" and not binary(node))
            own = name == "write_text" and isinstance(node.func, ast.Name)  # models/files.py: UTF-8 inside
            if text and not own:
                assert "utf-8" in ast.unparse(node), f"line {node.lineno}"


def binary(call):
    """Whether an open(…) asks for bytes, or is not Python's own."""
    if ast.unparse(call.func) in ("gzip.open", "os.open"):
        return True
    modes = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    modes += [k.value.value for k in call.keywords if k.arg == "mode" and isinstance(k.value, ast.Constant)]
    return any("b" in mode for mode in modes)


@modules
def test_a_module_says_what_it_is(path):
    assert ast.get_docstring(tree(path))


def test_no_file_names_the_machine_it_was_written_on():
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # an archive of data
        found += [f"{path.name}: {match.group()}" for match in MACHINE.finditer(text)]
    assert not found
