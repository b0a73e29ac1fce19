"""sublayer show"""

from pathlib import Path
from typing import Annotated

import typer


def show(
    what: Annotated[Path, typer.Argument(help="run folder or recipe")],
    text: Annotated[str | None, typer.Option(help="an input to send through the model")] = None,
) -> None:
    """Shapes through the model, parameters, what is tied."""
    from sublayer.tasks.describe import describe

    print(describe(what, text))
