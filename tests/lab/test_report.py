"""The page is what the results give."""

import dataclasses
import re
from pathlib import Path

import pytest

from sublayer.lab import report
from sublayer.lab.axis import Axis
from sublayer.lab.chart import draw, joined
from sublayer.lab.claim import Bench, Chart, Claim, Measured, Prediction, Text
from sublayer.lab.claims import CLAIMS
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
    assert "| 1 | [It is so.](#made-up) | <span" in page
    assert "**holds with limits**</span> | — | how much: 1.1 [0.852, 1.35] |" in page
    assert "## 1. It is so.\n\n**holds with limits** — how much: **1.1 [0.852, 1.35]**" in page
    assert "| how much | ≥ 0.5 | 1.1 [0.852, 1.35] | ✓ |" in page
    assert "| how wide *(limit)* | ≥ −0.1, ≤ 0.1 | 3 | ✗ |" in page
    assert "![It is so.](../lab/made-up.svg)" in page and "holds with limits 1" in page
    assert "`sublayer lab run made-up` · seeds 0 to 2 · 1.5 s" in page and "said in A, 1" in page
    chinese = (tmp_path / "zh" / "lab.md").read_text("utf-8")
    assert "**有条件成立**" in chinese and "![It is so.。](../lab/made-up.zh.svg)" in chinese
    assert ">theirs<" in (tmp_path / "lab" / "made-up.svg").read_text("utf-8")
    assert ">本库<" in (tmp_path / "lab" / "made-up.zh.svg").read_text("utf-8")


def test_the_page_tells_of_the_full_form_and_of_fresh_seeds():
    fresh = dataclasses.replace(claim(), first=100)
    entry = report.Entry(fresh, RESULTS, 1.5, report.Entry(fresh, RESULTS[::-1] * 2, 200.0))
    page = report.Page("en").text([entry])
    assert "In the full form (6 seeds, 200.0 s each): **holds with limits** — 1.1 [" in page
    assert "\nholds with limits 1 (full form)\n" in page and "</span> | holds with limits | how much" in page
    assert "seeds 100 to 102" in page and "fresh seeds, the ranges fixed before them" in page
    assert "fresh seeds, the ranges" not in report.Page("en").text([report.Entry(claim(), RESULTS, 1.5)])


def test_earlier_seeds_than_a_claims_first_are_left_out(tmp_path):
    claim = next(claim for claim in CLAIMS if claim.first)
    for size, seed in (("quick", 0), ("quick", claim.first), ("full", claim.first)):
        path = tmp_path / size / claim.id / f"{seed}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{{"numbers": {{"x": {seed}}}, "curves": {{}}, "seconds": 2.0}}', "utf-8")
    (entry,) = entries(Bench("quick"), tmp_path)
    assert [measured.numbers["x"] for measured in entry.results] == [claim.first]
    assert entry.full is not None and len(entry.full.results) == 1 and entry.full.full is None


def test_a_label_is_put_in_words_with_its_numbers():
    label = report.Page("zh").label
    assert label("pre-norm, warm-up 1000") == "Pre-LN，预热 1000 步"
    assert label("fp16, dead row") == "fp16，死行" and label("-1e9") == "-1e9" and label("no such") == "no such"
    assert report.Page("en").label("fp16, dead row") == "fp16, dead row"


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


def test_differences_are_taken_seed_by_seed():
    curves = joined(RESULTS, 1)
    assert curves["ours"][0][1][:3] == (0.0, 0.0, 0.0) and round(curves["ours"][1][1].mean, 3) == 1.1
    assert curves["theirs"][1][1].mean == 1.0


def test_a_long_legend_takes_another_row():
    names = [f"a curve with a long name, number {i}" for i in range(4)]
    picture = draw(Chart("x", "y"), [Measured({}, {name: [(1, 1.0), (2, 2.0)] for name in names})])
    places = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="(\d+)" cy="(\d+)" r="6"', picture)]
    assert sorted({y for _, y in places}) == [22.0, 46.0] and max(x for x, _ in places) < 420
    assert draw(Chart("x", "y"), [Measured({}, {"短": [(1, 1.0)]})]).count(' r="6"') == 1


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
    few = Axis([1.0, 4.0, 64.0], 0, 600, log=True)
    assert [label for _, label in few.ticks([4.0, 1.0, 64.0, 4.0])] == ["1", "4", "64"]
    assert [label for _, label in few.ticks([1.0, 1.01, 64.0])] == [label for _, label in few.ticks()]


def test_the_pages_are_what_the_stored_results_give(tmp_path):
    """A claim or the report's wording has changed? `sublayer lab report --out docs/lab/results` writes them anew."""
    root = Path(__file__).parents[2] / "docs"
    report.write(entries(Bench("quick"), root / "lab" / "results"), tmp_path)
    for file in (path.relative_to(tmp_path) for path in tmp_path.rglob("*.*")):
        assert (root / file).read_text("utf-8") == (tmp_path / file).read_text("utf-8"), file
