"""The metrics by name, and the scores of texts against their references.

    exact           % of items equal to one of their references                                  higher
    sequence_error  100 - exact; what papers on grapheme-to-phoneme conversion call WER          lower
    per             phoneme error rate: edits / phonemes of the nearest reference, %             lower
    wer             word error rate of recognition and translation: edits / reference words, %   lower
    cer             character error rate: edits / reference characters, %                        lower
    edit_distance   edits an item, in characters                                                 lower
    bleu, chrf      n-gram overlap, 0 to 100, by sacrebleu on detokenised text                   higher
    ter             translation edit rate, by sacrebleu                                          lower
    loss            nats a token, from the model                                                 lower
    perplexity      exp(loss), from the model                                                    lower

`bleu` splits text with tokenizer 13a; `bleu:zh`, `bleu:intl`, `bleu:char` and `bleu:none` (for text that is
already tokenised) choose another. Where a word has several pronunciations, any of them is right and the
nearest one counts for PER (Yao and Zweig 2015, the convention for CMUdict).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sublayer.errors import ConfigError, DataError, listing, nearest
from sublayer.evaluate import edit, overlap
from sublayer.evaluate.bootstrap import bootstrap_interval
from sublayer.evaluate.score import Measured, References, Score

Measure = Callable[[Sequence[str], References], Measured]


@dataclass(frozen=True, slots=True)
class Metric:
    """A name, a direction, what is counted, and how texts are measured (None: it comes from the model)."""

    name: str
    higher_is_better: bool
    unit: str
    measure: Measure | None


LOSS = Metric("loss", False, "tokens", None)
PERPLEXITY = Metric("perplexity", False, "tokens", None)
TEXT_METRICS = {m.name: m for m in (LOSS, PERPLEXITY, Metric("bits_per_character", False, "characters", None))}
"""Of a running text, from the model."""

_ALL = (
    Metric("exact", True, "items", partial(edit.matches, counted=True)),
    Metric("sequence_error", False, "items", partial(edit.matches, counted=False)),
    Metric("per", False, "phonemes", partial(edit.error_rate, split=str.split)),
    Metric("wer", False, "words", partial(edit.error_rate, split=str.split)),
    Metric("cer", False, "characters", partial(edit.error_rate, split=list)),
    Metric("edit_distance", False, "items", edit.mean_edits),
    Metric("bleu", True, "items", overlap.bleu),
    Metric("bleu:zh", True, "items", partial(overlap.bleu, tokenize="zh")),
    Metric("bleu:intl", True, "items", partial(overlap.bleu, tokenize="intl")),
    Metric("bleu:char", True, "items", partial(overlap.bleu, tokenize="char")),
    Metric("bleu:none", True, "items", partial(overlap.bleu, tokenize="none")),
    Metric("chrf", True, "items", overlap.chrf),
    Metric("ter", False, "items", overlap.ter),
    LOSS,
    PERPLEXITY,
)
METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}


def direction(name: str) -> bool:
    """Whether higher is better. Raises ConfigError for an unknown metric."""
    if name not in METRICS:
        raise ConfigError(f"Unknown metric {name!r}. {nearest(name, METRICS)}")
    return METRICS[name].higher_is_better


def evaluate_texts(
    names: Sequence[str],
    hypotheses: Sequence[str],
    references: References,
    *,
    bootstrap: int = 0,
    seed: int = 1,
) -> list[Score]:
    """A score a name, in that order.

    references  references[i] lists every accepted text for hypotheses[i]
    bootstrap   the number of resampled corpora for the 95 % interval, 1,000 as a rule; 0 leaves it out

    Raises ConfigError for a name that is unknown or that no text can give, DataError where hypotheses and
    references do not match.
    """
    measures = _measures(names)
    _check_texts(hypotheses, references)
    return [
        score_of(METRICS[name], measure(hypotheses, references), bootstrap, seed)
        for name, measure in zip(names, measures, strict=True)
    ]


def _measures(names: Sequence[str]) -> list[Measure]:
    from_texts = {name: metric.measure for name, metric in METRICS.items() if metric.measure}
    problems = []
    for name in names:
        if name not in METRICS:
            problems.append(f"unknown metric {name!r}. {nearest(name, METRICS)}")
        elif name not in from_texts:
            problems.append(f"{name!r} comes from the model, not from texts. Of texts: {', '.join(from_texts)}.")
    if problems:
        raise ConfigError(listing("These metrics cannot be computed:", problems))
    return [from_texts[name] for name in names]


def score_of(metric: Metric, measured: Measured, bootstrap: int, seed: int) -> Score:
    if measured.count == 0:
        raise DataError(f"{metric.name} divides by the references' {metric.unit}, and they hold none.")
    return Score(
        name=metric.name,
        value=measured.score([sum(column) for column in zip(*measured.statistics, strict=True)]),
        count=measured.count,
        unit=metric.unit,
        higher_is_better=metric.higher_is_better,
        signature=measured.signature,
        interval=bootstrap_interval(measured, bootstrap, seed) if bootstrap else None,
    )


def _check_texts(hypotheses: Sequence[str], references: References) -> None:
    if any(isinstance(accepted, str) for accepted in references):
        raise DataError(
            "references is a list of texts. Expected a list of accepted texts for each hypothesis: "
            "with one reference an item write [[text] for text in references]."
        )
    if len(hypotheses) != len(references):
        turned = any(len(accepted) == len(hypotheses) for accepted in references)
        raise DataError(
            f"{len(hypotheses)} hypotheses and {len(references)} lists of references. "
            "references[i] lists the accepted texts for hypotheses[i], so both need the same number."
            + (" This looks transposed: write list(zip(*references))." if turned else "")
        )
    if not hypotheses:
        raise DataError("There is nothing to score: 0 hypotheses.")
    bare = [f"item {i} (counted from 0)" for i, accepted in enumerate(references) if not accepted]
    if bare:
        raise DataError(listing("These items have no reference. Give each at least one:", bare))
