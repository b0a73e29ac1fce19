"""Files and functions stay small enough to be read in one go."""

import ast
from statistics import median

import pytest
from tests.house.sources import MODULES, name_of, tree

FILE, FUNCTION = 220, 50
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def lines(path):
    return len(path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_file_has_an_end(path):
    assert lines(path) <= FILE


def test_most_files_fit_on_two_screens():
    assert median(lines(path) for path in MODULES) <= 100


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_function_fits_on_one(path):
    functions = [node for node in ast.walk(tree(path)) if isinstance(node, FUNCTIONS)]
    long = {f"{f.name}: {f.end_lineno - f.lineno + 1}" for f in functions if f.end_lineno - f.lineno + 1 > FUNCTION}
    assert not long
