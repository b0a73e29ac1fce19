"""Both languages of the documentation build without a warning, and their notebooks run."""

import subprocess
import sys

import pytest
from tests.house.test_docs import CELL, ROOT, blocks


@pytest.mark.parametrize("language", ["en", "zh"])
def test_builds_without_a_warning(language, tmp_path):
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    built = subprocess.run(
        [*build, "-d", tmp_path / "trees", ROOT / "docs" / language, tmp_path / "html"],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "html" / "index.html").exists()
    notebook = (tmp_path / "html" / "inspect.html").read_text(encoding="utf-8")
    cells = [block for block in blocks(f"docs/{language}/inspect.md") if block.kind == CELL]
    assert cells and notebook.count('class="cell_output') == len(cells)
    assert '<iframe title="faced → decaf" srcdoc=' in notebook and '<img alt="_images/' in notebook
