"""sublayer average"""

from pathlib import Path
from typing import Annotated

import typer

from sublayer.cli.options import Run, TrustCode, recipe_in


def average(
    run: Run,
    last: Annotated[int | None, typer.Option(min=1, help="of the newest N; all by default", show_default=False)] = None,
    out: Annotated[Path | None, typer.Option(help="folder; RUN/averaged by default", show_default=False)] = None,
    trust_code: TrustCode = False,
) -> None:
    """A model whose weights are the mean of a run's checkpoints."""
    from sublayer.errors import ConfigError
    from sublayer.models.store import place
    from sublayer.nn import merge
    from sublayer.tasks.bundle import load
    from sublayer.tasks.sections import Train
    from sublayer.tasks.tuning import tune
    from sublayer.train.average import average
    from sublayer.train.state import checkpoints

    found = checkpoints(run / "checkpoints")[-(last or 0) :]
    if len(found) < (last or 2):
        raise ConfigError(
            f"{run} has {len(found)} checkpoints, and {last or '2 or more'} are needed: "
            f"train with --set train.keep={last or 10}."
        )
    task = load(run, weights=False, trust_code=trust_code)
    tune(task.model, recipe_in(run).train or Train())
    place(task.model, average([folder / "model.safetensors" for folder in found]), str(run / "checkpoints"))
    merge(task.model)
    folder = run / "averaged" if out is None else out
    task.save_pretrained(folder)
    steps = ", ".join(f"{int(f.name.removeprefix('step-')):,}" for f in found)
    print(f"{folder}: mean of steps {steps}")
