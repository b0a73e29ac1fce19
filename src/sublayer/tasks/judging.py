"""What scores of given targets need of each pair: found in one go, or for parts of a file and joined as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sublayer.data.examples import Pair, group
from sublayer.data.read import read_lines
from sublayer.data.reading import Left
from sublayer.errors import DataError, listing
from sublayer.evaluate import Score, evaluate_texts
from sublayer.tasks.base import Prediction, Scored
from sublayer.tasks.teaching import likelihood
from sublayer.text import AnyTokenizer

FROM_MODEL = ("loss", "perplexity")

Likely = tuple[float, int]
"""The log-probability of a target, and over how many tokens."""


class Judge(Protocol):
    target: AnyTokenizer

    def score(self, pairs: Iterable[Pair]) -> Iterator[Scored]: ...

    def predict(self, inputs: Iterable[str]) -> Iterator[list[Prediction]]: ...

    def read_pairs(self, pairs: Sequence[Pair]) -> Any: ...


def judged(
    pairs: Sequence[Pair],
    metrics: Sequence[str],
    kind: str,
    likely: Callable[[Sequence[Pair]], Iterable[Likely]],
    answers: Callable[[Sequence[str]], Iterable[str]],
    bootstrap: int,
) -> list[Score]:
    """A score a metric, of how likely the pairs are and of the answers to the sources, of which every listed target is
    right. Each of the two is asked for where a metric needs it. DataError where there are no pairs."""
    if not pairs:
        raise DataError("There is nothing to evaluate: 0 pairs.")
    scores: dict[str, Score] = {}
    if any(name in FROM_MODEL for name in metrics):
        scores = {score.name: score for score in likelihood(likely(pairs), kind)}
    if texts := [name for name in metrics if name not in FROM_MODEL]:
        grouped = group(pairs)
        said = list(answers([source for source, _ in grouped]))
        found = evaluate_texts(texts, said, [right for _, right in grouped], bootstrap=bootstrap)
        scores |= {score.name: score for score in found}
    return [scores[name] for name in metrics]


def evidence(task: Judge, metrics: Sequence[str], lines: Sequence[Pair | Left], first: int) -> Iterator[str]:
    """For each line of a part, from number `first`, what `judged` needs of it, as JSON: `answer` for metrics of texts,
    `logp` and `tokens` for the others. See `told` for errors."""

    def ask(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = [{} for _ in pairs]
        if any(name not in FROM_MODEL for name in metrics):
            sources = list(dict.fromkeys(pair.source for pair in pairs))
            said = dict(zip(sources, task.predict(sources), strict=True))
            found = [{"answer": said[pair.source][0].text} for pair in pairs]
        if any(name in FROM_MODEL for name in metrics):
            for each, target in zip(found, task.score(pairs), strict=True):
                each |= {"logp": target.logp, "tokens": len(target.token_logps)}
        return found

    return told(task, lines, first, ask, lambda line, found: json.dumps({"line": line} | found, ensure_ascii=False))


def joined(path: Path, pairs: Sequence[Pair], metrics: Sequence[str], kind: str, bootstrap: int) -> list[Score]:
    """The scores of a file whose parts' `evidence` stands in `path`, one part behind the other. DataError where a pair
    has none, or none of what a metric needs."""
    held: dict[int, Mapping[str, Any]] = {}
    for number, text in enumerate(read_lines(path), 1):
        try:
            held |= {json.loads(text)["line"]: json.loads(text)} if text else {}
        except (ValueError, TypeError, KeyError):
            raise DataError(f"{path}, line {number}: {text[:40]!r} is not what `evaluate --out` writes.") from None
    needed = {"logp" if name in FROM_MODEL else "answer" for name in metrics}
    lacking = {pair.line: needed - held.get(pair.line, {}).keys() for pair in pairs}
    if missing := [line for line, lacks in lacking.items() if lacks]:
        raise DataError(
            f"{path} lacks {' and '.join(sorted(set().union(*lacking.values())))} for {len(missing)} of {len(pairs)} "
            f"pairs, the first in line {missing[0]}: join all parts of the same evaluation, with --metric as now."
        )
    said: dict[str, str] = {}
    for pair in pairs:
        said.setdefault(pair.source, held[pair.line].get("answer", ""))

    def likely(pairs: Sequence[Pair]) -> Iterator[Likely]:
        return ((held[pair.line]["logp"], held[pair.line]["tokens"]) for pair in pairs)

    return judged(pairs, metrics, kind, likely, lambda sources: map(said.__getitem__, sources), bootstrap)


def told(
    task: Judge,
    lines: Sequence[Pair | Left],
    first: int,
    ask: Callable[[Sequence[Pair]], Iterable[Any]],
    write: Callable[[int, Any], str],
) -> Iterator[str]:
    """A line for each of these, which begin with number `first`: what `ask` finds of its pair, written; an empty one
    where it is no pair. DataError, after the last of them, names the pairs that are longer than the model can read:
    their lines are empty too."""
    pairs = [line for line in lines if isinstance(line, Pair)]
    problems: list[str] = []
    try:
        asked = list(ask(pairs))
    except DataError:
        pairs = [pair for pair in pairs if _fits(task, pair, problems)]
        asked = list(ask(pairs))
    found = dict(zip((pair.line for pair in pairs), asked, strict=True))
    for number in range(first, first + len(lines)):
        yield write(number, found[number]) if number in found else ""
    if problems:
        raise DataError(listing("These pairs are longer than the model can read, and were left empty:", problems))


def _fits(task: Judge, pair: Pair, problems: list[str]) -> bool:
    try:
        task.read_pairs([pair])
    except DataError as error:
        problems.append(str(error))
        return False
    return True
