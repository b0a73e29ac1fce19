"""The modules of `torch.nn`.

Weights say nothing of sizes, activation (relu there) and norm_first: build ours with the same. A torch.nn encoder or
decoder with a final norm needs one here too, `norm=LayerNorm(d_model)`; `nn.Transformer` has both.
"""

from sublayer.interop.rule import Rule, Stacked, Table

# fmt: off
MULTIHEAD_ATTENTION = Table((
    Rule("in_proj_{p}",  ("q_proj.{p}", "k_proj.{p}", "v_proj.{p}"), Stacked(3)),
    Rule("out_proj.{p}", "out_proj.{p}"),
))
"""`nn.MultiheadAttention` and `MultiHeadAttention`."""

ENCODER_LAYER = Table((
    *MULTIHEAD_ATTENTION.under("self_attn.", "self_attn."),
    Rule("norm1.{p}",         "sublayer_attn.norm.{p}"),
    Rule("linear1.{p}",       "ffn.up.{p}"),
    Rule("linear2.{p}",       "ffn.down.{p}"),
    Rule("norm2.{p}",         "sublayer_ffn.norm.{p}"),
))
"""`nn.TransformerEncoderLayer` and `EncoderLayer` with a `FeedForward`."""

DECODER_LAYER = Table((
    *MULTIHEAD_ATTENTION.under("self_attn.",      "self_attn."),
    Rule("norm1.{p}",              "sublayer_attn.norm.{p}"),
    *MULTIHEAD_ATTENTION.under("multihead_attn.", "cross_attn."),
    Rule("norm2.{p}",              "sublayer_cross.norm.{p}"),
    Rule("linear1.{p}",            "ffn.up.{p}"),
    Rule("linear2.{p}",            "ffn.down.{p}"),
    Rule("norm3.{p}",              "sublayer_ffn.norm.{p}"),
))
"""`nn.TransformerDecoderLayer` and `DecoderLayer` with a `FeedForward` and cross-attention."""

ENCODER = Table((
    *ENCODER_LAYER.under("layers.{i}.", "layers.{i}."),
    Rule("norm.{p}", "norm.{p}"),
))
"""`nn.TransformerEncoder` and `Encoder`."""

DECODER = Table((
    *DECODER_LAYER.under("layers.{i}.", "layers.{i}."),
    Rule("norm.{p}", "norm.{p}"),
))
"""`nn.TransformerDecoder` and `Decoder`."""

TRANSFORMER = Table((
    *ENCODER.under("encoder.", "encoder."),
    *DECODER.under("decoder.", "decoder."),
))
"""`nn.Transformer` and a module that holds an `Encoder` as encoder and a `Decoder` as decoder."""
# fmt: on
