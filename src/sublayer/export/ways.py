"""The ways out by name: what each cannot say, how it writes, what it answers with."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import torch

from sublayer.errors import ConfigError, listing, nearest
from sublayer.export import ctranslate2, onnx, program
from sublayer.export.compare import Comparison, compare
from sublayer.models.config import ModelConfig
from sublayer.models.files import read_json, write_json
from sublayer.tasks.search import Search
from sublayer.tasks.searching import Engine
from sublayer.tasks.translate import Translate


@dataclass(frozen=True, slots=True)
class Way:
    """problems  what of a model cannot be said, a reason each
    export    writes into a folder that is there
    engine    answers from it, with so many threads; False: log-probabilities may be missing
    """

    problems: Callable[[ModelConfig], list[str]]
    export: Callable[[Translate, Path], None]
    engine: Callable[[Path, int, bool], Engine]


ABOUT = "export.json"

WAYS = {
    "ctranslate2": Way(ctranslate2.problems, ctranslate2.export, ctranslate2.CTranslate2),
    "onnx": Way(lambda config: [], onnx.export, lambda folder, threads, _: onnx.engine(folder, threads)),
    "torch": Way(lambda config: [], program.export, lambda folder, threads, _: program.engine(folder)),
}


def way(name: str) -> Way:
    if name not in WAYS:
        raise ConfigError(f"There is no way to {name!r}. {nearest(name, WAYS)}")
    return WAYS[name]


def check(task: Translate, to: str) -> None:
    """ConfigError with every reason why this model cannot go there."""
    if reasons := way(to).problems(task.config):
        raise ConfigError(listing(f"{to} cannot hold this model:", reasons))


def export(task: Translate, to: str, folder: Path, origin: Path | None = None) -> Comparison:
    """Write the model into `folder`, compared with the original first: on failure what stood there stays.

    origin  the weight file that it comes from, to tell later whether the export is still of these weights
    """
    check(task, to)
    if folder.exists() and not (folder / ABOUT).exists():
        raise ConfigError(f"{folder} is there already and holds no export. Choose another --out.")
    beside = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    try:
        way(to).export(task, beside)
        found = compare(task, way(to).engine(beside, 1, True))
        about = {"to": to, "weights": None if origin is None else crc32(origin.read_bytes()), "compared": str(found)}
        write_json(beside / ABOUT, about)
        shutil.rmtree(folder, ignore_errors=True)
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return found


def current(folder: Path, origin: Path) -> bool:
    """Whether `folder` holds an export of these weights."""
    path = folder / ABOUT
    return path.exists() and read_json(path).get("weights") == crc32(origin.read_bytes())


def with_engine(task: Translate, run: Path, name: str, *, scored: bool, tell: Callable[[str], None]) -> Translate:
    """The task with what finds its answers: `native`, a way out by name, or `auto`.

    auto is CTranslate2 where it is installed, holds the model and answers as the model does, which is in greedy search;
    else it is native. A run is exported where it has not been, or has been trained since, into its folder `exports`.
    """
    chosen = _fastest(task, task.search) if name == "auto" else name
    if name == "auto":
        tell(f"engine: {chosen}")
    if chosen == "native":
        return task.for_inference()
    folder, weights = run / "exports" / chosen, run / "model.safetensors"
    if not current(folder, weights):
        tell(f"{folder}: exporting, once for these weights; this can take minutes")
        try:
            tell(f"{folder}: {export(task, chosen, folder, weights)}")
        except OSError as error:
            raise ConfigError(
                f"{error.filename or folder} cannot be written: {error.strerror}. Export where it can, before: "
                f"sublayer export {run} --to {chosen}"
            ) from None
    task.engine = way(chosen).engine(folder, torch.get_num_threads(), scored)
    return task


def _fastest(task: Translate, search: Search) -> str:
    greedy = search.beam == 1 and not search.beyond_a_beam()
    fits = greedy and ctranslate2.installed() and not ctranslate2.problems(task.config)
    return "ctranslate2" if fits else "native"
