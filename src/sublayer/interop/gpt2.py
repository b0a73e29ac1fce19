"""GPT-2. Radford et al. 2019."""

from sublayer.interop.family import Family, Head
from sublayer.interop.fields import ACTIVATION, TIED, Field
from sublayer.interop.rule import TRANSPOSED, Rule, Stacked, Table, TransposedStack

QKV = ("self_attn.q_proj.{p}", "self_attn.k_proj.{p}", "self_attn.v_proj.{p}")
WEIGHTS, BIASES = (tuple(name.format(p=p) for name in QKV) for p in ("weight", "bias"))

# fmt: off
LAYER = Table((
    Rule("ln_1.{p}",            "sublayer_attn.norm.{p}"),
    Rule("attn.c_attn.weight",  WEIGHTS,                     TransposedStack(3)),
    Rule("attn.c_attn.bias",    BIASES,                      Stacked(3)),
    Rule("attn.c_proj.weight",  "self_attn.out_proj.weight", TRANSPOSED),
    Rule("attn.c_proj.bias",    "self_attn.out_proj.bias"),
    Rule("ln_2.{p}",            "sublayer_ffn.norm.{p}"),
    Rule("mlp.c_fc.weight",     "ffn.up.weight",             TRANSPOSED),
    Rule("mlp.c_fc.bias",       "ffn.up.bias"),
    Rule("mlp.c_proj.weight",   "ffn.down.weight",           TRANSPOSED),
    Rule("mlp.c_proj.bias",     "ffn.down.bias"),
))

BODY = Table((
    Rule("wte.weight",          "embed.tokens.weight"),
    Rule("wpe.weight",          "embed.positions.table.weight"),
    *LAYER.under("h.{i}.",      "decoder.layers.{i}."),
    Rule("ln_f.{p}",            "decoder.norm.{p}"),
))

FIELDS = (
    Field("vocab_size",           "target_vocab",      50257),
    Field("n_embd",               "d_model",           768),
    Field("n_layer",              "decoder_layers",    12),
    Field("n_head",               "num_heads",         12),
    Field("n_inner",              "d_ff"),
    Field("activation_function",  "activation",        "gelu_new", ACTIVATION),
    Field("resid_pdrop",          "dropout",           0.1),
    Field("attn_pdrop",           "attention_dropout", 0.1),
    Field("layer_norm_epsilon",   "norm.eps",          1e-5),
    Field("n_positions",          "max_len",           1024),
    Field("tie_word_embeddings",  "tie",               True, TIED),
)
# fmt: on

GPT2 = Family(
    model_type="gpt2",
    prefix="transformer.",
    fields=FIELDS,
    fixed={
        "architecture": "decoder",
        "norm.kind": "layernorm",
        "position.kind": "learned",
        "ffn.kind": "feedforward",
        "ffn.dropout": 0.0,
        "embedding.scale": 1.0,
        "output_bias": False,
    },
    only={
        "add_cross_attention": False,
        "scale_attn_weights": True,
        "scale_attn_by_inverse_layer_idx": False,
    },
    rules=BODY.under("transformer.", ""),
    heads={"GPT2LMHeadModel": Head(rules=(Rule("lm_head.weight", "project.weight"),))},
    ignore=("transformer.h.{i}.attn.bias", "transformer.h.{i}.attn.masked_bias"),  # causal masks
)
