"""sublayer import"""

from pathlib import Path
from typing import Annotated

import typer


def bring(
    checkpoint: Annotated[str, typer.Argument(help="folder of a published checkpoint, or its name on the Hub")],
    out: Annotated[Path, typer.Argument(help="the folder to write")],
    revision: Annotated[str | None, typer.Option(help="branch, tag or commit, of a name", show_default=False)] = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="a classifier of two texts, a tab between them")] = False,
    languages: Annotated[
        tuple[str, str] | None, typer.Option(help="of a model for several: eng_Latn fra_Latn", show_default=False)
    ] = None,
) -> None:
    """Make a run folder of a published checkpoint, compared with the original before it is handed over."""
    from sublayer.tasks.importing import Wanted, bring

    told = bring(checkpoint, out, revision, Wanted(2 if pairs else 1, languages))
    print("\n".join([*told, f"Next: sublayer predict {out} FILE"]))
