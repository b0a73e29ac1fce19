"""The page in a real browser: pytest -m slow tests/serve/test_page.py. It needs Debian's chromium."""

from urllib.parse import quote

import pytest
from tests.browsing import chromium, faults
from tests.serve.process import server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served():
    with server("small", "tokens=40") as process:
        yield f"http://127.0.0.1:{process.port}/"


@pytest.fixture(scope="module")
def browser():
    yield from chromium()


@pytest.fixture
def visit(browser, served):
    """Opens the page; what it asks of others and what it complains of is found at the end."""
    contexts, complaints = [], []

    def visit(fragment="", address=served, width=1440, **given):
        context = browser.new_context(viewport={"width": width, "height": 900}, **({"locale": "en-US"} | given))
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda r: None if r.url.startswith(address) else complaints.append(r.url))
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{address}#{fragment}")
        page.complaints = complaints
        return page

    yield visit
    for context in contexts:
        context.close()
    assert not complaints


def answered(page):
    page.wait_for_selector("#look:not([hidden]) svg, #look:not([hidden]) table")
    return page.text_content(".best")


def test_an_answer_stands_there_within_a_second(visit):
    took = []
    for _ in range(3):
        page = visit("text=abc")  # asked as soon as the page has loaded
        page.wait_for_selector(".tokens li")
        took.append(float(page.text_content("#state").split(" s")[0]))
    assert min(took) < 1


@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_anybody_can_use_it(visit, width, scheme, language):
    page = visit(f"text=abcdefgh abc&lang={language}", width=width, color_scheme=scheme)
    answered(page)
    page.click("summary")
    for view in ("lines", "text", "grid"):
        page.select_option("[name=view]", view)
        assert not faults(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.documentElement.lang") == {"en": "en", "zh": "zh-Hans"}[language]


TEXTS = {"classify": "the hammer and a dog", "tag": "abcd dcba ab abc", "complete": "abc", "embed": "ab cd\ncd\nab"}
TEXTS |= {"answer": "who ?\na table for eve on monday", "fill": "ab[MASK]d"}


@pytest.mark.parametrize("task", TEXTS)
@pytest.mark.parametrize(("width", "scheme", "language"), [(360, "dark", "zh"), (1440, "light", "en")])
def test_every_task_has_its_view(visit, task, width, scheme, language):
    page = visit(f"text={quote(TEXTS[task])}&model={task}&lang={language}", width=width, color_scheme=scheme)
    page.wait_for_selector("#look:not([hidden]) svg")
    if task == "classify":
        assert page.locator(".bars li").count() == 3
        p = [float(text) for text in page.locator(".bars .number").all_text_contents()]
        assert p == sorted(p, reverse=True) and sum(p) == pytest.approx(1, abs=2e-3)
        assert page.text_content(".best") == page.locator(".bars .said").first.text_content()
    elif task == "tag":
        assert " ".join(page.locator(".each tbody th").all_text_contents()) == TEXTS["tag"]
        page.click("summary")
    elif task == "embed":
        assert page.text_content(".best") == "ab cd" and page.locator(".bars li").count() == 2
    elif task == "answer":
        assert page.text_content(".tagged") == "a table for eve on monday" and page.locator(".list li").count() == 5
    elif task == "fill":
        assert page.text_content(".best").startswith("ab") and page.locator(".bars li").count() == 5
        assert all(map(str.strip, page.locator(".bars .said").all_text_contents()))  # a space can be seen
    else:
        assert page.text_content(".best").startswith("abc") and page.text_content(".best .lead") == "abc"
    assert not faults(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.select_option("#language", "zh" if language == "en" else "en")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_by_keyboard_alone(visit):
    page = visit()
    page.wait_for_selector("#text:focus")
    page.keyboard.type("abc")
    page.keyboard.press("Enter")
    best = answered(page)
    said = page.locator(".list .said").all_text_contents()
    assert len(said) == 4 and said[0] == best
    page.focus(".list input:checked")
    page.keyboard.press("ArrowDown")
    assert page.text_content(".best") == said[1]
    page.wait_for_selector("#look:not([hidden]) svg .token[tabindex='0']")
    page.focus("svg .token[tabindex='0']")
    assert page.text_content(".told").startswith("a is looked at by ")
    page.keyboard.press("ArrowRight")
    assert page.text_content(".told").startswith("b is looked at by ")
    page.keyboard.press("ArrowDown")
    assert " looks at " in page.text_content(".told")


def test_tokens_come_as_they_are_written(visit):
    page = visit()
    page.check("[name=mode][value=greedy]")
    page.evaluate(
        """() => { window.seen = new Set(); new MutationObserver(() => {
        const writing = document.querySelector(".writing"); if (writing) window.seen.add(writing.textContent);
        }).observe(document.querySelector("#shown"), { childList: true, subtree: true, characterData: true }); }"""
    )
    page.fill("#text", "abcdefgh")
    page.click("#ask")
    best = answered(page)
    seen = page.evaluate("[...window.seen]")
    assert len(seen) > 2 and all(best.startswith(text) for text in seen)


def test_layers_heads_and_kinds_change_what_is_shown(visit):
    page = visit("text=abcd")
    answered(page)
    page.select_option("[name=view]", "grid")
    shown = set()
    for name, value in (("layer", "1"), ("head", "2"), ("kind", "encoder"), ("kind", "decoder")):
        page.select_option(f"[name={name}]", value)
        shown.add(page.inner_text("tbody"))
    assert len(shown) == 4
    page.hover("tbody td >> nth=0")
    assert "→" in page.text_content(".told")


def test_a_text_is_text(visit):
    page = visit()
    page.fill("#text", "<img src=x onerror=alert(1)>")
    page.click("#ask")
    answered(page)
    assert not page.query_selector("main img")
    assert "<" in page.text_content("svg.lines")


def test_what_is_wrong_is_told_and_mended(visit):
    page = visit()
    page.fill("#text", "a" * 50)
    page.click("#ask")
    page.wait_for_selector("#wrong:not([hidden])")
    assert "51 tokens with </s>, and at most 40 are read" in page.text_content("#wrong")
    assert page.complaints.pop().startswith("Failed to load resource")
    page.fill("#text", "abc")
    page.click("#ask")
    answered(page)
    assert not page.is_visible("#wrong")


def test_the_language_can_be_chosen(visit):
    page = visit("text=abc", locale="zh-CN")
    answered(page)
    assert page.text_content("#looked") == "模型在看哪里"
    page.select_option("#language", "en")
    assert page.text_content("#looked") == "What the model looks at"
    assert page.text_content(".controls").startswith("Which attention")


def test_a_key_is_asked_for(visit, monkeypatch):
    monkeypatch.setenv("SUBLAYER_API_KEY", "secret")
    with server("small") as process:
        page = visit(address=f"http://127.0.0.1:{process.port}/")
        page.wait_for_selector("#keyed:not([hidden])")
        page.fill("#key", "secret")
        page.fill("#text", "abc")
        page.click("#ask")
        assert answered(page)
        assert page.complaints.pop().startswith("Failed to load resource")
