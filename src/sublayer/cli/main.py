"""`sublayer`: messages on stderr, results on stdout. Exit 0: done; 2: the input or a setting; 1: a fault of ours."""

import os
import sys

import typer

from sublayer.cli import (
    attend,
    average,
    bring,
    demo,
    evaluate,
    export,
    find,
    predict,
    schema,
    score,
    search,
    serve,
    show,
    train,
    validate,
)
from sublayer.cli.lab import lab
from sublayer.errors import SublayerError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Transformers that learn from your own text. Start with: sublayer demo",
)
for verb in (
    demo.demo,
    train.train,
    find.find,
    search.search,
    evaluate.evaluate,
    predict.predict,
    score.score,
    show.show,
    attend.attend,
    average.average,
    serve.serve,
    export.export,
    validate.validate,
    schema.schema,
):
    app.command()(verb)
app.command("import")(bring.bring)
app.add_typer(lab, name="lab")


def run() -> None:
    """The program."""
    # Before torch starts its threads: ones that wait by spinning slow a training step fivefold as soon as another
    # program is busy on one of the cores.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    sys.path.append(os.getcwd())  # where a recipe's own classes are looked for, after everything else
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")  # type: ignore[union-attr]
    output = sys.stdout
    try:
        try:
            app()
        except SystemExit as end:
            if isinstance(end.__context__, BrokenPipeError):  # for typer that is exit code 1
                raise end.__context__ from None
            output.flush()
            raise
    except SublayerError as error:
        typer.echo(f"sublayer: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        # The reader has seen enough (head, less): nothing more can be written, at exit neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())
        sys.exit(0)
    except OSError as error:
        typer.echo(f"sublayer: {error.strerror}: {error.filename or 'output'}", err=True)
        sys.exit(2)
