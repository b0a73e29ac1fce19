"""sublayer predict"""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer


def predict(
    run: Annotated[Path, typer.Argument(help="run folder")],
    file: Annotated[Path | None, typer.Argument(help="lines; standard input by default", show_default=False)] = None,
    beam: Annotated[int | None, typer.Option(min=1, help="hypotheses kept; 1 is greedy")] = None,
    nbest: Annotated[int | None, typer.Option(min=1, help="answers a line: number, score, text")] = None,
    scores: Annotated[bool, typer.Option("--scores", help="score, tab, text")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="an object a line, with tokens and scores")] = False,
) -> None:
    """Lines in, lines out, in order and as they come; an empty line gives an empty line."""
    from dataclasses import asdict

    from sublayer.cli.searching import changed
    from sublayer.data import read_lines
    from sublayer.tasks.bundle import load

    task = load(run)
    search = changed(task.search, beam=beam, nbest=nbest)
    typed = file is None and sys.stdin.isatty()
    lines = read_lines(sys.stdin.buffer if file is None else file)
    for number, found in enumerate(task.predict(lines, search=search, window=1 if typed else 1024), 1):
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
