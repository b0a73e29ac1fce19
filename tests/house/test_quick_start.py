"""What needs no torch does not import it: help, recipes, the names of the package."""

import subprocess
import sys

import pytest

RUN = "import sys; from sublayer.cli.main import run; sys.argv[1:] = {args!r}\ntry: run()\nexcept SystemExit: pass\n"
HEAVY = ("torch", "rich.progress", "matplotlib")
TELL = f"import sys; print(sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr)"


def loaded(code):
    done = subprocess.run([sys.executable, "-c", f"{code}\n{TELL}"], capture_output=True, check=True)
    return done.stderr.decode().strip().splitlines()[-1]


@pytest.mark.parametrize("args", [["--help"], ["train", "--help"], ["schema"], ["validate", "r.yaml"]], ids=" ".join)
def test_without_torch(tmp_path, monkeypatch, args):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.yaml").write_text("train: {metric: exact, validate_metrics: [exact]}\n", encoding="utf-8")
    assert loaded(RUN.format(args=args)) == "[]"


def test_importing_the_package_imports_no_torch_and_using_a_name_does():
    assert loaded("import sublayer") == "[]"
    assert loaded("from sublayer import Mask") == "['torch']"


def test_the_names_of_the_package_are_all_there():
    import sublayer

    for name in sublayer.__all__:
        assert getattr(sublayer, name).__name__ == name
    with pytest.raises(AttributeError, match="module 'sublayer' has no attribute 'Transfromer'"):
        sublayer.Transfromer  # noqa: B018
