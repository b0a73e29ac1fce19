"""G28: what a line gives depends neither on the batch size, nor on its neighbours, nor on their order."""

import pytest
import torch
from tests.toy import EOS, Markov, random_tables

from sublayer.generate import GNMT, beam_search, early, exact, greedy

LINES = 64


@pytest.fixture
def lines():
    """Tables whose texts end at very different times, and limits just as different."""
    tables = random_tables(LINES, 8, seed=0)
    tables[..., EOS] += torch.linspace(-12, 1, LINES)[:, None, None].double()
    limits = 1 + torch.randperm(LINES, generator=torch.Generator().manual_seed(1)) % 24
    return tables.log_softmax(-1), limits


def by_beam(tables, limits, stop):
    return beam_search(
        Markov(tables),
        Markov(tables).start,
        eos=EOS,
        beam=4,
        max_len=limits,
        length=GNMT(0.6),
        nbest=4,
        stop=stop,
    )


def by_greedy(tables, limits, stop):
    return greedy(Markov(tables), Markov(tables).start, eos=EOS, max_len=limits)


@pytest.mark.parametrize(("search", "stop"), [(by_greedy, None), (by_beam, exact), (by_beam, early)])
def test_any_batch_size_and_any_order(lines, search, stop):
    tables, limits = lines
    alone = [search(tables[i : i + 1], limits[i : i + 1], stop)[0] for i in range(LINES)]
    assert len({len(str(result)) for result in alone}) > 10
    for size in (3, 5, LINES):
        order = torch.randperm(LINES, generator=torch.Generator().manual_seed(size))
        for rows in order.split(size):
            expected = [alone[i] for i in rows.tolist()]
            assert search(tables[rows], limits[rows], stop) == expected
