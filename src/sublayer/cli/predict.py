"""sublayer predict"""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from sublayer.cli.options import Beam, Run, SearchSettings, TrustCode, searching


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
    from dataclasses import asdict
    from functools import partial

    from sublayer.data import read_lines
    from sublayer.errors import DataError, listing
    from sublayer.export.ways import with_engine
    from sublayer.tasks.bundle import load

    task = load(run, trust_code=trust_code)
    search = searching(task.search, beam, nbest, set)
    tell = partial(typer.echo, err=True)
    task = with_engine(task, run, engine, search=search, scored=as_json or scores or search.nbest > 1, tell=tell)
    typed = file is None and sys.stdin.isatty()
    lines = read_lines(sys.stdin.buffer if file is None else file)
    long: list[str] = []
    answers = task.predict(lines, search=search, window=1 if typed else 1024, too_long=long.append)
    for number, found in enumerate(answers, 1):
        if as_json:
            print(json.dumps({"line": number, "answers": [asdict(a) for a in found]}, ensure_ascii=False))
        elif search.nbest > 1:
            for answer in found:
                print(f"{number}\t{answer.score:.6f}\t{answer.text}")
        elif scores:
            print(f"{found[0].score:.6f}\t{found[0].text}")
        else:
            print(found[0].text)
        if typed:
            sys.stdout.flush()
    if long:
        raise DataError(listing("These lines are longer than the model can read, and were left empty:", long))
