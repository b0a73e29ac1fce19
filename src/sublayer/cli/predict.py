"""sublayer predict"""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sublayer.cli.options import (
    Beam,
    Int8,
    Run,
    SearchSettings,
    TrustCode,
    With,
    loaded,
    only_translate,
    set_search,
)
from sublayer.cli.parts import Into, Part, into
from sublayer.cli.vectors import Cut, Npy, SearchedFile, only_embed, vectors_of

if TYPE_CHECKING:
    from sublayer.tasks.base import Written

COMPARED = 50  # lines
APART = {
    "--stream": ("--engine", "--scores", "--alignments", "--workers", "--alternatives", "--json", "--shard", "--out"),
    "--alternatives": ("--engine", "--scores", "--alignments", "--workers", "--shard", "--out"),
    "--with": ("--engine", "--int8", "--workers"),
    "--int8": ("--engine",),
    "--npy": ("--nearest", "--json", "--scores", "--shard", "--out"),
}
OF_TRANSLATE = ("--alignments", "--alternatives", "--stream", "--engine", "--int8", "--workers")
Alternatives = Annotated[
    int | None, typer.Option(min=1, help="so many tokens after search.prefix: number, probability, token, text")
]


def predict(
    run: Run,
    file: Annotated[Path | None, typer.Argument(help="lines; standard input by default", show_default=False)] = None,
    others: With = None,
    beam: Beam = None,
    set: SearchSettings = None,
    nbest: Annotated[int | None, typer.Option(min=1, help="answers a line: number, score, text")] = None,
    scores: Annotated[bool, typer.Option("--scores", help="score, tab, text")] = False,
    alignments: Annotated[bool, typer.Option("--alignments", help="text, tab, source-target words: 0-0 2-1")] = False,
    alternatives: Alternatives = None,
    as_json: Annotated[bool, typer.Option("--json", help="an object a line, with tokens and scores")] = False,
    stream: Annotated[bool, typer.Option("--stream", help="each answer while it is written")] = False,
    engine: Annotated[str, typer.Option(help="native, ctranslate2, onnx, or auto: the fastest that fits")] = "native",
    int8: Int8 = False,
    nearest: SearchedFile = None,
    cut: Cut = False,
    npy: Npy = None,
    workers: Annotated[int, typer.Option(min=1, help="processes that share a file, with one thread each")] = 1,
    shard: Part = None,
    out: Into = None,
    trust_code: TrustCode = False,
) -> None:
    """Lines in, lines out, in order and as they come; an empty line gives an empty line."""
    from sublayer.tasks.base import Written

    on: dict[str, Any] = {"--with": others, "--scores": scores, "--json": as_json, "--stream": stream}
    on |= {"--alignments": alignments, "--alternatives": alternatives, "--engine": engine != "native"}
    on |= {"--int8": int8, "--workers": workers > 1, "--nearest": nearest, "--cut": cut, "--npy": npy}
    on |= {"--shard": shard, "--out": out}
    _possible(on, file, workers)
    given = loaded(run, others, trust_code)
    only_translate(given, {name: on[name] for name in OF_TRANSLATE})
    only_embed(given, on)
    search = set_search(given, beam, nbest, set)
    how = Written(search.nbest if search else nbest or 1, scores, as_json, tell=partial(typer.echo, err=True))
    ready = partial(_ready, run=run, engine=engine, int8=int8, scored=as_json or scores or how.nbest > 1)
    task = ready(given)
    typed = file is None and sys.stdin.isatty()
    how, lines = _lines(how, file, shard)
    if int8 and not typed:
        lines = _compared(given, task, lines)
    with _sharing(task, workers, partial(_in_worker, run, trust_code, ready)):
        write = _writer(task, alignments, workers, vectors_of(task, nearest, cut, npy))
        if out is not None:
            assert file is not None
            return into(out, [file], lines, lambda some, first: write(some, replace(how, first=first)), how.first)
        shown = stream or alternatives
        told = _shown(task, lines, alternatives, as_json) if shown else write(lines, how, window=1 if typed else 1024)
        for text in told:
            print(text, end="" if stream else "\n", flush=typed or stream)


def _writer(task: Any, alignments: bool, workers: int, vectors: Callable[..., Any] | None) -> Callable[..., Any]:
    more: dict[str, Any] = {"alignments": True} if alignments else {}
    more |= {"ahead": workers - 1} if workers > 1 else {}
    return partial(vectors or task.write, **more)


def _possible(on: dict[str, Any], file: Path | None, workers: int) -> None:
    from sublayer.errors import ConfigError

    for option, others in APART.items():
        if on[option] and (wrong := [name for name in others if on[name]]):
            raise ConfigError(f"{option} does not go together with {', '.join(wrong)}: leave one or the other out.")
    if file is None and (needy := [name for name in ("--workers", "--shard", "--out") if on[name]]):
        raise ConfigError(f"{', '.join(needy)} go by the lines of a file: name one, not standard input.")


def _lines(how: "Written", file: Path | None, shard: str | None) -> "tuple[Written, Iterator[str]]":
    from sublayer.data import read_lines
    from sublayer.tasks.shards import Shard

    if file is None:
        return how, read_lines(sys.stdin.buffer)
    first, lines = Shard.read(shard or "1/1").cut(partial(read_lines, file))
    return replace(how, first=first), lines


def _ready(task: Any, *, run: Path, engine: str, int8: bool, scored: bool) -> Any:
    """The task in inference form, or with another engine."""
    from sublayer.export.ways import with_engine

    if int8:
        return task.for_inference(quantize="int8")
    if engine == "native":
        return task.for_inference()
    return with_engine(task, run, engine, scored=scored, tell=partial(typer.echo, err=True))


def _in_worker(run: Path, trust_code: bool, ready: Callable[[Any], Any]) -> Any:
    return ready(loaded(run, None, trust_code))


@contextmanager
def _sharing(task: Any, workers: int, make: Callable[[], Any]) -> Iterator[None]:
    """The lines go to so many processes, where there are to be several."""
    if workers == 1:
        yield
        return
    from sublayer.tasks.workers import Workers

    with Workers(workers, make) as task.engine:
        yield


def _compared(exact: Any, quantized: Any, lines: Iterator[str]) -> Iterator[str]:
    """All the lines again, when it is told on the first of them what int8 costs."""
    from sublayer.tasks.precision import cost

    first = list(islice(lines, COMPARED))
    typer.echo(str(cost(exact.for_inference(), quantized, first)), err=True)
    return chain(first, lines)


def _shown(task: Any, lines: Iterable[str], alternatives: int | None, as_json: bool) -> Iterator[str]:
    from sublayer.tasks import written

    if alternatives:
        return written.alternatives(task, lines, alternatives, as_json)
    return written.streamed(task, lines)
