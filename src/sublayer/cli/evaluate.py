"""sublayer evaluate"""

import json
from pathlib import Path
from typing import Annotated

import typer


def evaluate(
    run: Annotated[Path, typer.Argument(help="run folder")],
    file: Annotated[list[Path], typer.Argument(help="pairs: one TSV or JSONL, or two parallel files")],
    metric: Annotated[list[str] | None, typer.Option(help="one or more; those of the run by default")] = None,
    beam: Annotated[int | None, typer.Option(min=1, help="hypotheses kept; 1 is greedy")] = None,
    bootstrap: Annotated[int, typer.Option(min=0, help="samples for 95 % intervals; 0: none")] = 1000,
    as_json: Annotated[bool, typer.Option("--json", help="all scores as one object")] = False,
) -> None:
    """Scores of the answers against the targets, with counts, signatures and intervals."""
    from sublayer.cli.searching import changed
    from sublayer.data import read_pairs
    from sublayer.tasks.bundle import load
    from sublayer.tasks.recipe_file import read_recipe

    pairs = read_pairs(file[0] if len(file) == 1 else (file[0], file[1]))
    typer.echo(pairs.summary(), err=True)
    task = load(run)
    train = read_recipe(run / "recipe.yaml").train if not metric else None
    names = metric or [*(train.validate_metrics if train else ()), "loss", "perplexity"]
    scores = task.evaluate(pairs.items, names, search=changed(task.search, beam=beam), bootstrap=bootstrap)
    if as_json:
        print(json.dumps({s.name: s.to_dict() for s in scores}, ensure_ascii=False, indent=2))
    else:
        for found in scores:
            print(found)
