"""The picture in a real browser: pytest -m slow tests/inspect/test_picture.py. It needs Debian's chromium."""

import pytest
import torch
from tests.browsing import chromium, faults

from sublayer.inspect import AttentionPicture

pytestmark = pytest.mark.slow

CHINESE = list("模型在看哪里我们画出来")
LONG = [f"{i}号" for i in range(200)]
READ, SAID = ["the", "house", "\n", "</s>"], ["la", "maison", "</s>"]


def soft(heads, rows, columns):
    return torch.randn(heads, rows, columns).mul(3).softmax(-1)


def drawn(name):
    if name == "three kinds":
        maps = {"encoder": [soft(2, 4, 4)] * 3, "decoder": [soft(2, 3, 3)], "cross": [soft(2, 3, 4)] * 2}
        maps["alignment"] = [torch.eye(2)[None]]
        rows = {"encoder": READ, "decoder": SAID, "cross": SAID, "alignment": SAID[:2]}
        columns = {"encoder": READ, "decoder": ["<s>", *SAID[:2]], "cross": READ, "alignment": READ[:2]}
        return AttentionPicture(maps, rows, columns, title="the house")
    tokens = {"chinese": CHINESE, "long": LONG, "many": LONG[:50], "one": ["a"]}[name]
    return AttentionPicture({"encoder": [soft(4, len(tokens), len(tokens))] * 2}, tokens, tokens)


@pytest.fixture(scope="module")
def browser():
    yield from chromium()


@pytest.fixture
def visit(browser, tmp_path):
    complaints, contexts = [], []

    def visit(name, width=1440, scheme="light", locale="en-US"):
        drawn(name).save(tmp_path / "a.html")
        contexts.append(
            browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, locale=locale)
        )
        page = contexts[-1].new_page()
        page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto((tmp_path / "a.html").as_uri())
        page.wait_for_selector(".told")
        return page

    yield visit
    for context in contexts:
        context.close()
    assert not complaints


@pytest.mark.parametrize("name", ["three kinds", "chinese", "many", "long", "one"])
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (360, "dark")])
def test_every_view_can_be_read_by_all(visit, name, width, scheme):
    page = visit(name, width, scheme)
    assert page.input_value("[name=view]") == ("text" if name in ("long", "many") else "lines")
    for view in ("grid", "text", "lines"):
        page.select_option("[name=view]", view)
        assert not faults(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_kinds_layers_and_heads_are_chosen(visit):
    page = visit("three kinds")
    assert page.locator("[name=kind] option").all_text_contents() == [
        "Answer on text",
        "Words",
        "Text on text",
        "Answer on answer",
    ]
    assert page.locator("[name=layer] option").count() == 2
    page.select_option("[name=view]", "grid")
    seen = {page.inner_text("tbody")}
    page.select_option("[name=head]", "2")
    seen.add(page.inner_text("tbody"))
    page.select_option("[name=kind]", "encoder")
    assert page.input_value("[name=layer]") == "1" and page.inner_text("thead").split() == ["the", "house", "⏎", "</s>"]
    seen.add(page.inner_text("tbody"))
    assert len(seen) == 3
    page.select_option("[name=kind]", "alignment")
    assert page.locator("[name=layer], [name=head]").count() == 0
    page.hover("tbody td >> nth=0")
    assert page.text_content(".told") == "la → the: 1.000"


def test_by_keyboard_in_every_view(visit):
    page = visit("three kinds")
    page.focus("svg .token[tabindex='0']")
    assert page.text_content(".told").startswith("the is looked at by ")
    page.keyboard.press("ArrowDown")
    assert page.text_content(".told").startswith("la looks at ")
    page.select_option("[name=view]", "text")
    page.focus(".chip[tabindex='0']")
    page.keyboard.press("ArrowRight")
    assert page.text_content(".told").startswith("house is looked at by ") and page.locator(".chip.here").count() == 1
    page.select_option("[name=view]", "grid")
    page.focus("td[tabindex='0']")
    page.keyboard.press("ArrowDown")
    assert page.text_content(".told").startswith("maison → the: ")


def test_two_hundred_tokens_are_shaded_and_painted(visit):
    page = visit("long")
    page.hover(".chip >> nth=150")
    assert page.text_content(".told").startswith("150号 looks at ")
    assert page.evaluate("[...document.querySelectorAll('.chip')].some((c) => c.style.getPropertyValue('--w') === '1')")
    page.select_option("[name=view]", "grid")
    page.focus("canvas")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert page.text_content(".told").startswith("1号 → 2号: ")


def test_a_chinese_reader_is_spoken_to_in_chinese(visit):
    page = visit("chinese", locale="zh-CN")
    assert page.evaluate("document.documentElement.lang") == "zh-Hans"
    page.hover("svg .token >> nth=0")
    assert page.text_content(".told").startswith("看 模 的有 ")
