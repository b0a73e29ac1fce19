"""The Transformer as tutorials write it out: w_q, w_k, w_v, w_o; fc1, fc2; norm1, norm2, norm3; fc_out."""

from sublayer.interop.rule import Rule, Table

# fmt: off
_ATTENTION = Table((
    Rule("w_q.{p}", "q_proj.{p}"),
    Rule("w_k.{p}", "k_proj.{p}"),
    Rule("w_v.{p}", "v_proj.{p}"),
    Rule("w_o.{p}", "out_proj.{p}"),
))

_ENCODER_LAYER = Table((
    *_ATTENTION.under("self_attn.", "self_attn."),
    Rule("norm1.{p}",               "sublayer_attn.norm.{p}"),
    Rule("feed_forward.fc1.{p}",    "ffn.up.{p}"),
    Rule("feed_forward.fc2.{p}",    "ffn.down.{p}"),
    Rule("norm2.{p}",               "sublayer_ffn.norm.{p}"),
))

_DECODER_LAYER = Table((
    *_ATTENTION.under("self_attn.",  "self_attn."),
    Rule("norm1.{p}",                "sublayer_attn.norm.{p}"),
    *_ATTENTION.under("cross_attn.", "cross_attn."),
    Rule("norm2.{p}",                "sublayer_cross.norm.{p}"),
    Rule("feed_forward.fc1.{p}",     "ffn.up.{p}"),
    Rule("feed_forward.fc2.{p}",     "ffn.down.{p}"),
    Rule("norm3.{p}",                "sublayer_ffn.norm.{p}"),
))

TUTORIAL = Table(
    (
        Rule("encoder.embedding.weight", "source_embed.tokens.weight"),
        *_ENCODER_LAYER.under("encoder.layers.{i}.", "encoder.layers.{i}."),
        Rule("decoder.embedding.weight", "target_embed.tokens.weight"),
        *_DECODER_LAYER.under("decoder.layers.{i}.", "decoder.layers.{i}."),
        Rule("fc_out.{p}",               "project.{p}"),
    ),
    ignore=("encoder.pos_encoding.pe", "decoder.pos_encoding.pe"),  # sines and cosines, computed here
)
"""The tutorial's module and `sublayer.models.Transformer`."""
# fmt: on
