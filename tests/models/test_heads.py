import pytest
import torch

from sublayer.errors import ConfigError
from sublayer.models.heads import POOLS, ClassHead, TokenHead, WithHead, first, largest, mean, pool_of
from sublayer.nn import Mask

X = torch.tensor([[1.0, 2.0], [3.0, 4.0], [-5.0, 6.0]])  # a text of two tokens, and one of one
LENGTHS = torch.tensor([2, 1])


def test_pooling_by_hand():
    assert mean(X, LENGTHS).tolist() == [[2, 3], [-5, 6]]
    assert largest(X, LENGTHS).tolist() == [[3, 4], [-5, 6]]
    assert first(X, LENGTHS).tolist() == [[1, 2], [-5, 6]]


def test_an_unknown_pooling_names_the_nearest():
    with pytest.raises(ConfigError, match="pooling 'maen' is unknown. Did you mean 'mean'"):
        pool_of("maen")


@pytest.fixture
def ids():
    return torch.randint(4, 13, (3, 5))


@pytest.mark.parametrize("head", [*POOLS, "token"])
def test_padded_packed_and_alone_give_the_same(tiny, perturb, ragged, ids, head):
    made = TokenHead(16, 3) if head == "token" else ClassHead(16, 3, POOLS[head])
    model = perturb(WithHead(tiny("encoder"), made)).eval()
    lengths = [5, 2, 3]
    padded = model(ids.masked_fill(~ragged(lengths), 0), Mask.padding(ragged(lengths)))
    texts = [row[:n] for row, n in zip(ids, lengths, strict=True)]
    packed = model(torch.cat(texts)[None], Mask.packed(lengths))
    alone = torch.cat([model(text[None]) for text in texts])
    assert padded.shape == (10 if head == "token" else 3, 3)
    torch.testing.assert_close(packed, alone, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(padded, alone, atol=1e-5, rtol=1e-5)


def test_every_weight_learns_and_the_inference_form_says_the_same(tiny, perturb, ids):
    model = perturb(WithHead(tiny("encoder"), ClassHead(16, 3))).eval()
    said = model(ids)
    said.sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.head.parameters())
    assert not [name for name, p in model.named_parameters() if p.grad is None]
    torch.testing.assert_close(model.for_inference()(ids), said.detach(), atol=1e-5, rtol=1e-5)


def test_an_encoder_of_bags(tiny, ragged):
    body = tiny("encoder", bags=True)
    bags = torch.randint(4, 13, (2, 4, 3))
    mask = Mask.padding(ragged([4, 2]))
    model = WithHead(body, TokenHead(16, 3)).eval()
    alone = torch.cat([model(bags[:1]), model(bags[1:, :2])])
    torch.testing.assert_close(model(bags, mask), alone, atol=1e-5, rtol=1e-5)
