"""Parts of a file, and a file that the answers go into: what several verbs do with --shard and --out."""

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from sublayer.cli.options import named, tell_left_out

if TYPE_CHECKING:
    from sublayer.data import Pair
    from sublayer.data.reading import Left

Line = TypeVar("Line")
Part = Annotated[str | None, typer.Option(help="i/n: of n parts of the file the i-th", show_default=False)]
Into = Annotated[Path | None, typer.Option(help="a file for the answers; stopped, the same command goes on")]
APART = {"--out", "--workers"}  # what answers do not depend on


def into(
    out: Path,
    files: list[Path],
    lines: Iterable[Line],
    answers: Callable[[list[Line], int], Iterable[str]],
    first: int,
) -> None:
    """To a file that is there when it is whole; a process that was stopped goes on."""
    from sublayer.tasks.shards import Output

    words = sys.argv[1:]
    asked = [word for i, word in enumerate(words) if not {word.partition("=")[0], *words[max(0, i - 1) : i]} & APART]
    about = {"asked": asked, "bytes": sum(file.stat().st_size for file in files)}
    Output(out, about).write(lines, answers, first)


def pairs_of(run: Path, files: list[Path], skip_bad: bool, shard: str | None) -> "tuple[int, Iterator[Pair | Left]]":
    """The number of the first line and, for each line of the part, its pair or why it is none. All that is left out of
    the file is told on stderr first. The pairs are not held."""
    from sublayer.tasks.corpora import read_again
    from sublayer.tasks.shards import Shard

    recipe, names = named(run, files)
    pairs, lines = read_again(names, recipe.data, skip_bad=skip_bad)
    tell_left_out(pairs)
    return Shard.read(shard or "1/1").cut(lambda: lines)
