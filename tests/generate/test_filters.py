import pytest
import torch

from sublayer.generate.filters import min_p, temperature, top_k, top_p

P = torch.tensor([[0.1, 0.5, 0.05, 0.25, 0.1]]).double()


def probabilities(logps):
    return logps.exp()[0].tolist()


def test_values_by_hand():
    half, total = [p**2 for p in P[0].tolist()], 0.335
    assert probabilities(temperature(P.log(), 0.5)) == pytest.approx([p / total for p in half])
    assert probabilities(top_k(P.log(), 2)) == pytest.approx([0, 2 / 3, 0, 1 / 3, 0])
    assert probabilities(top_p(P.log(), 0.5)) == [0, 1, 0, 0, 0]
    assert probabilities(top_p(P.log(), 0.74)) == pytest.approx([0, 2 / 3, 0, 1 / 3, 0])
    assert probabilities(top_p(P.log(), 0.76)) == pytest.approx([2 / 17, 10 / 17, 0, 5 / 17, 0])
    assert probabilities(min_p(P.log(), 0.3)) == pytest.approx([0, 2 / 3, 0, 1 / 3, 0])
    assert probabilities(min_p(P.log(), 0.15)) == pytest.approx([2 / 19, 10 / 19, 0, 5 / 19, 2 / 19])


def test_of_equal_ones_the_lower_id_stays():
    even = torch.full((1, 4), 0.25).log()
    assert probabilities(top_k(even, 2)) == pytest.approx([0.5, 0.5, 0, 0])
    assert probabilities(top_p(even, 0.3)) == pytest.approx([0.5, 0.5, 0, 0])
    assert probabilities(min_p(even, 1.0)) == pytest.approx([0.25] * 4)


@pytest.mark.parametrize("filter", [lambda x: top_k(x, 1), lambda x: top_p(x, 1e-9), lambda x: min_p(x, 1.0)])
def test_the_likeliest_token_always_stays(filter):
    logps = torch.randn(50, 9, generator=torch.Generator().manual_seed(0)).log_softmax(-1)
    alone = torch.nn.functional.one_hot(logps.argmax(-1), 9)
    assert torch.equal(filter(logps).exp(), alone.float())


@pytest.mark.parametrize("filter", [lambda x: top_k(x, 4), lambda x: top_p(x, 0.7), lambda x: min_p(x, 0.2)])
def test_what_stays_keeps_its_proportions_and_each_row_stands_alone(filter):
    logps = torch.randn(50, 9, generator=torch.Generator().manual_seed(1)).double().log_softmax(-1)
    logps[:, 3] = -torch.inf
    left = filter(logps)
    torch.testing.assert_close(left.exp().sum(-1), torch.ones(50).double())
    stays = left > -torch.inf
    assert not stays[:, 3].any() and 0 < (~stays).sum() < 50 * 8
    shift = (left - logps).masked_fill(~stays, -torch.inf)
    torch.testing.assert_close(left, (logps + shift.amax(-1, keepdim=True)).masked_fill(~stays, -torch.inf))
    assert ((logps.masked_fill(stays, -torch.inf).amax(-1)) < logps.masked_fill(~stays, 9).amin(-1)).all()
    assert torch.equal(left, torch.cat([filter(row[None]) for row in logps]))


def test_the_nucleus_is_the_smallest():
    logps = torch.randn(50, 9, generator=torch.Generator().manual_seed(2)).double().log_softmax(-1)
    for row, left in zip(logps.exp(), top_p(logps, 0.8).exp(), strict=True):
        inside = row[left > 0]
        assert inside.sum() >= 0.8 > inside.sum() - inside.min()
