"""G27: exact search stops a sentence only when nothing that runs can win. The early mode has its own name."""

import pytest
import torch
from tests.toy import EOS, START, A, B, Markov, t4

from sublayer.generate import GNMT, Power, beam_search, early


def search(beam, length, **options):
    start = torch.tensor([[START]])
    (found,) = beam_search(Markov(t4()), start, eos=EOS, beam=beam, max_len=6, length=length, **options)
    return found


@pytest.mark.parametrize(
    ("length", "tokens", "score"),
    [
        (Power(1), (A, B), -0.536479),
        (GNMT(1), (), -0.916291),
        (Power(0), (), -0.916291),
        (GNMT(0), (), -0.916291),
    ],
)
@pytest.mark.parametrize("beam", [2, 3, 5, 100])
def test_t4_optimum(beam, length, tokens, score):
    (best,) = search(beam, length)
    assert best.tokens == tokens and best.finished
    assert best.score == pytest.approx(score, abs=1e-6)


def test_t4_the_runner_up_of_gnmt():
    best, second = search(2, GNMT(1), nbest=2)
    assert (best.tokens, second.tokens) == ((), (A, B))
    assert second.score == pytest.approx(-1.207078, abs=1e-6)


def test_stopping_at_beam_many_is_another_mode():
    (best,) = search(2, Power(1), stop=early)
    assert best.tokens == (A,)
    assert best.score == pytest.approx(-0.804719, abs=1e-6)
