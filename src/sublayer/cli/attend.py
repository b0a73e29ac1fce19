"""sublayer attend"""

from pathlib import Path
from typing import Annotated

import typer

from sublayer.cli.options import Run, TrustCode, translator


def attend(
    run: Run,
    text: Annotated[str, typer.Argument(help="an input")],
    target: Annotated[str | None, typer.Option(help="an output; the model's own answer by default")] = None,
    out: Annotated[Path, typer.Option(help="where to, .html, .png or .svg")] = Path("attention.html"),
    trust_code: TrustCode = False,
) -> None:
    """Draw what the model looks at."""
    from sublayer.tasks.attend import picture
    from sublayer.tasks.bundle import load

    picture(translator(load(run, trust_code=trust_code), "attend"), text, target).save(out)
    typer.echo(f"{out}", err=True)
