import pytest
import torch

from sublayer.generate.candidates import continuations, top


@pytest.mark.parametrize("k", [1, 2, 5, 16, 17, 40])
@pytest.mark.parametrize("levels", [1, 2, 4, 1000])
def test_top_is_a_stable_sort(levels, k):
    draw = torch.Generator().manual_seed(k)
    values = torch.randint(levels, (6, 17), generator=draw).float()
    best, at = top(values.clone(), k)
    expected = values.sort(dim=-1, descending=True, stable=True)
    assert torch.equal(best, expected.values[:, :k])
    assert torch.equal(at, expected.indices[:, :k])


def test_ties_go_to_the_earlier_hypothesis_then_the_likelier_token_then_the_lower_id():
    totals = torch.tensor([[-1.0, -2.0]]).double()
    logps = torch.tensor([[-3.0, -2.0, -2.0, -9.0], [-2.0, -1.0, -1.0, -1.0]])
    best = continuations(logps, totals, 6)
    assert best.total.tolist() == [[-3.0, -3.0, -3.0, -3.0, -3.0, -4.0]]
    assert best.parent.tolist() == [[0, 0, 1, 1, 1, 0]]
    assert best.token.tolist() == [[1, 2, 1, 2, 3, 0]]
    # Beside so large a total the difference between the tokens is lost in the sum, and still decides.
    totals = torch.tensor([[-(2.0**60)]]).double()
    best = continuations(torch.tensor([[-2.0, -1.0, -3.0]]), totals, 3)
    assert best.token.tolist() == [[1, 0, 2]]


def test_there_may_be_fewer_than_asked():
    best = continuations(torch.zeros(4, 3), torch.zeros(2, 2).double(), 10)
    assert best.token.tolist() == [[0, 1, 2, 0, 1, 2]] * 2
    assert best.parent.tolist() == [[0, 0, 0, 1, 1, 1], [2, 2, 2, 3, 3, 3]]
