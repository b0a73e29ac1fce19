"""sublayer show"""

from pathlib import Path
from typing import Annotated

import typer

from sublayer.cli.options import TrustCode


def show(
    what: Annotated[Path, typer.Argument(help="run folder or recipe")],
    text: Annotated[str | None, typer.Option(help="an input to send through the model")] = None,
    curves: Annotated[
        Path | None, typer.Option(help="an .svg or .png for the run's metrics, told instead", show_default=False)
    ] = None,
    others: Annotated[list[Path] | None, typer.Option("--with", help="another run beside it, for --curves")] = None,
    trust_code: TrustCode = False,
) -> None:
    """Shapes through the model, parameters, what is tied; or how runs went."""
    if curves is not None:
        from sublayer.inspect.curves import compared, read_metrics, save_curves

        runs = {str(run): read_metrics(run) for run in (what, *(others or ()))}
        save_curves(runs, curves)
        print("\n".join(compared(runs)))
        return
    from sublayer.tasks.bundle import load
    from sublayer.tasks.describe import describe
    from sublayer.tasks.prepare import prepare
    from sublayer.tasks.recipe_file import read_recipe
    from sublayer.train.report import Listeners

    if what.is_dir():
        task = load(what, trust_code=trust_code)
    else:
        task = prepare(read_recipe(what), Listeners([])).task
    print(describe(task, text))
