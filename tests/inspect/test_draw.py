import json
import re
import sys
from html.parser import HTMLParser

import pytest
import torch

from sublayer.errors import ConfigError, ShapeError
from sublayer.inspect import AttentionPicture

HEADS = torch.tensor([[[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]]])  # (2, 2, 2)


@pytest.fixture
def picture():
    return AttentionPicture([HEADS], ["la", "maison"], ["the", "house"], title="the house")


class Page(HTMLParser):
    """Elements with their attributes; text by the element that it stands in."""

    def __init__(self, html):
        super().__init__()
        self.found, self.text, self.open = [], {}, []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.text.setdefault(self.open[-1], []).append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.found if name == tag]


def test_plain_values_begin_with_the_mean_of_heads(picture):
    assert picture.to_dict() == {
        "title": "the house",
        "kinds": {
            "attention": {
                "rows": ["la", "maison"],
                "columns": ["the", "house"],
                "weights": [[[[0.75, 0.25], [0.25, 0.75]], *HEADS.tolist()]],
            }
        },
    }


def test_the_page_shows_the_mean_and_carries_every_head(picture):
    page = Page(picture.html())
    assert page.open == []
    cells = [cell for cell in page.all("td") if "title" in cell]
    assert [cell["title"] for cell in cells] == [
        "la → the: 0.750",
        "la → house: 0.250",
        "maison → the: 0.250",
        "maison → house: 0.750",
    ]
    assert [cell["style"] for cell in cells] == ["--w:1", "--w:0.333", "--w:0.333", "--w:1"]
    assert json.loads(page.text["script"][0]) == [picture.to_dict()["kinds"]["attention"]["weights"]]
    assert page.text["option"] == ["attention", "1", "mean of heads", "1", "2"]
    assert page.text["figcaption"] == ["Each row: what this position looks at."]


def test_each_kind_has_its_labels_and_only_the_first_is_shown():
    source, read, written = ["a", "b", "</s>"], ["<s>", "x"], ["x", "</s>"]
    picture = AttentionPicture(
        {"cross": [torch.rand(2, 2, 3)] * 2, "encoder": [torch.rand(1, 3, 3)], "decoder": [torch.rand(2, 2, 2)]},
        rows={"cross": written, "encoder": source, "decoder": written},
        columns={"cross": source, "encoder": source, "decoder": read},
    )
    page = Page(picture.html())
    assert page.text["option"][:3] == ["Cross-attention", "Encoder self-attention", "Decoder self-attention"]
    assert ["hidden" in section for section in page.all("section")] == [False, True, True]
    assert [cell["title"][:9] for cell in page.all("td") if "title" in cell][-4:-2] == ["x → <s>: ", "x → x: 0."]
    assert page.text["figcaption"][2] == "Each row: what this output position looks at in the output so far."


def test_the_page_asks_for_nothing_outside(picture):
    html = picture.html()
    assert not re.search(r"https?:|//|url\(|@import|\bsrc=|\bhref=|fetch\(", html)


@pytest.mark.parametrize("evil", ["<script>alert(1)</script>", '"><img onerror=x>', "</script><b>", "$title", "&lt;"])
def test_tokens_and_title_are_text(evil):
    html = AttentionPicture([torch.ones(1, 1, 1)], [evil], [evil], title=evil).html()
    page = Page(html)
    assert {tag for tag, _ in page.found} == {
        tag for tag, _ in Page(AttentionPicture([torch.ones(1, 1, 1)], "a", "b").html()).found
    }
    assert page.text["title"] == page.text["h1"] == page.text["span"][:1] == [evil]
    assert page.all("td")[1]["title"] == f"{evil} → {evil}: 1.000"


@pytest.mark.parametrize(("tokens", "printed"), [(12, True), (13, False)])
def test_numbers_stand_in_cells_while_there_is_room(tokens, printed):
    page = Page(AttentionPicture([torch.full((1, 1, tokens), 1 / tokens)], "x", "abcdefghijklm"[:tokens]).html())
    assert (page.text.get("td", []) == [f"{1 / tokens:.2f}"] * tokens) is printed


def test_a_blank_token_can_be_seen():
    assert AttentionPicture([torch.ones(1, 1, 1)], [" "], ["中"]).to_dict()["kinds"]["attention"]["rows"] == ["␣"]


def test_a_notebook_gets_the_page_in_a_frame_of_its_own(picture):
    (frame,) = Page(picture._repr_html_()).all("iframe")
    assert frame["srcdoc"] == picture.html() and frame["title"] == "the house"


def test_all_that_does_not_fit_is_told_at_once():
    with pytest.raises(ShapeError) as error:
        AttentionPicture({"cross": [HEADS, HEADS[None]], "encoder": []}, {"cross": "ab"}, "abc")
    message = str(error.value)
    assert "cross, layer 1: weights of shape (2, 2, 2) and 2 rows, 3 columns; expected (heads, 2, 3)" in message
    assert "cross, layer 2: weights of shape (1, 2, 2, 2)" in message and "without its batch axis" in message
    assert "encoder: there are no layers" in message
    with pytest.raises(ShapeError, match="there are no weights"):
        AttentionPicture({}, [], [])


@pytest.mark.parametrize(
    ("name", "start"), [("a.html", b"<!doctype html>"), ("a.png", b"\x89PNG\r\n"), ("a.SVG", b"<?xml")]
)
def test_saves_by_suffix_and_leaves_nothing_beside(picture, tmp_path, name, start):
    pyplot = sys.modules.get("matplotlib.pyplot")
    picture.save(tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert sys.modules.get("matplotlib.pyplot") is pyplot


def test_an_unknown_suffix_lists_the_known(picture, tmp_path):
    with pytest.raises(ConfigError, match=r"a\.gif: .* \.html, \.png, \.svg, not '\.gif'"):
        picture.save(tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_any_token_can_be_drawn_without_a_warning(tmp_path, suffix):
    # No font has the first; the next two are no formulas; a row of zeros has no scale.
    tokens = ["\U000e0fff", "$x$", "$\\frac$", "注意力", "<b>&"]
    AttentionPicture([torch.zeros(2, 5, 5)] * 2, tokens, tokens, title="$\\x$ 注意").save(tmp_path / f"a.{suffix}")


def test_without_matplotlib_the_cure_is_named_and_the_old_file_stays(picture, tmp_path, monkeypatch):
    (tmp_path / "a.png").write_bytes(b"old")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError, match=r"pip install 'sublayer\[plot\]'"):
        picture.png(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes() == b"old"
    picture.save(tmp_path / "a.html")
