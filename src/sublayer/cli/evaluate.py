"""sublayer evaluate"""

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sublayer.cli.options import (
    Beam,
    Files,
    Int8,
    Run,
    SearchSettings,
    SkipBad,
    TrustCode,
    With,
    examples_of,
    loaded,
    only_translate,
    recipe_in,
    set_search,
)
from sublayer.cli.parts import Into, Part, into, pairs_of

if TYPE_CHECKING:
    from sublayer.evaluate import Score


def evaluate(
    run: Run,
    file: Files,
    others: With = None,
    metric: Annotated[list[str] | None, typer.Option(help="one or more; those of the run by default")] = None,
    beam: Beam = None,
    set: SearchSettings = None,
    bootstrap: Annotated[int, typer.Option(min=0, help="samples for 95 % intervals; 0: none")] = 1000,
    int8: Int8 = False,
    skip_bad: SkipBad = False,
    as_json: Annotated[bool, typer.Option("--json", help="all scores as one object")] = False,
    shard: Part = None,
    out: Into = None,
    answers: Annotated[
        Path | None, typer.Option(help="all that --out wrote for the parts of the file: scores of the whole")
    ] = None,
    trust_code: TrustCode = False,
) -> None:
    """Scores of the answers against the targets, with counts, signatures and intervals."""
    from sublayer.tasks.judging import evidence, joined
    from sublayer.tasks.long_texts import told_long

    _possible({"--shard": shard, "--out": out, "--answers": answers, "--int8": int8})
    task = loaded(run, others, trust_code)
    only_translate(task, {"--int8": int8, "--out": out, "--answers": answers})
    set_search(task, beam, settings=set)
    if not metric:
        train = recipe_in(run).train
        metric = list(dict.fromkeys([*(train.validate_metrics if train else ()), *task.metrics]))
    if out is not None:
        first, lines = pairs_of(run, file, skip_bad, shard)
        return into(out, file, lines, partial(evidence, task.for_inference(), metric), first)
    examples = examples_of(run, file, skip_bad)
    for line in told_long(examples.name, task.long(examples.items)):
        typer.echo(line, err=True)
    if answers is not None:
        scores = joined(answers, examples.items, metric, task.target.kind, bootstrap)
    else:
        scores = task.for_inference().evaluate(examples.items, metric, bootstrap=bootstrap)
    if int8:
        small = task.for_inference(quantize="int8").evaluate(examples.items, metric, bootstrap=bootstrap)
        _print_both(scores, small, as_json)
    elif as_json:
        print(json.dumps(_by_name(scores), ensure_ascii=False, indent=2))
    else:
        for found in scores:
            print(found)


def _possible(on: dict[str, Any]) -> None:
    from sublayer.errors import ConfigError

    for option, others in (("--answers", ("--shard", "--out", "--int8")), ("--int8", ("--shard", "--out"))):
        if on[option] and (wrong := [name for name in others if on[name]]):
            raise ConfigError(f"{option} does not go together with {', '.join(wrong)}: leave one or the other out.")
    if on["--shard"] and not on["--out"]:
        raise ConfigError("--shard finds what the scores need of a part: say where to, with --out.")


def _print_both(scores: "list[Score]", small: "list[Score]", as_json: bool) -> None:
    """fp32, int8, and int8 minus fp32."""
    changes = {exact.name: other.value - exact.value for exact, other in zip(scores, small, strict=True)}
    if as_json:
        both = {"fp32": _by_name(scores), "int8": _by_name(small), "difference": changes}
        print(json.dumps(both, ensure_ascii=False, indent=2))
        return
    for exact, other in zip(scores, small, strict=True):
        print(f"fp32: {exact}")
        print(f"int8: {other}")
        print(f"int8 - fp32: {exact.name} {changes[exact.name]:+.4f}")


def _by_name(scores: "list[Score]") -> dict[str, dict[str, object]]:
    return {score.name: score.to_dict() for score in scores}
