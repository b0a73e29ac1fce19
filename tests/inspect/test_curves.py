import xml.etree.ElementTree as ET

import pytest
from tests.runs import command

from sublayer.errors import CheckpointError
from sublayer.inspect.curves import compared, read_metrics, save_curves

SVG = "{http://www.w3.org/2000/svg}"
ONE = [
    {"step": 5, "epoch": 0, "loss": 2.0, "rate": 0.1},
    {"step": 10, "valid_loss": 1.0, "valid_exact": 40.0, "best": 40.0, "best_step": 10},
    {"step": 10, "epoch": 0, "loss": 0.0, "rate": 0.2},
]
TWO = [{"step": 5, "loss": 4.0}, {"step": 20, "loss": 1.0}]


def test_a_panel_a_metric_and_a_colour_a_run(tmp_path):
    save_curves({"a & b": ONE, "c": TWO}, tmp_path / "x.svg")
    drawn = ET.parse(tmp_path / "x.svg").getroot()
    assert [text.text for text in drawn.iter(f"{SVG}text") if text.get("font-weight")] == [
        "a & b",
        "c",
        "loss",
        "exact",
    ]
    lines = [
        (line.get("stroke-width"), [tuple(map(float, p.split(","))) for p in line.get("points").split()])
        for line in drawn.iter(f"{SVG}polyline")
    ]
    assert [(width, len(points)) for width, points in lines] == [("1", 2), ("2", 1), ("1", 2), ("2", 1)]
    # Of the panel at x 60 to 620 and y 34 to 234: step 5 of 20 is a quarter of the way, 2 of 0 to 4 is half of it.
    assert lines[0][1] == [(200.0, 134.0), (340.0, 234.0)] and lines[2][1][0] == (200.0, 34.0)


def test_runs_in_words():
    assert compared({"a": ONE, "b": TWO}) == [
        "a: step 10, loss 0.0000, best 40.0000 at step 10",
        "b: step 20, loss 1.0000",
    ]


def test_a_line_that_is_being_written_is_left_out(tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "loss": 2.0}\n{"step": 2, "lo', encoding="utf-8")
    assert read_metrics(tmp_path) == [{"step": 1, "loss": 2.0}]
    with pytest.raises(CheckpointError, match="nowhere holds no metrics.jsonl, or an empty one: train first"):
        read_metrics(tmp_path / "nowhere")


def test_the_command_line(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.jsonl").write_text('{"step": 1, "loss": 2.0}\n', encoding="utf-8")
    said = command("show", tmp_path / "a", "--curves", tmp_path / "x.svg", "--with", tmp_path / "b")
    assert said == (0, f"{tmp_path / 'a'}: step 1, loss 2.0000\n{tmp_path / 'b'}: step 1, loss 2.0000\n", "")
    assert (tmp_path / "x.svg").exists()
