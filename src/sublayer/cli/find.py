"""sublayer find"""

import typer

from sublayer.cli.options import SkipBad
from sublayer.cli.train import Changes, Examples, RecipeFile, TaskName, asked_recipe


def find(
    recipe: RecipeFile = None,
    task: TaskName = None,
    train: Examples = None,
    set: Changes = None,
    skip_bad: SkipBad = False,
) -> None:
    """A size of batches and a learning rate that suit a recipe, found by trying; printed as options of `train`."""
    from sublayer.cli.console import Terminal
    from sublayer.errors import ConfigError
    from sublayer.tasks.finding import find as tried

    if recipe is None and not train:
        raise ConfigError("Nothing to try on: name a recipe, or a file of examples with --train.")
    chosen = asked_recipe(recipe, task, train, None, skip_bad, set)
    with Terminal() as terminal:
        found = tried(chosen, terminal)
    typer.echo(str(found))
