"""sublayer train"""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sublayer.cli.options import SkipBad


def train(
    recipe: Annotated[Path | None, typer.Argument(help="a recipe, YAML", show_default=False)] = None,
    task: Annotated[str | None, typer.Option(help="what is learned; translate by default", show_default=False)] = None,
    train: Annotated[list[str] | None, typer.Option(help="file of examples; twice for two parallel files")] = None,
    valid: Annotated[list[str] | None, typer.Option(help="the same for validation")] = None,
    out: Annotated[Path | None, typer.Option(help="the run folder; runs/NAME by default")] = None,
    set: Annotated[list[str] | None, typer.Option(help="section.key=value, over the recipe")] = None,
    skip_bad: SkipBad = False,
    resume: Annotated[bool, typer.Option("--resume", help="continue the run in --out")] = False,
    next_epoch: Annotated[
        bool, typer.Option("--next-epoch", help="with --resume: go on there where data or batches have changed")
    ] = False,
    nproc: Annotated[int, typer.Option(min=1, help="processes that train together on this machine")] = 1,
) -> None:
    """Learn from examples. What the recipe leaves open is picked from the data."""
    from sublayer.errors import ConfigError
    from sublayer.tasks.recipe_file import make_recipe, read_yaml

    values: dict[str, Any] = {} if recipe is None else read_yaml(recipe)
    if task is not None:
        values["task"] = task
    for name, files in (("train", train), ("valid", valid)):
        if files:
            values.setdefault("data", {})[name] = files
    if skip_bad:
        values.setdefault("data", {})["skip_bad"] = True
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
    if resume and begun:
        values.setdefault("task", read_yaml(out / "recipe.yaml").get("task", "translate"))
    chosen = make_recipe(values, set or (), origin="the command line" if recipe is None else str(recipe))
    if nproc > 1 and "RANK" not in os.environ:
        from sublayer.train.launch import launch

        raise typer.Exit(launch(nproc, sys.argv[1:]))
    learn(chosen, out, resume, next_epoch)


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
