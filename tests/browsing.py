"""Debian's chromium, for slow tests of what a person sees."""

import shutil

import pytest

QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync"]


def chromium():
    """The one browser of a fixture."""
    if (found := shutil.which("chromium")) is None:
        pytest.skip("there is no chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=QUIET)
        yield browser
        browser.close()


def faults(page):
    """What axe-core finds wrong with a page."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{f['id']}: {f['help']}, {[n['html'][:90] for n in f['nodes'][:3]]}" for f in found]
