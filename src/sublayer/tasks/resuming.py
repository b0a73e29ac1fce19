"""From which checkpoint a run goes on, and whether it can."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any
from zlib import crc32

from sublayer.data import Corpus
from sublayer.errors import CheckpointError, ConfigError, listing
from sublayer.tasks.prepare import Prepared
from sublayer.train.intact import damage
from sublayer.train.report import Listener
from sublayer.train.state import Position


def newest(folder: Path, listener: Listener) -> Path | None:
    """The newest checkpoint that is what was written, None where there is none at all; damaged ones are told.

    CheckpointError where every one is damaged: the best weights alone hold no place in the data to go on from.
    """
    told, best = [], folder.parent / "model.safetensors"
    for found in sorted(folder.glob("step-*"), reverse=True):  # one that lacks its files is damaged too
        wrong = damage(found)
        if wrong is None:
            return found
        told.append(f"{found.name}: {wrong}")
        listener.message(f"Passing over {told[-1]}.")
    if told:
        still = f"{best} is not one of them: `sublayer predict {best.parent}` answers with it.\n"
        raise CheckpointError(
            listing(f"No checkpoint in {folder} can be trusted:", told) + f"\n{still if best.exists() else ''}"
            f"To train from the beginning remove {folder} and --resume. With train.keep=2 there is an older one to go "
            "back to."
        )
    return None


def made_of(ready: Prepared) -> dict[str, Any]:
    """What the batches and the scores of a run are made of, to be kept with its place in them."""
    train = ready.recipe.train
    assert train is not None
    files = {"data.train": ready.items} | ({} if ready.valid is None else {"data.valid": ready.valid})
    about = {key: [file.name, len(file), file.noun, _digest(file)] for key, file in files.items()}
    return about | _settings("data", ready.recipe.data) | _settings("train", train)


def _settings(name: str, section: Any) -> dict[str, Any]:
    values = section.model_dump(mode="json", include=set(section.of_batches))
    texts = {key: json.dumps(value) for key, value in values.items() if isinstance(value, dict | list)}
    return {f"{name}.{key}": value for key, value in (values | texts).items()}


def go_on(at: Position, now: dict[str, Any], *, next_epoch: bool, listener: Listener) -> None:
    """Hold the place where a run stands against what there is now.

    Where that has changed the place means nothing any more: ConfigError naming what has, or the next epoch where that
    is asked for, with the best score forgotten, which may be of other examples.
    """
    changed = changes(at.extra, now)
    if changed and not next_epoch:
        raise ConfigError(
            listing("The run cannot go on where it stood, since this has changed:", changed)
            + "\nPut it back, or go on with the next epoch on what there is now: --resume --next-epoch."
        )
    if changed:
        at.epoch, at.batch = at.epoch + 1, 0
        at.best, at.best_step, at.waited = None, 0, 0
        at.extra = now
        listener.message(listing(f"Going on with epoch {at.epoch}, since this has changed:", changed))


def changes(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What has, in words. Of a file its name does not count, only what it holds."""
    return [_told(key, then.get(key), now.get(key)) for key in {**then, **now} if _differ(then.get(key), now.get(key))]


def _differ(then: Any, now: Any) -> bool:
    return bool(then[1:] != now[1:]) if isinstance(then, list) and isinstance(now, list) else bool(then != now)


def _told(key: str, then: Any, now: Any) -> str:
    if not (isinstance(then, list) and isinstance(now, list)):
        said = ["none" if value is None else value[0] if isinstance(value, list) else value for value in (then, now)]
        return f"{key}: {said[0]} when the run began, {said[1]} now"
    (_, before, noun, _), (name, after, _, _) = then, now
    if before == after:
        return f"{key}: {name} holds other {noun} than when the run began, or in another order"
    return f"{key}: {name} holds {after:,} {noun}, and there were {before:,} when the run began"


def _digest(items: Corpus[Any]) -> int:
    """A number that changes with the examples or their order, and not with the lines that they stand on."""
    if not items:
        return 0
    # What `repr(replace(item, line=0))` says, in a third of the time: a large file has millions of them.
    names = [field.name for field in fields(items[0])]
    said = ", ".join("line=0" if name == "line" else f"{name}=%r" for name in names)
    form, told = f"{type(items[0]).__name__}({said})", [name for name in names if name != "line"]
    found = 0
    for item in items:
        found = crc32((form % tuple([getattr(item, name) for name in told])).encode(), found)
    return found
