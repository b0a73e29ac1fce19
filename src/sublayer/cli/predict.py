"""sublayer predict"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sublayer.cli.options import Beam, Run, SearchSettings, TrustCode, searching

if TYPE_CHECKING:
    from sublayer.tasks.base import Prediction


def predict(
    run: Run,
    file: Annotated[Path | None, typer.Argument(help="lines; standard input by default", show_default=False)] = None,
    beam: Beam = None,
    set: SearchSettings = None,
    nbest: Annotated[int | None, typer.Option(min=1, help="answers a line: number, score, text")] = None,
    scores: Annotated[bool, typer.Option("--scores", help="score, tab, text")] = False,
    alignments: Annotated[
        bool, typer.Option("--alignments", help="after the text the words it comes from: 0-0 2-1, source and target")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="an object a line, with tokens and scores")] = False,
    engine: Annotated[str, typer.Option(help="native, ctranslate2, onnx, or auto: the fastest that fits")] = "native",
    trust_code: TrustCode = False,
) -> None:
    """Lines in, lines out, in order and as they come; an empty line gives an empty line."""
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
    window = 1 if typed else 1024
    answers = task.predict(lines, search=search, alignments=alignments, window=window, too_long=long.append)
    for number, found in enumerate(answers, 1):
        if as_json:
            print(json.dumps({"line": number, "answers": [_record(a) for a in found]}, ensure_ascii=False))
        else:
            for answer in found if search.nbest > 1 else found[:1]:
                before = [str(number)] if search.nbest > 1 else []
                print(*before, *_fields(answer, scores or search.nbest > 1, alignments), sep="\t")
        if typed:
            sys.stdout.flush()
    if long:
        raise DataError(listing("These lines are longer than the model can read, and were left empty:", long))


def _fields(answer: "Prediction", scores: bool, alignments: bool) -> list[str]:
    aligned = "" if answer.alignment is None else answer.alignment.pharaoh()
    return [*([f"{answer.score:.6f}"] if scores else []), answer.text, *([aligned] if alignments else [])]


def _record(answer: "Prediction") -> dict[str, Any]:
    """All of an answer; its alignment where it was asked for."""
    return {name: value for name, value in asdict(answer).items() if name != "alignment" or value is not None}
