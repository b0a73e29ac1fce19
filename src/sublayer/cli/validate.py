"""sublayer validate"""

from pathlib import Path
from typing import Annotated

import typer


def validate(
    recipe: Annotated[Path, typer.Argument(help="a recipe, YAML")],
    set: Annotated[list[str] | None, typer.Option(help="section.key=value, over the recipe")] = None,
) -> None:
    """Every problem of a recipe at once."""
    from sublayer.tasks.recipe_file import read_recipe

    read_recipe(recipe, set or ())
    typer.echo(f"{recipe}: fine", err=True)
