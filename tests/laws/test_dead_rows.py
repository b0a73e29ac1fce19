"""A query that may see nothing gets a zero row; no gradient anywhere is NaN, and the other rows do not notice."""

import pytest
import torch

from sublayer.nn import Alibi, Eager, Encoder, EncoderLayer, FeedForward, Fused, Local, Mask, MultiHeadAttention

kernels = pytest.mark.parametrize("kernel", [Eager(), Fused(), Local(5)], ids=["eager", "fused", "local"])
DEAD = {
    "all padding": Mask.padding(torch.tensor([[1, 1, 1, 1], [0, 0, 0, 0]])),
    "padding on the left of a causal row": Mask.padding(torch.tensor([[1, 1, 1, 1], [0, 0, 1, 1]])) & Mask(causal=True),
    "a row of pairs": Mask.of(torch.stack((torch.ones(4, 4), torch.diag(torch.tensor([1, 0, 1, 0])))).bool()),
    "with a bias": Mask.padding(torch.tensor([[1, 1, 1, 1], [0, 0, 0, 0]])) & Mask(bias=torch.randn(1, 4, 4, 4)),
}


@kernels
@pytest.mark.parametrize("mask", DEAD.values(), ids=DEAD.keys())
@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_kernels(kernel, mask, dropout):
    q, k, v = (torch.randn(2, 4, 4, 8, requires_grad=True) for _ in range(3))
    output = kernel(q, k, v, mask, dropout=dropout)
    dead = ~mask.visible(4, 4).expand(2, 1, 4, 4).any(-1).expand(2, 4, 4)
    assert dead[1].any() and not dead[0].any()
    assert output[dead].eq(0).all()
    output.square().sum().backward()
    for x in (q, k, v):
        assert x.grad.isfinite().all()
    assert q.grad[dead].eq(0).all()


@kernels
@pytest.mark.parametrize("train", [True, False])
def test_the_other_rows_do_not_notice(kernel, train, perturb):
    def layer():
        attend = MultiHeadAttention(16, 4, dropout=0.0, kernel=kernel)
        return EncoderLayer(16, attend, FeedForward(16, 24, 0.0), 0.0)

    encoder = perturb(Encoder((layer() for _ in range(2)), bias=Alibi(4))).train(train)
    x = torch.randn(2, 4, 16)
    encoder(x[:1]).square().sum().backward()
    alone = {name: p.grad for name, p in encoder.named_parameters()}
    encoder.zero_grad()
    output = encoder(x, torch.tensor([[1, 1, 1, 1], [0, 0, 0, 0]]))
    assert output.isfinite().all()
    output[:1].square().sum().backward()
    for name, p in encoder.named_parameters():
        torch.testing.assert_close(p.grad, alone[name], atol=1e-4, rtol=1e-4, msg=name)


def test_the_output_of_a_dead_row_is_the_bias_of_the_output_map(perturb):
    attend = perturb(MultiHeadAttention(16, 4)).eval()
    x = torch.randn(1, 3, 16)
    output = attend(x, x, x, torch.zeros(1, 3, dtype=torch.bool))
    torch.testing.assert_close(output, attend.out_proj.bias.expand(1, 3, 16))


@pytest.mark.parametrize("architecture", ["encoder", "decoder", "encoder-decoder"])
def test_an_empty_row_in_a_model(architecture, tiny, position, ragged):
    model, keep, ids = tiny(architecture, position=position).train(), ragged([4, 0]), torch.randint(11, (2, 4))
    output = model(ids, ids, keep, keep) if architecture == "encoder-decoder" else model(ids, keep)
    assert output.isfinite().all()
    output.square().sum().backward()
    assert all(p.grad.isfinite().all() for p in model.parameters())
