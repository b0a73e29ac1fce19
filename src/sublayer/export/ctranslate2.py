"""CTranslate2: a model in its format, and its translator as an engine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sublayer.errors import ConfigError
from sublayer.export.ctranslate2_spec import spec
from sublayer.generate import Hypothesis
from sublayer.generate.decoding import hypothesis
from sublayer.models.config import ModelConfig
from sublayer.tasks.search import Search
from sublayer.tasks.searching import Searchable, length_rule, longest_answers
from sublayer.tasks.translate import Translate


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
    if config.position.kind.startswith("rotary-"):
        found.append(f"position {config.position.kind!r}: no way to say it is written here")
    if config.position.kind == "layer-relative":
        found.append("position 'layer-relative': all layers of a stack share one bias there")
    for part, settings in (("attention", config.attention), ("embedding", config.embedding)):
        if changed := settings.model_dump(exclude_defaults=True):
            found.append(f"{part} {changed}: no way to say it is written here")
    if config.output_scaled or config.output_bias is not None:
        found.append("output_scaled or output_bias: no way to say it is written here")
    if config.first_feature is not None:
        found.append("features without positions (model.first_feature): its embeddings all have one")
    if config.kernel.kind not in ("fused", "eager") and ":" not in config.kernel.kind:
        found.append(f"kernel {config.kernel.kind!r}: it computes full attention")
    return found


def export(task: Translate, folder: Path) -> None:
    """Write model and vocabularies. ConfigError where CTranslate2 is missing."""
    written = spec(_ctranslate2().specs, task.model, task.config)
    for side, tokenizer in (("source", task.source), ("target", task.target)):
        getattr(written, f"register_{side}_vocabulary")(tokenizer.vocabulary)
    names = task.target.vocabulary
    written.config.bos_token, written.config.decoder_start_token = names[task.target.bos], names[task.target.bos]
    written.config.eos_token, written.config.unk_token = names[task.target.eos], names[task.target.unk]
    written.config.add_source_bos = written.config.add_source_eos = False
    first: Any = task.model.decoder.layers[0]
    written.config.layer_norm_epsilon = first.sublayer_ffn.norm.eps
    written.validate()
    written.optimize()
    written.save(str(folder))


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
        if beyond := search.beyond_a_beam():
            raise ConfigError(f"CTranslate2 searches greedily or with a beam. {', '.join(beyond)}: take engine native.")
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


def installed() -> bool:
    return find_spec("ctranslate2") is not None


def _ctranslate2() -> Any:
    try:
        import ctranslate2
    except ImportError:
        raise ConfigError("CTranslate2 is not installed: pip install 'sublayer[ctranslate2]'.") from None
    return ctranslate2
