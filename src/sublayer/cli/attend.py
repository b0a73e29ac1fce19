"""sublayer attend"""

from pathlib import Path
from typing import Annotated

import typer

from sublayer.cli.options import Run, TrustCode


def attend(
    run: Run,
    text: Annotated[str, typer.Argument(help="an input; of a pair of texts both, a tab between them")],
    target: Annotated[str | None, typer.Option(help="an output; the model's own answer by default")] = None,
    out: Annotated[Path, typer.Option(help="where to, .html, .png or .svg")] = Path("attention.html"),
    words: Annotated[bool, typer.Option("--words", help="between words, not tokens")] = False,
    trust_code: TrustCode = False,
) -> None:
    """Draw what the model looks at."""
    from sublayer.tasks.attend import picture
    from sublayer.tasks.bundle import load

    picture(load(run, trust_code=trust_code), text, target, words=words).save(out)
    typer.echo(f"{out}", err=True)
