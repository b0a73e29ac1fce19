"""Options that several verbs have, and what they mean."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sublayer.data import Corpus
    from sublayer.tasks.base import Task
    from sublayer.tasks.search import Search
    from sublayer.tasks.translate import Translate

Run = Annotated[Path, typer.Argument(help="run folder")]
Files = Annotated[list[Path], typer.Argument(help="examples as in training: one file, or two parallel ones")]
Beam = Annotated[int | None, typer.Option(min=1, help="hypotheses kept; 1 is greedy")]
SearchSettings = Annotated[list[str] | None, typer.Option("--set", help="search.key=value, over the run's")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="leave out bad lines, count and list them")]
Int8 = Annotated[bool, typer.Option("--int8", help="8-bit weights in large maps; told beside fp32")]
With = Annotated[list[Path] | None, typer.Option("--with", help="another run that answers together with this one")]
TrustCode = Annotated[bool, typer.Option("--trust-code", help="let the run name classes of your own")]


def recipe_in(run: Path) -> Any:
    """The run's own recipe; for a folder that holds a model and no run, an empty one of its task."""
    from sublayer.models.files import read_json
    from sublayer.tasks.folder import published_task
    from sublayer.tasks.recipe_file import make_recipe, read_recipe

    path, about = run / "recipe.yaml", run / "task.json"
    if path.exists():
        return read_recipe(path)
    return make_recipe({"task": published_task(run) or read_json(about).get("task")}, origin=str(about))


def loaded(run: Path, others: list[Path] | None, trust_code: bool) -> Any:
    """The task of the run, alone or together with the others."""
    from sublayer.tasks.bundle import load
    from sublayer.tasks.ensemble import Ensemble

    runs = [run, *(others or [])]
    tasks = [load(folder, trust_code=trust_code) for folder in runs]
    if not others:
        return tasks[0]
    return Ensemble([translator(task, "--with") for task in tasks], [str(folder) for folder in runs])


def examples_of(run: Path, files: list[Path], skip_bad: bool) -> "Corpus[Any]":
    """The examples, read as the run's own, with a line on stderr for the file and for each that is left out."""
    from sublayer.tasks.jobs import job_of

    recipe, names = named(run, files)
    examples = job_of(recipe.task).read(names, recipe, skip_bad=skip_bad)
    tell_left_out(examples)
    return examples


def named(run: Path, files: list[Path]) -> tuple[Any, list[str]]:
    """The run's recipe and the names of the files. ConfigError where they are not so many as in training."""
    from sublayer.tasks.recipe_file import make_recipe

    recipe, names = recipe_in(run), [str(file) for file in files]
    make_recipe({"task": recipe.task, "data": {"train": names}}, origin="the files")
    return recipe, names


def tell_left_out(examples: "Corpus[Any]") -> None:
    typer.echo(examples.summary(), err=True)
    for line, reason in examples.skipped:
        typer.echo(f"  line {line}: {reason}", err=True)


def translator(task: "Task", *asked: str) -> "Translate":
    """ConfigError for another task, which the verb or the options are not for."""
    from sublayer.errors import ConfigError
    from sublayer.tasks.translate import Translate

    if not isinstance(task, Translate):
        are = "is" if len(asked) == 1 else "are"
        raise ConfigError(
            f"{', '.join(asked)} {are} for runs of task translate, and this one holds a {type(task).__name__}."
        )
    return task


def only_translate(task: Any, options: dict[str, object]) -> None:
    """ConfigError for options that are on, where the task is another one."""
    from sublayer.tasks.answering import Answering

    asked = [name for name, on in options.items() if on]
    if asked and not isinstance(task, Answering):
        translator(task, *asked)


def set_search(
    task: "Task", beam: int | None = None, nbest: int | None = None, settings: list[str] | None = None
) -> "Search | None":
    """Give the task its own search with what was asked for; None for a task that searches for nothing.

    ConfigError where something was asked of such a task.
    """
    from sublayer.errors import ConfigError
    from sublayer.tasks.recipe_file import make_recipe

    search: Search | None = getattr(task, "search", None)
    if search is None:
        if beam is not None or settings:
            raise ConfigError(f"{type(task).__name__} searches for nothing: leave out --beam and --set search.….")
        return None
    if strange := [setting for setting in settings or () if not setting.startswith("search.")]:
        raise ConfigError(
            f"--set {strange[0]!r}: only the search can be changed here, for example search.min_length=5."
        )
    beam = search.beam if beam is None else beam
    nbest = min(search.nbest, beam) if nbest is None else nbest
    values = search.model_dump(exclude_unset=True) | {"beam": beam, "nbest": nbest}
    task.search = make_recipe({"search": values}, settings or (), origin="the search").search  # type: ignore[attr-defined]
    return task.search  # type: ignore[attr-defined]
