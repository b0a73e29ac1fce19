import json
import re
import sys
from html import unescape
from html.parser import HTMLParser

import pytest
import torch
from matplotlib.font_manager import fontManager

from sublayer.errors import ConfigError, ShapeError
from sublayer.inspect import AttentionPicture, sheet

HEADS = torch.tensor([[[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]]])  # (2, 2, 2)


@pytest.fixture
def picture():
    return AttentionPicture([HEADS], ["la", "maison"], ["the", "house"], title="the house")


def page_of(picture):
    """The data that a page carries, its title and its tags, read as a browser does."""
    found = Found()
    found.feed(picture.html())
    assert found.open == []
    data = found.text.pop("script")
    return json.loads(data[0]), found.text, found.tags


class Found(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text, self.open = [], {}, []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.text.setdefault(self.open[-1], []).append(data)


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


def test_the_page_carries_every_weight_and_its_own_script(picture):
    data, text, tags = page_of(picture)
    assert data == picture.to_dict()
    assert text["title"] == text["h1"] == ["the house"]
    assert tags.count("script") == 2 and tags.count("noscript") == 1
    assert "export class Picture" in picture.html() and ".chip" in picture.html()


def test_the_page_asks_for_nothing_outside(picture):
    html = picture.html().replace("http://www.w3.org/2000/svg", "")  # a name
    assert not re.search(r"https?:|//\w|url\(|@import|\bsrc=|\bhref=|fetch\(|import ", html)


@pytest.mark.parametrize("evil", ["<script>alert(1)</script>", '"><img onerror=x>', "</script><b>", "$title", "&lt;"])
def test_tokens_and_title_are_text(evil, picture):
    data, text, tags = page_of(AttentionPicture([torch.ones(1, 1, 1)], [evil], [evil], title=evil))
    assert tags == page_of(picture)[2]
    assert text["title"] == text["h1"] == [evil] == data["kinds"]["attention"]["rows"]


def test_a_notebook_gets_the_page_in_a_frame_of_its_own(picture):
    shown = picture._repr_html_()
    assert shown.startswith('<iframe title="the house" srcdoc="') and shown.endswith("</iframe>")
    assert unescape(shown.split('srcdoc="')[1].split('" style=')[0]) == picture.html()


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


def test_a_font_that_was_installed_after_matplotlib_made_its_list_is_found(picture, monkeypatch):
    serif = {font.fname for font in fontManager.ttflist if font.name == "DejaVu Serif"}
    later = [font for font in fontManager.ttflist if not font.name.startswith("DejaVu Serif")]
    monkeypatch.setattr(fontManager, "ttflist", later)
    monkeypatch.setattr(sheet, "CJK", ("DejaVu Serif",))
    monkeypatch.setattr("matplotlib.font_manager.findSystemFonts", lambda: [__file__, *serif])
    sheet._cjk.cache_clear()
    assert picture.plot()._suptitle.get_fontfamily() == ["DejaVu Sans", "DejaVu Serif"]
    sheet._cjk.cache_clear()


def test_an_alignment_is_of_no_layer_and_no_head():
    drawn = AttentionPicture({"cross": [HEADS], "alignment": [torch.eye(2)[None]]}, "ab", "cd").plot()
    titles = [[axis.get_title() for axis in part.axes if axis.images] for part in drawn.subfigs]
    assert titles == [["layer 1"], [""]]
    assert [part._suptitle.get_text().splitlines()[0] for part in drawn.subfigs] == [
        "Cross-attention, mean of heads",
        "Words",
    ]


def test_without_matplotlib_the_cure_is_named_and_the_old_file_stays(picture, tmp_path, monkeypatch):
    (tmp_path / "a.png").write_bytes(b"old")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError, match=r"pip install 'sublayer\[plot\]'"):
        picture.save(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes() == b"old"
    picture.save(tmp_path / "a.html")


def test_one_kind_layer_and_head_can_be_plotted(picture):
    both = AttentionPicture({"encoder": [HEADS, HEADS * 0.5], "decoder": [HEADS]}, "ab", "cd")
    assert len(both.plot().subfigs) == 2 and both.plot()._repr_png_().startswith(b"\x89PNG")
    (part,) = both.plot("encoder", layer=-1, head=1).subfigs
    axis = part.axes[0]
    assert axis.get_title() == "layer 2" and "head 2" in part._suptitle.get_text()
    assert axis.images[0].get_array().tolist() == [[0.25, 0.25], [0.0, 0.5]]
    assert [tick.get_text() for tick in axis.get_xticklabels()] == ["c", "d"]
    for wrong, said in (
        ({"kind": "cross"}, "no kind 'cross' here. Known: encoder, decoder"),
        ({"layer": 1}, "layer=1: decoder has 1 layers. Write 0 to 0, or -1"),
        ({"head": 2}, "head=2: this layer has 2 heads"),
    ):
        with pytest.raises(ConfigError, match=said):
            both.plot(**wrong)


def test_two_hundred_tokens_fit_on_a_sheet(tmp_path):
    tokens = [f"字{i}" for i in range(200)]
    picture = AttentionPicture([torch.rand(2, 200, 200)], tokens, tokens)
    figure = picture.plot()
    assert max(figure.get_size_inches()) < 18
    labels = [label for label in figure.subfigs[0].axes[0].get_xticklabels() if label.get_text()]
    assert 90 <= len(labels) <= 200
    picture.save(tmp_path / "a.png")


def test_bertviz_gets_what_it_takes():
    three = {"encoder": [torch.rand(2, 3, 3)], "decoder": [torch.rand(2, 2, 2)], "cross": [torch.rand(2, 2, 3)]}
    rows = {"encoder": "abc", "decoder": ["x", "</s>"], "cross": ["x", "</s>"]}
    columns = {"encoder": "abc", "decoder": ["<s>", "x"], "cross": "abc"}
    given = AttentionPicture(three, rows, columns).to_bertviz()
    assert given["encoder_tokens"] == ["a", "b", "c"] and given["decoder_tokens"] == ["<s>", "x"]
    assert [given[f"{kind}_attention"][0].shape for kind in three] == [(1, 2, 3, 3), (1, 2, 2, 2), (1, 2, 2, 3)]
    alone = AttentionPicture({"encoder": three["encoder"]}, "abc", "abc").to_bertviz()
    assert alone["tokens"] == ["a", "b", "c"] and alone["attention"][0].shape == (1, 2, 3, 3)
    with pytest.raises(ConfigError, match="bertviz shows self-attention, .* and here is cross"):
        AttentionPicture({"cross": three["cross"]}, "ab", "abc").to_bertviz()
