"""Options that several verbs have, and what they mean."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sublayer.data import Pairs
    from sublayer.tasks.recipe import Search

Run = Annotated[Path, typer.Argument(help="run folder")]
PairFiles = Annotated[list[Path], typer.Argument(help="pairs: one TSV or JSONL, or two parallel files")]
Beam = Annotated[int | None, typer.Option(min=1, help="hypotheses kept; 1 is greedy")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="leave out bad lines, count and list them")]
TrustCode = Annotated[bool, typer.Option("--trust-code", help="let the run name classes of your own")]


def pairs_of(files: list[Path], skip_bad: bool) -> "Pairs":
    """The pairs, with a line on stderr for the file and for each pair that is left out."""
    from sublayer.data import read_pairs
    from sublayer.errors import ConfigError

    if len(files) > 2:
        raise ConfigError(f"{len(files)} files: write one file of pairs, or a source file and a target file.")
    pairs = read_pairs(files[0] if len(files) == 1 else (files[0], files[1]), skip_bad=skip_bad)
    typer.echo(pairs.summary(), err=True)
    for line, reason in pairs.skipped:
        typer.echo(f"  line {line}: {reason}", err=True)
    return pairs


def searching(search: "Search", beam: int | None, nbest: int | None = None) -> "Search":
    """The run's own search with what was asked for."""
    from sublayer.errors import ConfigError

    beam = search.beam if beam is None else beam
    nbest = min(search.nbest, beam) if nbest is None else nbest
    if nbest > beam:
        raise ConfigError(f"--nbest {nbest} is more than --beam {beam} can give. Write --beam {nbest} or wider.")
    return search.model_copy(update={"beam": beam, "nbest": nbest})
