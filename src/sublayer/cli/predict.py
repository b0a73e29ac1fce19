"""sublayer predict"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sublayer.cli.options import Beam, Int8, Run, SearchSettings, TrustCode, searching

if TYPE_CHECKING:
    from sublayer.tasks.base import Prediction
    from sublayer.tasks.search import Search
    from sublayer.tasks.translate import Translate

COMPARED = 50  # lines


def predict(
    run: Run,
    file: Annotated[Path | None, typer.Argument(help="lines; standard input by default", show_default=False)] = None,
    beam: Beam = None,
    set: SearchSettings = None,
    nbest: Annotated[int | None, typer.Option(min=1, help="answers a line: number, score, text")] = None,
    scores: Annotated[bool, typer.Option("--scores", help="score, tab, text")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="an object a line, with tokens and scores")] = False,
    engine: Annotated[str, typer.Option(help="native, ctranslate2, onnx, or auto: the fastest that fits")] = "native",
    int8: Int8 = False,
    workers: Annotated[int, typer.Option(min=1, help="processes that share a file, with one thread each")] = 1,
    trust_code: TrustCode = False,
) -> None:
    """Lines in, lines out, in order and as they come; an empty line gives an empty line."""
    from contextlib import ExitStack
    from itertools import chain, islice

    from sublayer.data import read_lines
    from sublayer.errors import DataError, listing
    from sublayer.tasks.bundle import load
    from sublayer.tasks.precision import cost
    from sublayer.tasks.workers import Workers

    _check(file, engine, int8, workers)
    tell, given = partial(typer.echo, err=True), load(run, trust_code=trust_code)
    search = searching(given.search, beam, nbest, set)
    scored = as_json or scores or search.nbest > 1
    task = _ready(given, run, engine, int8, search, scored)
    typed = file is None and sys.stdin.isatty()
    lines = read_lines(sys.stdin.buffer if file is None else file)
    if int8 and not typed:
        first = list(islice(lines, COMPARED))
        tell(str(cost(given.for_inference(), task, first)))
        lines = chain(first, lines)
    long: list[str] = []
    with ExitStack() as stack:
        if workers > 1:
            make = partial(_in_worker, trust_code, run, task.engine.name, int8, search, scored)
            task.engine = stack.enter_context(Workers(workers, make))
        window, ahead = (1 if typed else 1024), workers - 1
        answers = task.predict(lines, search=search, window=window, ahead=ahead, too_long=long.append)
        for number, found in enumerate(answers, 1):
            for line in _told(number, found, as_json, search.nbest > 1, scores):
                print(line, flush=typed)
    if long:
        raise DataError(listing("These lines are longer than the model can read, and were left empty:", long))


def _check(file: Path | None, engine: str, int8: bool, workers: int) -> None:
    from sublayer.errors import ConfigError

    if workers > 1 and file is None:
        raise ConfigError(f"--workers {workers} share the lines of a file: name one, or leave --workers out.")
    if int8 and engine != "native":
        raise ConfigError(f"--int8 is for the model itself, not for --engine {engine}: leave one of them out.")


def _ready(task: "Translate", run: Path, engine: str, int8: bool, search: "Search", scored: bool) -> "Translate":
    from sublayer.export.ways import with_engine

    if int8:
        return task.for_inference(quantize="int8")
    return with_engine(task, run, engine, search=search, scored=scored, tell=partial(typer.echo, err=True))


def _in_worker(trust_code: bool, run: Path, engine: str, int8: bool, search: "Search", scored: bool) -> "Translate":
    from sublayer.tasks.bundle import load

    return _ready(load(run, trust_code=trust_code), run, engine, int8, search, scored)


def _told(number: int, found: "list[Prediction]", as_json: bool, many: bool, scores: bool) -> Iterator[str]:
    """What is printed of a line's answers."""
    if as_json:
        yield json.dumps({"line": number, "answers": [asdict(a) for a in found]}, ensure_ascii=False)
    elif many:
        for answer in found:
            yield f"{number}\t{answer.score:.6f}\t{answer.text}"
    elif scores:
        yield f"{found[0].score:.6f}\t{found[0].text}"
    else:
        yield found[0].text
