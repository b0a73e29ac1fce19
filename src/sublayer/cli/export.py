"""sublayer export"""

from pathlib import Path
from typing import Annotated

import typer

from sublayer.cli.options import Run, TrustCode, translator


def export(
    run: Run,
    to: Annotated[str, typer.Option(help="ctranslate2, onnx or torch")],
    out: Annotated[Path | None, typer.Option(help="folder; RUN/exports/TO by default", show_default=False)] = None,
    check: Annotated[bool, typer.Option("--check", help="only tell whether it can be done, and if not, why")] = False,
    trust_code: TrustCode = False,
) -> None:
    """Write the model in another program's format, compared with the original before it is handed over."""
    from sublayer.export import ways
    from sublayer.tasks.bundle import load

    task = translator(load(run, trust_code=trust_code), "export")
    if check:
        ways.check(task, to)
        print(f"{to} can hold this model.")
        return
    folder = run / "exports" / to if out is None else out
    print(f"{folder}: {ways.export(task, to, folder, run / 'model.safetensors')}")
