"""Options that several verbs have, and what they mean."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sublayer.data import Pairs
    from sublayer.tasks.ensemble import Ensemble
    from sublayer.tasks.recipe import Recipe
    from sublayer.tasks.search import Search
    from sublayer.tasks.translate import Translate

Run = Annotated[Path, typer.Argument(help="run folder")]
PairFiles = Annotated[list[Path], typer.Argument(help="pairs: one TSV or JSONL, or two parallel files")]
Beam = Annotated[int | None, typer.Option(min=1, help="hypotheses kept; 1 is greedy")]
SearchSettings = Annotated[list[str] | None, typer.Option("--set", help="search.key=value, over the run's")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="leave out bad lines, count and list them")]
Int8 = Annotated[bool, typer.Option("--int8", help="8-bit weights in large maps; told beside fp32")]
With = Annotated[list[Path] | None, typer.Option("--with", help="another run that answers together with this one")]
TrustCode = Annotated[bool, typer.Option("--trust-code", help="let the run name classes of your own")]


def recipe_of(run: Path) -> "Recipe":
    """The run's own recipe; an empty one for a folder that holds a model and no run."""
    from sublayer.tasks.recipe import Recipe
    from sublayer.tasks.recipe_file import read_recipe

    path = run / "recipe.yaml"
    return read_recipe(path) if path.exists() else Recipe()


def loaded(run: Path, others: list[Path] | None, trust_code: bool) -> "Translate | Ensemble":
    """The run, alone or together with the others."""
    from sublayer.tasks.bundle import load
    from sublayer.tasks.ensemble import Ensemble

    runs = [run, *(others or [])]
    tasks = [load(folder, trust_code=trust_code) for folder in runs]
    return Ensemble(tasks, [str(folder) for folder in runs]) if others else tasks[0]


def pairs_of(run: Path, files: list[Path], skip_bad: bool) -> "Pairs":
    """The pairs, in the run's columns, with a line on stderr for the file and for each pair that is left out."""
    from sublayer.data import read_pairs
    from sublayer.errors import ConfigError

    if len(files) > 2:
        raise ConfigError(f"{len(files)} files: write one file of pairs, or a source file and a target file.")
    path = files[0] if len(files) == 1 else (files[0], files[1])
    pairs = read_pairs(path, columns=recipe_of(run).data.columns, skip_bad=skip_bad)
    typer.echo(pairs.summary(), err=True)
    for line, reason in pairs.skipped:
        typer.echo(f"  line {line}: {reason}", err=True)
    return pairs


def searching(
    search: "Search", beam: int | None = None, nbest: int | None = None, settings: list[str] | None = None
) -> "Search":
    """The run's own search with what was asked for."""
    from sublayer.errors import ConfigError
    from sublayer.tasks.recipe_file import make_recipe

    beam = search.beam if beam is None else beam
    nbest = min(search.nbest, beam) if nbest is None else nbest
    values = search.model_dump(exclude_unset=True) | {"beam": beam, "nbest": nbest}
    if strange := [setting for setting in settings or () if not setting.startswith("search.")]:
        raise ConfigError(
            f"--set {strange[0]!r}: only the search can be changed here, for example search.min_length=5."
        )
    return make_recipe({"search": values}, settings or (), origin="the search").search
