"""sublayer lab"""

from pathlib import Path
from typing import Annotated

import typer

lab = typer.Typer(no_args_is_help=True, help="The tutorials' claims, each an experiment with a verdict.")

Results = Annotated[Path, typer.Option("--out", help="folder of what is measured; goes on where it was stopped")]
Full = Annotated[bool, typer.Option("--full", help="longer training, larger sizes: up to ten minutes a claim")]
FOLDER = Path("runs/lab")


@lab.command("list")
def list_claims() -> None:
    """Every claim with its place in the tutorials."""
    from sublayer.lab.claims import CLAIMS

    for claim in CLAIMS:
        print(f"{claim.id:24} {claim.place.en:36} {claim.statement.en}")


@lab.command()
def run(
    ids: Annotated[list[str] | None, typer.Argument(help="claims; all by default", show_default=False)] = None,
    full: Full = False,
    seeds: Annotated[int | None, typer.Option(min=1, help="of each claim; its own number by default")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="processes that share the seeds of a claim")] = 1,
    out: Results = FOLDER,
    minilm: Annotated[Path | None, typer.Option(help="folder of all-MiniLM-L6-v2; an installed one by default")] = None,
    data: Annotated[Path | None, typer.Option(help="folder of data that sublayer may not bring along")] = None,
) -> None:
    """Measure and judge claims. One that needs what is not there is left out, and told."""
    from functools import partial

    from sublayer.lab import Bench, judge
    from sublayer.lab.report import asked, spelled
    from sublayer.lab.run import chosen, furnished, lacking, measure, workers

    bench = furnished(Bench("full" if full else "quick", minilm, data))
    with workers(jobs) as each:
        for claim in chosen(ids or []):
            if lack := lacking(claim, bench):
                typer.echo(f"{claim.id}: left out, it needs {'; '.join(lack)}", err=True)
                continue
            results, mine = [], range(claim.first, claim.first + (seeds or claim.seeds))
            for seed, found in zip(mine, each(partial(measure, claim, bench=bench, folder=out), mine), strict=True):
                results.append(found)
                typer.echo(f"{claim.id}, seed {seed}", err=True)
            verdict = judge(claim, results)
            print(f"{claim.id}: {verdict.word}")
            for prediction, estimate, outcome in verdict.findings:
                limit = " (limit)" if prediction.limit else ""
                print(f"  {outcome:8} {prediction.says.en}{limit}: {spelled(estimate)}, predicted {asked(prediction)}")


@lab.command()
def report(
    out: Results = FOLDER,
    full: Full = False,
    to: Annotated[Path, typer.Option(help="folder of en/lab.md, zh/lab.md and lab/*.svg")] = Path("docs"),
) -> None:
    """Write what has been measured as a page in each language, with a picture for each claim."""
    from sublayer.errors import ConfigError
    from sublayer.lab import Bench
    from sublayer.lab.report import write
    from sublayer.lab.run import entries

    found = entries(Bench("full" if full else "quick"), out)
    if not found:
        raise ConfigError(f"nothing has been measured in {out}: sublayer lab run{' --full' if full else ''} first.")
    write(found, to)
    print(f"{to / 'en' / 'lab.md'}: {len(found)} claims")
