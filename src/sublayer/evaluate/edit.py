"""Metrics that compare an item with the nearest of its references: edits, error rates, exact matches."""

from collections.abc import Callable, Hashable, Sequence

from sublayer.evaluate.score import Measured, References, reference_count

Split = Callable[[str], Sequence[str]]  # str.split for words or phonemes, list for characters


def edit_distance(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """The fewest insertions, deletions and substitutions that turn a into b (Levenshtein 1966).

    One row at a time (Wagner and Fischer 1974): row[j] is the distance of a[:i] to b[:j].
    """
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, left = row[0], i
        row[0] = i
        for j, y in enumerate(b, 1):
            above = row[j]
            left = diagonal if x == y else 1 + min(diagonal, above, left)
            row[j], diagonal = left, above
    return row[-1]


def error_rate(hypotheses: Sequence[str], references: References, split: Split) -> Measured:
    """100 · Σ edits / Σ reference length, each item against its nearest reference.

    Of two equally near references the shorter one counts, so that their order changes nothing.
    """
    rows = [_nearest(split(h), [split(r) for r in rs]) for h, rs in zip(hypotheses, references, strict=True)]
    signature = f"{reference_count(references)}|ref:nearest|tok:{'char' if split is list else 'space'}"
    return Measured(rows, _percent, sum(length for _, length in rows), signature)


def mean_edits(hypotheses: Sequence[str], references: References) -> Measured:
    """Σ edits / items, in characters (Unicode code points), each item against its nearest reference."""
    edits = [_nearest(h, rs)[0] for h, rs in zip(hypotheses, references, strict=True)]
    signature = f"{reference_count(references)}|ref:nearest|tok:char"
    return Measured([(n, 1) for n in edits], lambda sums: sums[0] / sums[1], len(edits), signature)


def matches(hypotheses: Sequence[str], references: References, counted: bool) -> Measured:
    """100 · (items that equal one of their references, or that equal none) / items.

    Blanks at either end of a text aside, the texts must be the same.
    """
    found = [h.strip() in {r.strip() for r in accepted} for h, accepted in zip(hypotheses, references, strict=True)]
    rows = [(match == counted, 1) for match in found]
    return Measured(rows, _percent, len(rows), f"{reference_count(references)}|ref:any")


def _nearest(hypothesis: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[int, int]:
    """(edits, length) of the nearest reference."""
    return min((edit_distance(hypothesis, reference), len(reference)) for reference in references)


def _percent(sums: Sequence[float]) -> float:
    part, whole = sums
    return 100 * part / max(whole, 1)  # a bootstrap sample may hold empty references only
