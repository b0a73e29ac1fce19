"""sublayer train"""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sublayer.cli.options import SkipBad

RecipeFile = Annotated[Path | None, typer.Argument(help="a recipe, YAML", show_default=False)]
TaskName = Annotated[str | None, typer.Option(help="what is learned; translate by default", show_default=False)]
Examples = Annotated[list[str] | None, typer.Option(help="file of examples; twice for two parallel files")]
Changes = Annotated[list[str] | None, typer.Option(help="section.key=value, over the recipe")]


def train(
    recipe: RecipeFile = None,
    task: TaskName = None,
    train: Examples = None,
    valid: Annotated[list[str] | None, typer.Option(help="the same for validation")] = None,
    out: Annotated[Path | None, typer.Option(help="the run folder; runs/NAME by default")] = None,
    set: Changes = None,
    skip_bad: SkipBad = False,
    resume: Annotated[bool, typer.Option("--resume", help="continue the run in --out")] = False,
    next_epoch: Annotated[
        bool, typer.Option("--next-epoch", help="with --resume: go on there where data or batches have changed")
    ] = False,
    nproc: Annotated[int, typer.Option(min=1, help="processes that train together on this machine")] = 1,
) -> None:
    """Learn from examples. What the recipe leaves open is picked from the data."""
    from sublayer.errors import ConfigError
    from sublayer.tasks.recipe_file import read_yaml

    if recipe is None and not train and not resume:
        raise ConfigError("Nothing to learn from: name a recipe, or a file of pairs with --train.")
    if next_epoch and not resume:
        raise ConfigError("--next-epoch says how a run is continued: add --resume.")
    if out is None:
        if recipe is None:
            raise ConfigError("Say where the run is: --out DIR.")
        out = Path("runs") / recipe.stem
    begun = (out / "recipe.yaml").exists()
    resume = resume or (begun and int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) > 0)  # torchrun starts anew
    held = read_yaml(out / "recipe.yaml").get("task") if resume and begun else None
    chosen = asked_recipe(recipe, task, train, valid, skip_bad, set, held)
    if nproc > 1 and "RANK" not in os.environ:
        from sublayer.train.launch import launch

        raise typer.Exit(launch(nproc, sys.argv[1:]))
    learn(chosen, out, resume, next_epoch)


def asked_recipe(
    recipe: Path | None,
    task: str | None,
    train: list[str] | None,
    valid: list[str] | None,
    skip_bad: bool,
    changes: list[str] | None,
    otherwise: str | None = None,
) -> Any:
    """The recipe of the file, of the task `otherwise` where nothing says it, with what the options change."""
    from sublayer.tasks.recipe_file import make_recipe, read_yaml

    values: dict[str, Any] = {} if recipe is None else read_yaml(recipe)
    if task is not None or otherwise is not None:
        values["task"] = task or values.get("task", otherwise)
    for name, files in (("train", train), ("valid", valid)):
        if files:
            values.setdefault("data", {})[name] = files
    if skip_bad:
        values.setdefault("data", {})["skip_bad"] = True
    return make_recipe(values, changes or (), origin="the command line" if recipe is None else str(recipe))


def learn(chosen: Any, out: Path, resume: bool, next_epoch: bool = False) -> Any:
    """Train with a bar, and say what to type next."""
    from sublayer.cli.console import Terminal
    from sublayer.tasks.fit import fit
    from sublayer.train.stop import Stopped

    first = os.environ.get("RANK", "0") == "0"
    with Terminal() as terminal:
        try:
            task = fit(chosen, out, terminal, resume=resume, next_epoch=next_epoch)
        except KeyboardInterrupt as end:
            if first and (out / "recipe.yaml").exists():
                terminal.message(f"Stopped. Go on with: sublayer train --resume --out {out}")
            if isinstance(end, Stopped):
                raise typer.Exit(128 + end.number) from None
            raise
        if first:
            terminal.message(f"Done: {out}\nNext: sublayer predict {out} FILE   sublayer evaluate {out} FILE")
    return task
