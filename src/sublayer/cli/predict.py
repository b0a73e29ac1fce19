"""sublayer predict"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sublayer.cli.options import Beam, Run, SearchSettings, TrustCode, set_search, translator


def predict(
    run: Run,
    file: Annotated[Path | None, typer.Argument(help="lines; standard input by default", show_default=False)] = None,
    beam: Beam = None,
    set: SearchSettings = None,
    nbest: Annotated[int | None, typer.Option(min=1, help="answers a line: number, score, text")] = None,
    scores: Annotated[bool, typer.Option("--scores", help="score, tab, text")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="an object a line, with tokens and scores")] = False,
    engine: Annotated[str, typer.Option(help="native, ctranslate2, onnx, or auto: the fastest that fits")] = "native",
    trust_code: TrustCode = False,
) -> None:
    """Lines in, lines out, in order and as they come; an empty line gives an empty line."""
    from functools import partial

    from sublayer.data import read_lines
    from sublayer.export.ways import with_engine
    from sublayer.tasks.base import Written
    from sublayer.tasks.bundle import load

    task = load(run, trust_code=trust_code)
    search = set_search(task, beam, nbest, set)
    how = Written(nbest or 1 if search is None else search.nbest, scores, as_json)
    if engine == "native":
        task = task.for_inference()
    else:
        scored = as_json or scores or how.nbest > 1
        task = with_engine(translator(task, "--engine"), run, engine, scored=scored, tell=partial(typer.echo, err=True))
    typed = file is None and sys.stdin.isatty()
    lines = read_lines(sys.stdin.buffer if file is None else file)
    for line in task.write(lines, how, window=1 if typed else 1024):
        print(line)
        if typed:
            sys.stdout.flush()
