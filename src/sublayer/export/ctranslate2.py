"""CTranslate2: a model in its format, and its translator as an engine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sublayer.errors import ConfigError
from sublayer.generate import Hypothesis
from sublayer.generate.decoding import hypothesis
from sublayer.models.config import ModelConfig
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.nn import Decoder, MultiHeadAttention, RelativeBias, Rotary
from sublayer.tasks.recipe import Search
from sublayer.tasks.searching import Searchable, length_rule, longest_answers
from sublayer.tasks.translate import Translate

POSITIONS = 2048
"""How many positions an added position is written out for: CTranslate2 has no longer texts."""

ACTIVATIONS = {
    "relu": "RELU",
    "gelu": "GELU",
    "gelu_tanh": "GELUTanh",
    "silu": "SWISH",
    "sigmoid": "Sigmoid",
    "tanh": "Tanh",
}
GATES = {"glu": "sigmoid", "geglu": "gelu", "swiglu": "silu"}


def problems(config: ModelConfig) -> list[str]:
    """What of a model CTranslate2's format cannot say; empty where it can say all."""
    found = [
        f"{part} {getattr(config, part).kind!r} is code of your own"
        for part in ("ffn", "norm", "position", "kernel")
        if ":" in getattr(config, part).kind
    ]
    if config.architecture != "encoder-decoder":
        found.append(f"architecture {config.architecture!r}: only encoder-decoders are exported")
    if config.position.kind == "alibi":
        found.append("position 'alibi': its encoders have none")
    if config.first_feature is not None:
        found.append("features without positions (model.first_feature): its embeddings all have one")
    if config.kernel.kind not in ("fused", "eager") and ":" not in config.kernel.kind:
        found.append(f"kernel {config.kernel.kind!r}: it computes full attention")
    return found


def export(task: Translate, folder: Path) -> None:
    """Write model and vocabularies. ConfigError where CTranslate2 is missing."""
    spec = _spec(task.model, task.config)
    for side, tokenizer in (("source", task.source), ("target", task.target)):
        getattr(spec, f"register_{side}_vocabulary")(tokenizer.vocabulary)
    names = task.target.vocabulary
    spec.config.bos_token, spec.config.decoder_start_token = names[task.target.bos], names[task.target.bos]
    spec.config.eos_token, spec.config.unk_token = names[task.target.eos], names[task.target.unk]
    spec.config.add_source_bos = spec.config.add_source_eos = False
    first: Any = task.model.decoder.layers[0]
    spec.config.layer_norm_epsilon = first.sublayer_ffn.norm.eps
    spec.validate()
    spec.optimize()
    spec.save(str(folder))


class CTranslate2:
    """Answers by CTranslate2's translator, from a folder that `export` wrote.

    Greedy answers are those of the model. A beam compares sums of log-probabilities until `beam` texts have ended,
    and ranks these by the length rule: nearly always the model's own answer, not by law.

    scored  log-probabilities are wanted, which takes a second pass: those of the search leave out the tokens that never
            come. Without them they are NaN in greedy search
    """

    name = "ctranslate2"

    def __init__(self, folder: Path, threads: int = 1, scored: bool = True) -> None:
        self.translator = _ctranslate2().Translator(str(folder), "cpu", intra_threads=threads)
        self.scored = scored

    def find(self, task: Searchable, ids: Sequence[Sequence[int]], search: Search) -> list[list[Hypothesis]]:
        names = task.source.vocabulary
        sources = [[*(names[i] for i in row), names[task.source.eos]] for row in ids]
        longest = longest_answers(task, ids, search).tolist()
        answers = self._answers(task, sources, max(longest), search)
        for i, limit in enumerate(longest):
            if any(len(tokens) > limit for tokens in answers[i].hypotheses):
                [answers[i]] = self._answers(task, [sources[i]], limit, search)
        written = [answer.hypotheses for answer in answers]
        if self.scored or search.beam > 1:
            logps = self._logps(task, sources, written)
        else:
            logps = [[[math.nan] * len(tokens) for tokens in found] for found in written]
        return [_ranked(task, *found, search) for found in zip(written, logps, strict=True)]

    def _answers(self, task: Searchable, sources: list[list[str]], longest: int, search: Search) -> list[Any]:
        names, target = task.target.vocabulary, task.target
        return self.translator.translate_batch(
            sources,
            beam_size=search.beam,
            num_hypotheses=search.beam,
            length_penalty=0,
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=longest,
            disable_unk=True,
            suppress_sequences=[[names[target.pad]], [names[target.bos]]],
            return_end_token=True,
        )

    def _logps(self, task: Searchable, sources: list[list[str]], written: list[list[list[str]]]) -> list[Any]:
        """Of each token of each hypothesis."""
        eos = task.target.vocabulary[task.target.eos]
        pairs = [(source, tokens) for source, found in zip(sources, written, strict=True) for tokens in found]
        without_eos = [tokens[:-1] if tokens[-1] == eos else tokens for _, tokens in pairs]
        scored = iter(self.translator.score_batch([source for source, _ in pairs], without_eos, max_input_length=0))
        return [[next(scored).log_probs[: len(tokens)] for tokens in found] for found in written]


def _ranked(task: Searchable, written: list[list[str]], logps: list[Any], search: Search) -> list[Hypothesis]:
    number, rule = {token: i for i, token in enumerate(task.target.vocabulary)}, length_rule(search)
    found = [
        hypothesis([number[token] for token in tokens], logp, task.target.eos, rule)
        for tokens, logp in zip(written, logps, strict=True)
    ]
    return sorted(found, key=lambda hypothesis: -hypothesis.score)[: search.nbest]


def _spec(model: EncoderDecoder, config: ModelConfig) -> Any:
    """Model and config in CTranslate2's words."""
    specs = _ctranslate2().specs
    shared: dict[str, Any] = {
        "pre_norm": config.norm_first,
        "activation": getattr(specs.Activation, ACTIVATIONS[_activation(config)]),
        "ffn_glu": config.ffn.kind in GATES,
        "rms_norm": config.norm.kind == "rmsnorm",
        "num_heads_kv": config.num_kv_heads,
        "relative_attention_bias": config.position.kind == "relative",
    }
    first: Any = model.decoder.layers[0]
    rotate = first.self_attn.rotate
    if isinstance(rotate, Rotary):
        shared |= {"rotary_dim": 0, "rotary_interleave": rotate.layout == "interleaved", "rotary_base": rotate.theta}
    encoder = specs.TransformerEncoderSpec(config.encoder_layers, config.num_heads, **shared)
    decoder = specs.TransformerDecoderSpec(config.decoder_layers, config.num_heads, **shared)
    _stack(encoder, model.encoder)
    _stack(decoder, model.decoder)
    _embed(encoder, encoder.embeddings[0], model.source_embed)
    _embed(decoder, decoder.embeddings, model.target_embed)
    _linear(decoder.projection, model.project)
    return specs.TransformerSpec(encoder, decoder)


def _activation(config: ModelConfig) -> str:
    chosen: str = config.ffn.options.get("activation", GATES.get(config.ffn.kind, config.activation))
    return chosen


def _stack(spec: Any, stack: Any) -> None:
    layers: Any = stack.layers
    for theirs, ours in zip(spec.layer, layers, strict=True):
        _attention(theirs.self_attention, ours.self_attn, stack.bias)
        _norm(theirs.self_attention.layer_norm, ours.sublayer_attn.norm)
        if isinstance(stack, Decoder):
            _attention(theirs.attention, ours.cross_attn, None)
            _norm(theirs.attention.layer_norm, ours.sublayer_cross.norm)
        _norm(theirs.ffn.layer_norm, ours.sublayer_ffn.norm)
        _linear(theirs.ffn.linear_0, getattr(ours.ffn, "gate", ours.ffn.up))
        if hasattr(ours.ffn, "gate"):
            _linear(theirs.ffn.linear_0_noact, ours.ffn.up)
        _linear(theirs.ffn.linear_1, ours.ffn.down)
    if stack.norm is not None:
        _norm(spec.layer_norm, stack.norm)


def _attention(spec: Any, attn: MultiHeadAttention, bias: nn.Module | None) -> None:
    """Self-attention has one map for queries, keys and values; cross-attention one for queries and one for the rest."""
    q, kv = [attn.q_proj], [attn.k_proj, attn.v_proj]
    for theirs, ours in zip(spec.linear, [q + kv] if len(spec.linear) == 2 else [q, kv], strict=False):
        _linear(theirs, *ours)
    _linear(spec.linear[-1], attn.out_proj)
    if isinstance(bias, RelativeBias):
        spec.relative_attention_bias = _array(bias.table.weight)
        spec.relative_attention_max_distance = np.int32(bias.max_distance)


def _linear(spec: Any, *maps: Any) -> None:
    spec.weight = _array(torch.cat([m.weight for m in maps]))
    if maps[0].bias is not None:
        spec.bias = _array(torch.cat([m.bias for m in maps]))


def _norm(spec: Any, norm: Any) -> None:
    spec.gamma = _array(norm.weight)
    if isinstance(norm, nn.LayerNorm):
        spec.beta = _array(norm.bias)


def _embed(spec: Any, embeddings: Any, embed: Any) -> None:
    embeddings.weight = _array(embed.tokens.weight)
    if embed.positions is not None:
        places = min(getattr(embed.positions, "max_len", POSITIONS), POSITIONS)
        spec.position_encodings.encodings = _array(embed.positions(torch.arange(places), places))
    elif hasattr(spec, "position_encodings"):  # where nothing is said it would add sinusoids
        spec.position_encodings.encodings = np.zeros((POSITIONS, embed.tokens.embedding_dim), np.float32)


def _array(tensor: Tensor) -> Any:
    return tensor.detach().float().contiguous().numpy()


def installed() -> bool:
    return find_spec("ctranslate2") is not None


def _ctranslate2() -> Any:
    try:
        import ctranslate2
    except ImportError:
        raise ConfigError("CTranslate2 is not installed: pip install 'sublayer[ctranslate2]'.") from None
    return ctranslate2
