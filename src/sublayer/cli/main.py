"""`sublayer`: messages on stderr, results on stdout. Exit 0: done; 2: the input or a setting; 1: a fault of ours."""

import os
import sys

import typer

from sublayer.cli import attend, demo, evaluate, predict, schema, score, show, train, validate
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
    evaluate.evaluate,
    predict.predict,
    score.score,
    show.show,
    attend.attend,
    validate.validate,
    schema.schema,
):
    app.command()(verb)


def run() -> None:
    """The program."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")  # type: ignore[union-attr]
    try:
        app()
    except SublayerError as error:
        typer.echo(f"sublayer: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        # The reader has seen enough (head, less): nothing more can be written, at exit neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
