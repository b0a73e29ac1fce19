"""sublayer evaluate"""

import json
from typing import Annotated

import typer

from sublayer.cli.options import (
    Beam,
    PairFiles,
    Run,
    SearchSettings,
    SkipBad,
    TrustCode,
    With,
    loaded,
    pairs_of,
    recipe_of,
    searching,
)


def evaluate(
    run: Run,
    file: PairFiles,
    others: With = None,
    metric: Annotated[list[str] | None, typer.Option(help="one or more; those of the run by default")] = None,
    beam: Beam = None,
    set: SearchSettings = None,
    bootstrap: Annotated[int, typer.Option(min=0, help="samples for 95 % intervals; 0: none")] = 1000,
    skip_bad: SkipBad = False,
    as_json: Annotated[bool, typer.Option("--json", help="all scores as one object")] = False,
    trust_code: TrustCode = False,
) -> None:
    """Scores of the answers against the targets, with counts, signatures and intervals."""
    pairs = pairs_of(run, file, skip_bad)
    task = loaded(run, others, trust_code).for_inference()
    if not metric:
        train = recipe_of(run).train
        metric = [*(train.validate_metrics if train else ()), "loss", "perplexity"]
    scores = task.evaluate(pairs.items, metric, search=searching(task.search, beam, settings=set), bootstrap=bootstrap)
    if as_json:
        print(json.dumps({s.name: s.to_dict() for s in scores}, ensure_ascii=False, indent=2))
    else:
        for found in scores:
            print(found)
