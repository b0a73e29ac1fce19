"""sublayer evaluate"""

import json
from typing import TYPE_CHECKING, Annotated

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
    trust_code: TrustCode = False,
) -> None:
    """Scores of the answers against the targets, with counts, signatures and intervals."""
    task = loaded(run, others, trust_code)
    only_translate(task, {"--int8": int8})
    examples = examples_of(run, file, skip_bad)
    set_search(task, beam, settings=set)
    if not metric:
        train = recipe_in(run).train
        metric = list(dict.fromkeys([*(train.validate_metrics if train else ()), *task.metrics]))
    scores = task.for_inference().evaluate(examples.items, metric, bootstrap=bootstrap)
    if int8:
        small = task.for_inference(quantize="int8").evaluate(examples.items, metric, bootstrap=bootstrap)
        _print_both(scores, small, as_json)
    elif as_json:
        print(json.dumps(_by_name(scores), ensure_ascii=False, indent=2))
    else:
        for found in scores:
            print(found)


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
