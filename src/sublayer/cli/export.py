"""sublayer export"""

from pathlib import Path
from typing import Annotated

import typer

from sublayer.cli.options import Run, TrustCode, translator


def export(
    run: Run,
    to: Annotated[str, typer.Option(help="hf, ctranslate2, onnx or torch")],
    out: Annotated[Path | None, typer.Option(help="folder; RUN/exports/TO by default", show_default=False)] = None,
    check: Annotated[bool, typer.Option("--check", help="only tell whether it can be done, and if not, why")] = False,
    trust_code: TrustCode = False,
) -> None:
    """Write the model in another program's format, compared with the original before it is handed over."""
    from sublayer.export import huggingface, ways
    from sublayer.tasks.bundle import load

    folder = run / "exports" / to if out is None else out
    if to == "hf":
        told = huggingface.export(load(run, trust_code=trust_code), folder, check=check)
        print(told if check else f"{folder}: {told}")
        return
    task = translator(load(run, trust_code=trust_code), f"--to {to}")
    if check:
        ways.check(task, to)
        print(f"{to} can hold this model.")
        return
    print(f"{folder}: {ways.export(task, to, folder, run / 'model.safetensors')}")
