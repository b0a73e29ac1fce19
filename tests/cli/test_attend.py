import pytest
from tests.runs import command, reverse_run


@pytest.mark.parametrize(
    ("name", "start"), [("a.html", b"<!doctype html>"), ("a.PNG", b"\x89PNG"), ("a.svg", b"<?xml")]
)
def test_the_ending_says_what_is_drawn(tmp_path, name, start):
    said = command("attend", reverse_run(), "abc", "--out", tmp_path / name)
    assert said == (0, "", f"{tmp_path / name}\n")
    assert (tmp_path / name).read_bytes().lower().startswith(start.lower())


def test_a_target_of_ones_own(tmp_path):
    command("attend", reverse_run(), "abc", "--target", "ccc", "--out", tmp_path / "a.html")
    assert "abc → ccc" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_another_ending_is_refused(tmp_path):
    said = command("attend", reverse_run(), "abc", "--out", tmp_path / "a.gif")
    assert said.code == 2 and "a.gif: a picture is saved as .html, .png, .svg, not '.gif'." in said.err
    assert list(tmp_path.iterdir()) == []
