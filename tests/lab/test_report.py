"""The page is what the results give."""

from pathlib import Path

import pytest

from sublayer.lab import report
from sublayer.lab.axis import Axis
from sublayer.lab.chart import draw, joined
from sublayer.lab.claim import Bench, Chart, Claim, Measured, Prediction, Text
from sublayer.lab.run import entries


def claim(chart=None):
    says = Text("how much", "多少")
    predictions = (
        Prediction("x", says, least=0.5),
        Prediction("y", Text("how wide", "多宽"), least=-0.1, most=0.1, limit=True),
    )
    texts = [Text(word, f"{word}。") for word in ("A, 1", "It is so.", "Look.", "It is not.")]
    return Claim("made-up", *texts, predictions, chart or Chart("n", "loss"), lambda seed, bench: None)


RESULTS = [
    Measured({"x": x, "y": 3.0}, {"ours": [(1, x), (10, 2 * x)], "theirs": [(1, 0.0), (10, 1.0)]})
    for x in (1, 1.1, 1.2)
]


def test_both_pages_and_the_pictures_are_written(tmp_path):
    report.write([report.Entry(claim(), RESULTS, 1.5)], tmp_path)
    page = (tmp_path / "en" / "lab.md").read_text("utf-8")
    assert "| 1 | [It is so.](#made-up) | **holds with limits** | how much: 1.1 [0.852, 1.35] |" in page
    assert "| how much | ≥ 0.5 | 1.1 [0.852, 1.35] | ✓ |" in page
    assert "| how wide *(limit)* | ≥ −0.1, ≤ 0.1 | 3 | ✗ |" in page
    assert "![It is so.](../lab/made-up.svg)" in page and "holds with limits 1" in page
    assert "`sublayer lab run made-up` · 3 seeds from 0 · 1.5 s" in page
    assert "**有条件成立**" in (tmp_path / "zh" / "lab.md").read_text("utf-8")
    assert (tmp_path / "lab" / "made-up.svg").read_text("utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.98765, "0.988"), (-2.5, "−2.5"), (1.23e-7, "1.2e−07"), (12345.6, "12,346"), (-float("inf"), "−∞")],
)
def test_numbers_are_short(value, text):
    assert report.number(value) == text


def test_curves_are_means_over_seeds():
    curves = joined(RESULTS)
    assert [(x, round(y.mean, 3)) for x, y in curves["ours"]] == [(1, 1.1), (10, 2.2)]
    assert curves["theirs"][0][1].low == curves["theirs"][0][1].high == 0.0


def test_a_picture_says_its_axes_and_escapes():
    picture = draw(Chart("a < b", "loss", "xy"), RESULTS)
    assert "a &lt; b" in picture and ">ours<" in picture and picture.count("<polyline") == 2
    names = [Measured({}, {"": [("none", 1.0), ("a long name of two lines", -2.0)]})]
    columns = draw(Chart("", "y"), names)
    assert columns.count("<rect") == 3 and "<polyline" not in columns and "none" in columns


def test_an_axis_keeps_its_order_and_its_ends():
    linear = Axis([0.0, 3.0], 300, 100, log=False)
    assert linear(0) > linear(1) > linear(3) and [label for _, label in linear.ticks()] == ["0", "1", "2", "3"]
    log = Axis([1e-8, 0.0, 100.0], 0, 100, log=True)
    assert 0 == log(0) < log(1e-8) < log(1) < log(100) and log.ticks()[0][1] == "10⁻⁸"
    assert [label for _, label in Axis([4.0, 4.0], 0, 1, log=False).ticks()]
    assert [label for _, label in Axis([2.0, 40.0], 0, 1, log=True).ticks()] == ["2", "5", "10", "20"]


def test_the_pages_are_what_the_stored_results_give(tmp_path):
    """A claim or the report's wording has changed? `sublayer lab report --out docs/lab/results` writes them anew."""
    root = Path(__file__).parents[2] / "docs"
    report.write(entries(Bench("quick"), root / "lab" / "results"), tmp_path)
    for file in (path.relative_to(tmp_path) for path in tmp_path.rglob("*.*")):
        assert (root / file).read_text("utf-8") == (tmp_path / file).read_text("utf-8"), file
