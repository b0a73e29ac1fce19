"""What `sublayer predict` does with vectors of texts."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

SearchedFile = Annotated[Path | None, typer.Option(help="of embed: the nearest lines of this file, --nbest of them")]
Cut = Annotated[bool, typer.Option("--cut", help="of embed: the beginning alone of a text that is too long")]
Npy = Annotated[Path | None, typer.Option(help="of embed: the vectors into this file, for NumPy")]
OF_EMBED = ("--nearest", "--cut", "--npy")


def only_embed(task: Any, options: dict[str, object]) -> None:
    """ConfigError for options that are on, where the task gives no vectors."""
    from sublayer.errors import ConfigError
    from sublayer.tasks.embed import Embed

    asked = [name for name in OF_EMBED if options[name]]
    if asked and not isinstance(task, Embed):
        are = "is" if len(asked) == 1 else "are"
        kind = type(task).__name__
        raise ConfigError(f"{', '.join(asked)} {are} for runs of task embed, and this one holds a {kind}.")


def vectors_of(task: Any, nearest: Path | None, cut: bool, npy: Path | None) -> Callable[..., Iterator[str]] | None:
    """How the lines are written where the task gives vectors; None for another one. Texts that are longer than the
    model reads are told on stderr."""
    from sublayer.data import read_lines
    from sublayer.tasks.embed import Embed
    from sublayer.tasks.nearest import Nearest

    if not isinstance(task, Embed):
        return None
    how: dict[str, Any] = {"cut": cut or None, "tell": partial(typer.echo, err=True)}
    if nearest is not None:
        return Nearest(task, read_lines(nearest), **how).write
    if npy is not None:
        return partial(_saved, npy, partial(task.predict, **how), task.config.d_model)
    return partial(task.write, **how)


def _saved(path: Path, predict: Any, width: int, lines: Iterable[str], _: Any, *, window: int) -> Iterator[str]:
    from sublayer.tasks.npy import save_vectors

    save_vectors(path, predict(lines, window=window), width)
    return iter(())
