"""The source as trees."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "sublayer"
MODULES = sorted(PACKAGE.rglob("*.py"))
STANDARD = sys.stdlib_module_names


def name_of(path):
    """`cli/main.py`: how a module is called in messages."""
    return path.relative_to(PACKAGE).as_posix()


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(node):
    """The full names that an import statement asks for."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def imports(path):
    """All that a module imports, inside functions and for types too."""
    return [name for node in ast.walk(tree(path)) for name in imported(node)]


def calls(path):
    """(line, name) of every call by a plain or dotted name."""
    found = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
    return [(node.lineno, ast.unparse(node.func)) for node in found if isinstance(node.func, ast.Name | ast.Attribute)]


def tracked(*patterns):
    """The files that belong to the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.decode("utf-8").split("\0") if name and (ROOT / name).is_file()]
