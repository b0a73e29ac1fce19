import pytest
import torch

from sublayer.errors import ConfigError
from sublayer.nn import Eager, Growing, Mask, MultiHeadAttention, Rotary


def test_indivisible_heads_name_the_cure():
    words = r"d_model=10 does not divide into num_heads=3 .*num_heads from 1, 2, 5, 10, or set d_k and d_v"
    with pytest.raises(ConfigError, match=words):
        MultiHeadAttention(10, 3)
    with pytest.raises(ConfigError, match="d_model=10"):
        MultiHeadAttention(10, 3, d_k=4)
    x = torch.randn(2, 5, 10)
    assert MultiHeadAttention(10, 3, d_k=4, d_v=6)(x, x, x).shape == x.shape


def test_heads_that_are_no_multiple_of_the_shared_ones_name_the_cure():
    with pytest.raises(ConfigError, match=r"num_heads=6 is no multiple of num_kv_heads=4.* from 1, 2, 3, 6\."):
        MultiHeadAttention(12, 6, num_kv_heads=4)


def test_widths():
    attend = MultiHeadAttention(12, 4, d_k=5, d_v=7, num_kv_heads=2)
    shapes = {name: tuple(p.shape) for name, p in attend.named_parameters() if name.endswith("weight")}
    assert shapes == {
        "q_proj.weight": (20, 12),
        "k_proj.weight": (10, 12),
        "v_proj.weight": (14, 12),
        "out_proj.weight": (12, 28),
    }
    query, key = torch.randn(2, 3, 12), torch.randn(2, 6, 12)
    assert attend(query, key, key).shape == (2, 3, 12)


def test_without_bias_there_is_none():
    names = [name for name, _ in MultiHeadAttention(8, 2, bias=False).named_parameters()]
    assert names == ["q_proj.weight", "k_proj.weight", "v_proj.weight", "out_proj.weight"]


def test_shared_heads_are_full_heads_with_repeated_weights():
    """Two heads for keys and values serve heads 0, 1 and heads 2, 3."""
    shared = MultiHeadAttention(16, 4, num_kv_heads=2).eval()
    full = MultiHeadAttention(16, 4).eval()
    state = shared.state_dict()
    for name in ("k_proj", "v_proj"):
        for part in ("weight", "bias"):
            heads = state[f"{name}.{part}"].unflatten(0, (2, 4))
            state[f"{name}.{part}"] = heads.repeat_interleave(2, 0).flatten(0, 1)
    full.load_state_dict(state)
    x = torch.randn(2, 5, 16)
    torch.testing.assert_close(shared(x, x, x, Mask(causal=True)), full(x, x, x, Mask(causal=True)))


def test_one_mask_a_head():
    attend = MultiHeadAttention(8, 2, dropout=0.0)
    x = torch.randn(1, 4, 8)
    keep = torch.stack((torch.ones(4, 4), torch.eye(4))).bool()
    attend.out_proj.weight.data = torch.eye(8)
    attend.out_proj.bias.data.zero_()
    output = attend(x, x, x, Mask(keep=keep[None]))
    torch.testing.assert_close(output[..., 4:], attend.v_proj(x)[..., 4:])
    torch.testing.assert_close(output[..., :4], attend(x, x, x)[..., :4])


def test_dropout_only_while_training():
    attend = MultiHeadAttention(8, 2, dropout=0.5)
    x = torch.randn(1, 6, 8)
    assert not attend(x, x, x).equal(attend(x, x, x))
    attend.eval()
    assert attend(x, x, x).equal(attend(x, x, x))


def test_the_kernel_is_given_everything():
    calls = []

    def kernel(q, k, v, mask, *, scale, dropout):
        calls.append((q.shape, k.shape, v.shape, mask, scale, dropout))
        return Eager()(q, k, v, mask, scale=scale, dropout=dropout)

    attend = MultiHeadAttention(12, 4, d_k=3, d_v=5, num_kv_heads=2, scale=0.7, dropout=0.2, kernel=kernel)
    query, key, mask = torch.randn(2, 4, 12), torch.randn(2, 6, 12), Mask.lengths(torch.tensor([6, 2]))
    attend(query, key, key, mask)
    attend.eval()(query, key, key)
    shapes = ((2, 4, 4, 3), (2, 2, 6, 3), (2, 2, 6, 5))
    assert calls == [(*shapes, mask, 0.7, 0.2), (*shapes, None, 0.7, 0.0)]


def test_rotation_starts_where_the_cache_ends():
    starts = []

    class Recorded(Rotary):
        def forward(self, x, start=0):
            starts.append((x.size(1), start))
            return super().forward(x, start)

    attend = MultiHeadAttention(8, 2, num_kv_heads=1, rotate=Recorded(4)).eval()
    x, cache = torch.randn(1, 5, 8), Growing()
    attend(x[:, :3], x[:, :3], x[:, :3], Mask(causal=True), cache)
    attend(x[:, 3:], x[:, 3:], x[:, 3:], Mask(causal=True), cache)
    assert starts == [(2, 0), (1, 0), (2, 3), (1, 3)]
    assert cache.length == 5


def test_no_attention_weights_are_left_behind():
    attend = MultiHeadAttention(8, 2)
    before = set(vars(attend))
    x = torch.randn(1, 3, 8)
    assert isinstance(attend(x, x, x), torch.Tensor)
    assert set(vars(attend)) == before


def test_queries_and_keys_turn_by_their_place_in_their_document():
    calls = []

    def rotate(x, start, index=None):
        calls.append((x.size(1), start, None if index is None else index.tolist()))
        return x

    attend = MultiHeadAttention(8, 4, num_kv_heads=2, rotate=rotate)
    query, key = torch.randn(1, 4, 8), torch.randn(1, 5, 8)
    attend(query, key, key, Mask.packed([2, 3]).seen_from(Mask.packed([1, 3])))
    assert calls == [(4, 0, [[0, 0, 1, 2]]), (2, 0, [[0, 1, 0, 1, 2]])]
    attend(query, query, query, Mask.packed([3, 1]) & Mask(causal=True))
    assert calls[2:] == [(4, 0, [[0, 1, 2, 0]]), (2, 0, [[0, 1, 2, 0]])]
    attend(query, query, query, Mask(causal=True))
    assert calls[4:] == [(4, 0, None), (2, 0, None)]


def test_packed_rows_continue_from_a_cache():
    attend = MultiHeadAttention(8, 2, rotate=Rotary(4)).eval()
    x, documents = torch.randn(1, 6, 8), torch.tensor([[0, 0, 1, 1, 1, 1]])
    whole = attend(x, x, x, Mask(documents=documents, causal=True))
    cache, steps = Growing(), []
    for start, end in ((0, 3), (3, 4), (4, 6)):
        new = x[:, start:end]
        steps.append(attend(new, new, new, Mask(documents=documents[:, :end], causal=True), cache))
    torch.testing.assert_close(torch.cat(steps, 1), whole, atol=1e-6, rtol=0)


def test_the_bias_of_the_last_map_is_a_choice_of_its_own():
    def biased(**options):
        attend = MultiHeadAttention(8, 2, **options)
        return [part.bias is not None for part in (attend.q_proj, attend.k_proj, attend.v_proj, attend.out_proj)]

    assert biased() == [True] * 4 and biased(bias=False) == [False] * 4
    assert biased(out_bias=False) == [True, True, True, False]
    assert biased(bias=False, out_bias=True) == [False, False, False, True]
