"""Corpus BLEU, chrF and TER, by sacrebleu, on detokenised text. The signature is sacrebleu's own."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from sublayer.evaluate.score import Measured, References


def bleu(hypotheses: Sequence[str], references: References, tokenize: str = "13a") -> Measured:
    """BLEU (Papineni et al. 2002; Post 2018). `tokenize` is sacrebleu's: "none" takes text as it is."""
    from sacrebleu.metrics.bleu import BLEU

    # force: do not warn of tokenised text where it is meant to be
    return _measured(BLEU(tokenize=tokenize, force=tokenize == "none"), hypotheses, references)


def chrf(hypotheses: Sequence[str], references: References) -> Measured:
    """chrF2: character n-grams up to 6, no word n-grams (Popović 2015, 2016)."""
    from sacrebleu.metrics.chrf import CHRF

    return _measured(CHRF(), hypotheses, references)


def ter(hypotheses: Sequence[str], references: References) -> Measured:
    """Translation edit rate (Snover et al. 2006)."""
    from sacrebleu.metrics.ter import TER

    return _measured(TER(), hypotheses, references)


def _measured(metric: Any, hypotheses: Sequence[str], references: References) -> Measured:
    # sacrebleu wants a list of all first references, of all second ones, ...; None where an item has fewer
    streams = list(zip_longest(*references))
    statistics = metric._extract_corpus_statistics(hypotheses, streams)
    return Measured(
        statistics,
        lambda sums: metric._compute_score_from_stats(list(sums)).score,
        len(hypotheses),
        str(metric.get_signature()),
    )
