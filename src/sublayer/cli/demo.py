"""sublayer demo"""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option(help="the run folder")] = Path("runs/demo"),
) -> None:
    """Learn to pronounce English, about three minutes, then say words never seen."""
    from sublayer.cli.demonstration import demonstrate

    demonstrate(out)
