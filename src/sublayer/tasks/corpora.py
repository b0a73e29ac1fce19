"""The pairs of a recipe: of one corpus or several, held in memory or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from hashlib import file_digest, sha256
from itertools import islice
from pathlib import Path

from sublayer.data import Pair, Pairs, read_pairs
from sublayer.data.keep import Worth
from sublayer.data.mixture import Joined
from sublayer.data.reading import PairsAgain, Reading
from sublayer.data.stored import StoredIds, store
from sublayer.tasks.recipe import Data
from sublayer.tasks.translate import Translate

Example = tuple[list[int], list[int]]
AT_ONCE = 10_000  # pairs that are encoded together


def read_file(files: Sequence[str], data: Data, *, skip_bad: bool) -> Pairs:
    """The pairs of one file or two parallel ones, as they are."""
    return read_pairs(_path(files), columns=data.columns, skip_bad=skip_bad)


def read_again(files: Sequence[str], data: Data, *, skip_bad: bool) -> tuple[Pairs, Reading]:
    """The same, where the pairs are not held, and what reads the lines again, each a pair or why it is none."""
    path = _path(files)
    found = read_pairs(path, columns=data.columns, skip_bad=skip_bad, store=Path(files[0]).parent)
    assert isinstance(found.items, PairsAgain)
    return found, found.items.read


def read_corpora(files: Sequence[str], data: Data, *, skip_bad: bool) -> Pairs:
    """What is learned from: these pairs and those of the further corpora, as far as they pass the filter."""
    rules = data.filter.model_dump()
    rules["scripts"] = rules["scripts"] and tuple(script.upper() for script in rules["scripts"])
    folder = None if data.store is None else Path(data.store)
    read = partial(read_pairs, columns=data.columns, skip_bad=skip_bad, keep=Worth(**rules), store=folder)
    corpora = [read(_path(files), prefix=data.prefix)]
    corpora += [read(_path(more.train), prefix=more.prefix) for more in data.more]
    if not data.more:
        return corpora[0]
    items = Joined([corpus.items for corpus in corpora], [1.0, *(m.weight for m in data.more)], data.temperature)
    skipped = [(line, f"{corpus.name}: {reason}") for corpus in corpora for line, reason in corpus.skipped]
    return Pairs(", ".join(corpus.name for corpus in corpora), items, skipped)


def encode(task: Translate, items: Sequence[Pair]) -> Sequence[Example]:
    """Token ids of both sides: in memory, or where the pairs are not held in a file that is made once and found again.

    DataError naming each line that is longer than the limit.
    """
    if isinstance(items, Joined):
        return items.over([encode(task, part) for part in items.parts])
    if not isinstance(items, PairsAgain):
        return task.encode_pairs(items)
    path = items.store / f"{_key(task, items)}.arrow"
    if path.exists():
        return StoredIds(path)
    return store(_ids(task, items), path, max(task.source.vocab_size, task.target.vocab_size))


def _ids(task: Translate, items: PairsAgain) -> Iterator[Example]:
    rest = iter(items)
    while some := list(islice(rest, AT_ONCE)):
        yield from task.encode_pairs(some)


def _key(task: Translate, items: PairsAgain) -> str:
    """Of what the files hold, how they are read, and what the vocabularies make of it."""
    found = sha256(repr([len(items), items[:1], task.source.vocabulary, task.target.vocabulary]).encode())
    found.update(repr(task.encode_pairs(items[:1000])).encode())
    for path in items.read.paths:
        with path.open("rb") as file:
            found.update(file_digest(file, "sha256").digest())
    return found.hexdigest()[:16]


def _path(files: Sequence[str]) -> Path | tuple[Path, Path]:
    return Path(files[0]) if len(files) == 1 else (Path(files[0]), Path(files[1]))
