"""sublayer evaluate"""

import json
from typing import Annotated

import typer

from sublayer.cli.options import (
    Beam,
    Files,
    Run,
    SearchSettings,
    SkipBad,
    TrustCode,
    examples_of,
    recipe_in,
    set_search,
)


def evaluate(
    run: Run,
    file: Files,
    metric: Annotated[list[str] | None, typer.Option(help="one or more; those of the run by default")] = None,
    beam: Beam = None,
    set: SearchSettings = None,
    bootstrap: Annotated[int, typer.Option(min=0, help="samples for 95 % intervals; 0: none")] = 1000,
    skip_bad: SkipBad = False,
    as_json: Annotated[bool, typer.Option("--json", help="all scores as one object")] = False,
    trust_code: TrustCode = False,
) -> None:
    """Scores of the answers against the targets, with counts, signatures and intervals."""
    from sublayer.tasks.bundle import load

    task = load(run, trust_code=trust_code).for_inference()
    examples = examples_of(run, file, skip_bad)
    set_search(task, beam, settings=set)
    if not metric:
        train = recipe_in(run).train
        metric = list(dict.fromkeys([*(train.validate_metrics if train else ()), *task.metrics]))
    scores = task.evaluate(examples.items, metric, bootstrap=bootstrap)
    if as_json:
        print(json.dumps({s.name: s.to_dict() for s in scores}, ensure_ascii=False, indent=2))
    else:
        for found in scores:
            print(found)
