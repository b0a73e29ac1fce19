import sys
import xml.etree.ElementTree as ET

import pytest
from tests.runs import command

from sublayer.errors import CheckpointError, ConfigError
from sublayer.inspect import curves
from sublayer.inspect.curves import COLOURS, compared, read_metrics, save_curves
from sublayer.inspect.sheet import plotted

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


def test_a_png_has_the_same_panels_and_lines(tmp_path, monkeypatch):
    figures = []
    monkeypatch.setattr(curves, "plotted", lambda *drawn: figures.append(plotted(*drawn)) or figures[0])
    save_curves({"a & b": ONE, "$c_1$": TWO}, tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    loss, exact = figures[0].axes
    assert [axes.get_title(loc="left") for axes in (loss, exact)] == ["loss", "exact"]
    drawn = [(line.get_linewidth(), line.get_xydata().tolist()) for line in loss.lines]
    assert drawn == [(1, [[5, 2.0], [10, 0.0]]), (2, [[10, 1.0]]), (1, [[5, 4.0], [20, 1.0]])]
    assert [line.get_color() for line in loss.lines] == [COLOURS[0], COLOURS[0], COLOURS[1]]
    assert [text.get_text() for text in figures[0].legends[0].texts] == ["a & b", "$c_1$"]


def test_another_ending_is_refused_and_so_is_a_png_without_matplotlib(tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match=r"x.pdf: curves are drawn as .svg or .png"):
        save_curves({"a": ONE}, tmp_path / "x.pdf")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError, match=r"A .png needs matplotlib: .*sublayer\[plot\].* An .svg needs nothing"):
        save_curves({"a": ONE}, tmp_path / "x.png")


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
