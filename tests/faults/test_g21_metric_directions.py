"""G21: a score was minimised that should grow, or the other way round; unknown names were found out late."""

import pytest

from sublayer.errors import ConfigError
from sublayer.evaluate import METRICS, direction

HIGHER = {"exact", "bleu", "bleu:zh", "bleu:intl", "bleu:char", "bleu:none", "chrf"}
LOWER = {"sequence_error", "per", "wer", "cer", "edit_distance", "ter", "loss", "perplexity"}


def test_every_metric_has_its_direction():
    assert {name for name in METRICS if direction(name)} == HIGHER
    assert {name for name in METRICS if not direction(name)} == LOWER


def test_an_unknown_metric_is_an_error_that_names_the_nearest():
    with pytest.raises(ConfigError, match="Unknown metric 'perplexty'. Did you mean 'perplexity'?"):
        direction("perplexty")
    with pytest.raises(ConfigError, match="Known: bleu, bleu:char, .*wer"):
        direction("qqq")
