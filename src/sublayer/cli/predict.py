"""sublayer predict"""

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sublayer.cli.options import Beam, Int8, Run, SearchSettings, TrustCode, With, loaded, searching

if TYPE_CHECKING:
    from sublayer.tasks.answering import Answering
    from sublayer.tasks.base import Prediction
    from sublayer.tasks.search import Search

COMPARED = 50  # lines


def predict(
    run: Run,
    file: Annotated[Path | None, typer.Argument(help="lines; standard input by default", show_default=False)] = None,
    others: With = None,
    beam: Beam = None,
    set: SearchSettings = None,
    nbest: Annotated[int | None, typer.Option(min=1, help="answers a line: number, score, text")] = None,
    scores: Annotated[bool, typer.Option("--scores", help="score, tab, text")] = False,
    alignments: Annotated[bool, typer.Option("--alignments", help="text, tab, source-target words: 0-0 2-1")] = False,
    alternatives: Annotated[
        int | None, typer.Option(min=1, help="so many tokens after search.prefix: number, probability, token, text")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="an object a line, with tokens and scores")] = False,
    stream: Annotated[bool, typer.Option("--stream", help="each answer while it is written")] = False,
    engine: Annotated[str, typer.Option(help="native, ctranslate2, onnx, or auto: the fastest that fits")] = "native",
    int8: Int8 = False,
    workers: Annotated[int, typer.Option(min=1, help="processes that share a file, with one thread each")] = 1,
    trust_code: TrustCode = False,
) -> None:
    """Lines in, lines out, in order and as they come; an empty line gives an empty line."""
    from contextlib import ExitStack
    from itertools import chain, islice

    from sublayer.data import read_lines
    from sublayer.errors import ConfigError, DataError, listing
    from sublayer.tasks.precision import cost
    from sublayer.tasks.workers import Workers

    unlike = {"--engine": engine != "native", "--scores": scores, "--alignments": alignments, "--workers": workers > 1}
    _apart("--stream", stream, unlike | {"--alternatives": alternatives, "--json": as_json})
    _apart("--alternatives", alternatives, unlike)
    _apart("--with", others, {"--engine": engine != "native", "--int8": int8, "--workers": workers > 1})
    _apart("--int8", int8, {"--engine": engine != "native"})
    if workers > 1 and file is None:
        raise ConfigError(f"--workers {workers} share the lines of a file: name one, or leave --workers out.")
    given: Any = loaded(run, others, trust_code)
    search = searching(given.search, beam, nbest, set)
    scored = as_json or scores or search.nbest > 1
    task = _ready(given, run, engine, int8, search, scored)
    typed = file is None and sys.stdin.isatty()
    lines = read_lines(sys.stdin.buffer if file is None else file)
    if int8 and not typed:
        first = list(islice(lines, COMPARED))
        typer.echo(str(cost(given.for_inference(), task, first)), err=True)
        lines = chain(first, lines)
    long: list[str] = []
    with ExitStack() as stack:
        if workers > 1:
            make = partial(_in_worker, trust_code, run, task.engine.name, int8, search, scored)
            task.engine = stack.enter_context(Workers(workers, make))
        if stream:
            shown = _streamed(task, lines, search, long)
        elif alternatives:
            shown = _alternatives(task, lines, search, alternatives, as_json, long)
        else:
            window, ahead = (1 if typed else 1024), workers - 1
            options: Any = dict(alignments=alignments, window=window, ahead=ahead, too_long=long.append)
            found = task.predict(lines, search=search, **options)
            shown = _answers(found, search.nbest > 1, scores, alignments, as_json)
        for text in shown:
            print(text, end="", flush=typed or stream)
    if long:
        raise DataError(listing("These lines are longer than the model can read, and were left empty:", long))


def _apart(option: str, given: object, others: dict[str, Any]) -> None:
    from sublayer.errors import ConfigError

    if given and (wrong := [name for name, on in others.items() if on]):
        raise ConfigError(f"{option} does not go together with {', '.join(wrong)}: leave one or the other out.")


def _ready(task: Any, run: Path, engine: str, int8: bool, search: "Search", scored: bool) -> Any:
    """The task in inference form, or with another engine."""
    from sublayer.export.ways import with_engine
    from sublayer.tasks.ensemble import Ensemble

    if int8 or isinstance(task, Ensemble):
        return task.for_inference(quantize="int8" if int8 else None)
    return with_engine(task, run, engine, search=search, scored=scored, tell=partial(typer.echo, err=True))


def _in_worker(trust_code: bool, run: Path, engine: str, int8: bool, search: "Search", scored: bool) -> Any:
    from sublayer.tasks.bundle import load

    return _ready(load(run, trust_code=trust_code), run, engine, int8, search, scored)


def _answers(
    answers: "Iterable[list[Prediction]]", nbest: bool, scores: bool, alignments: bool, as_json: bool
) -> Iterator[str]:
    for number, found in enumerate(answers, 1):
        if as_json:
            yield _object(line=number, answers=[_record(a) for a in found])
            continue
        for answer in found if nbest else found[:1]:
            before = ([str(number)] if nbest else []) + ([f"{answer.score:.6f}"] if nbest or scores else [])
            aligned = "" if answer.alignment is None else answer.alignment.pharaoh()
            yield "\t".join([*before, answer.text, *([aligned] if alignments else [])]) + "\n"


def _streamed(task: "Answering", lines: Iterable[str], search: "Search", long: list[str]) -> Iterator[str]:
    from sublayer.errors import DataError

    for number, line in enumerate(lines, 1):
        try:
            yield from task.stream(line, search=search)
        except DataError as problem:
            long.append(f"line {number}: {problem}")
        yield "\n"


def _alternatives(
    task: "Answering", lines: Iterable[str], search: "Search", n: int, as_json: bool, long: list[str]
) -> Iterator[str]:
    from sublayer.errors import DataError

    for number, line in enumerate(lines, 1):
        try:
            found = task.alternatives(line, search.prefix, n, search=search)
        except DataError as problem:
            long.append(f"line {number}: {problem}")
            continue
        if as_json:
            each = [asdict(a) | {"answer": _record(a.answer)} for a in found]
            yield _object(line=number, alternatives=each)
        else:
            for a in found:
                yield f"{number}\t{a.probability:.6f}\t{a.token}\t{a.answer.text}\n"


def _record(answer: "Prediction") -> dict[str, Any]:
    """All of an answer; its alignment where it was asked for."""
    return {name: value for name, value in asdict(answer).items() if name != "alignment" or value is not None}


def _object(**values: Any) -> str:
    return json.dumps(values, ensure_ascii=False) + "\n"
