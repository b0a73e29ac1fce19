"""What can go wrong, and how it is told: what came, what was expected, what to write instead."""

import difflib
from collections.abc import Iterable, Sequence


class SublayerError(Exception):
    """Every error that the user can mend. The message says how."""


class ConfigError(SublayerError, ValueError):
    """A setting, or a combination of settings, that cannot be."""


class ShapeError(SublayerError, ValueError):
    """A tensor of a shape or type that does not fit."""


class DataError(SublayerError, ValueError):
    """A line, a file or a text that cannot be read as what it should be."""


class CheckpointError(SublayerError, ValueError):
    """A run folder or a weight file that does not hold what it should."""


class DivergedError(SublayerError, ArithmeticError):
    """A training whose loss is no number any more, or has risen further than it may."""


class ExportError(SublayerError, RuntimeError):
    """A model that was exported does not compute what the original computes."""


def listing(title: str, problems: Sequence[str], *, most: int = 20) -> str:
    """All problems under one title, so that they can be mended in one go."""
    shown = [f"  - {problem}" for problem in problems[:most]]
    if len(problems) > most:
        shown.append(f"  … and {len(problems) - most} more")
    return "\n".join([title, *shown])


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint to append to 'unknown …': the nearest known word, or all of them."""
    words = list(known)
    close = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    return f"Did you mean {close[0]!r}?" if close else f"Known: {', '.join(sorted(words))}."
