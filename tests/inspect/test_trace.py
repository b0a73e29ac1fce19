"""Expected numbers are counted by hand for d_model 8, 2 heads, d_ff 16, one layer, vocabularies of 11 and 13."""

import pytest
import torch
from torch import nn

from sublayer.inspect import flops, parameters, shapes
from sublayer.models import CausalLM, Transformer
from sublayer.nn import (
    Decoder,
    DecoderLayer,
    Eager,
    Embeddings,
    Fused,
    Local,
    MultiHeadAttention,
    SwiGLU,
)
from sublayer.nn.local import BLOCK

B, S, T = 2, 5, 3
SOURCE, TARGET = torch.zeros(B, S, dtype=torch.long), torch.zeros(B, T, dtype=torch.long)


@pytest.fixture
def model():
    return Transformer(11, 13, d_model=8, num_layers=1, num_heads=2, d_ff=16)


def attention_rows(name, queries, keys):
    return [
        (name, "q", (B, 2, queries, 4)),
        (name, "k", (B, 2, keys, 4)),
        (name, "v", (B, 2, keys, 4)),
        (name, "scores", (B, 2, queries, keys)),
        (name, "heads merged", (B, queries, 8)),
        (name, "output", (B, queries, 8)),
    ]


def test_shapes_of_the_tutorials_table_in_the_order_of_the_pass(model):
    assert shapes(model, SOURCE, TARGET) == [
        ("source_embed", "embedding", (B, S, 8)),
        *attention_rows("encoder.layers.0.self_attn", S, S),
        ("encoder.layers.0.ffn", "hidden", (B, S, 16)),
        ("encoder.layers.0.ffn", "output", (B, S, 8)),
        ("encoder", "output", (B, S, 8)),
        ("target_embed", "embedding", (B, T, 8)),
        *attention_rows("decoder.layers.0.self_attn", T, T),
        *attention_rows("decoder.layers.0.cross_attn", T, S),
        ("decoder.layers.0.ffn", "hidden", (B, T, 16)),
        ("decoder.layers.0.ffn", "output", (B, T, 8)),
        ("decoder", "output", (B, T, 8)),
        ("Transformer", "output", (B, T, 13)),
    ]


def test_shared_key_heads_other_widths_and_gates_show():
    attn = MultiHeadAttention(8, 4, d_k=6, d_v=3, num_kv_heads=2)
    layer = DecoderLayer(8, attn, SwiGLU(8, 20))
    model = CausalLM(Embeddings(11, 8), Decoder([layer]), nn.Linear(8, 11))
    seen = {(name, what): shape for name, what, shape in shapes(model, SOURCE)}
    name = "decoder.layers.0.self_attn"
    assert [seen[name, what] for what in ("q", "k", "v", "scores", "heads merged")] == [
        (B, 4, S, 6),
        (B, 2, S, 6),
        (B, 2, S, 3),
        (B, 4, S, S),
        (B, S, 12),
    ]
    assert seen["decoder.layers.0.ffn", "hidden"] == (B, S, 20)


def test_nothing_is_left_on_the_model(model):
    kernels = [m.kernel for m in model.modules() if isinstance(m, MultiHeadAttention)]
    shapes(model, SOURCE, TARGET)
    flops(model, SOURCE, TARGET)
    assert [m.kernel for m in model.modules() if isinstance(m, MultiHeadAttention)] == kernels
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    assert all(p.grad is None for p in model.parameters())


def test_parameters_a_part(model):
    attention, ffn, norm = 4 * (8 * 8 + 8), (8 * 16 + 16) + (16 * 8 + 8), 2 * 8
    assert parameters(model) == (
        1813,
        [],
        {
            "source_embed": 11 * 8,
            "encoder": attention + ffn + 2 * norm,
            "target_embed": 13 * 8,
            "decoder": 2 * attention + ffn + 3 * norm,
            "project": 13 * 8 + 13,
        },
    )


def test_tied_weights_count_once(model):
    model.project.weight = model.target_embed.tokens.weight
    counted = parameters(model)
    assert counted.total == 1813 - 13 * 8 == sum(counted.parts.values())
    assert counted.tied == [["target_embed.tokens.weight", "project.weight"]]
    assert counted.parts["target_embed"] == 13 * 8 and counted.parts["project"] == 13


@pytest.mark.parametrize("kernel", [Fused, Eager])
def test_flops_by_hand_whatever_the_kernel(model, kernel):
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            module.kernel = kernel()

    def maps(rows, count):  # count linear maps (8, 8) over rows
        return count * 2 * B * rows * 8 * 8

    def scores(queries, keys):  # Q Kᵀ and weights V
        return 2 * 2 * B * 2 * queries * keys * 4

    def ffn(rows):
        return 2 * 2 * B * rows * 8 * 16

    encoder = maps(S, 4) + scores(S, S) + ffn(S)
    decoder = maps(T, 4) + scores(T, T) + maps(T, 2) + maps(S, 2) + scores(T, S) + ffn(T)
    assert flops(model, SOURCE, TARGET) == encoder + decoder + 2 * B * T * 8 * 13 == 24864


def test_flops_of_a_window_are_those_of_its_blocks():
    attn, x = MultiHeadAttention(8, 2, kernel=Local(10)), torch.zeros(1, 2 * BLOCK, 8)
    kernel, maps = attn.kernel, 4 * 2 * 2 * BLOCK * 8 * 8
    assert flops(attn, x, x, x) == maps + 2 * 2 * 2 * (2 * BLOCK) * (BLOCK + 10) * 4
    assert attn.kernel is kernel and isinstance(kernel.kernel, Fused)
