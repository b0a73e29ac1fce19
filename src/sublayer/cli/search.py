"""sublayer search"""

from pathlib import Path
from typing import Annotated

import typer

from sublayer.cli.options import SkipBad
from sublayer.cli.train import Changes, Examples, RecipeFile, TaskName, asked_recipe


def search(
    space: Annotated[Path, typer.Option(help="what is tried, YAML: recipe keys with choices or ranges")],
    recipe: RecipeFile = None,
    task: TaskName = None,
    train: Examples = None,
    valid: Annotated[list[str] | None, typer.Option(help="the same for validation")] = None,
    out: Annotated[Path | None, typer.Option(help="folder of the trials; runs/SPACE by default")] = None,
    trials: Annotated[int, typer.Option(min=1, help="how many, those that are pruned counted")] = 20,
    set: Changes = None,
    skip_bad: SkipBad = False,
) -> None:
    """The settings that score best, found by training with many. Stopped, the same command goes on."""
    import os

    from sublayer.cli.console import Terminal
    from sublayer.errors import ConfigError
    from sublayer.tasks.describe import columns
    from sublayer.tasks.space import options
    from sublayer.tasks.trials import Search
    from sublayer.train.stop import Stopped

    if recipe is None and not train:
        raise ConfigError("Nothing to train: name a recipe, or a file of examples with --train.")
    if "RANK" in os.environ:
        raise ConfigError("A search trains in one process: start it without torchrun.")
    out = Path("runs") / space.stem if out is None else out
    with Terminal() as terminal:
        searched = Search(asked_recipe(recipe, task, train, valid, skip_bad, set), space, out, terminal)
        try:
            tried = searched.run(trials)
        except Stopped as end:
            terminal.message("Stopped. The same command goes on.")
            raise typer.Exit(128 + end.number) from None
        best = searched.study.best()
        if best is None:
            raise ConfigError(f"None of the {len(tried)} trials came to its end: look above at what they say.")
        rows = [(str(t.number), *map(_said, (t.value, t.state, *t.settings.values()))) for t in tried]
        print("\n".join(columns([("trial", searched.metric, "state", *searched.space), *rows])))
        print(options(best.settings))
        terminal.message(f"Best: {out}/trial-{best.number}. Its recipe: {out}/best.yaml")


def _said(value: object) -> str:
    return "" if value is None else f"{value:.5g}" if isinstance(value, float) else str(value)
