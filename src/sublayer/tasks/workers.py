"""Several processes that look for answers, a batch at a time."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import cache
from multiprocessing import active_children, get_context
from typing import Self

import torch

from sublayer.generate import Hypothesis
from sublayer.tasks.search import Search
from sublayer.tasks.searching import Searchable
from sublayer.tasks.translate import Translate


class Workers:
    """An engine of `count` processes with one thread each, for the length of a `with`.

    The batches are those of one process, so that the answers of one with one thread are the same to the last bit. An
    error of a worker is raised where its answers are waited for.

    make  called once in each process for its task; sent there, so a function of a module or a partial of one
    """

    name = "workers"

    def __init__(self, count: int, make: Callable[[], Translate]) -> None:
        self.count = count
        self.pool = ProcessPoolExecutor(count, get_context("spawn"), _begin, (make,))

    def __enter__(self) -> Self:
        # A process inherits what is ignored: an interrupt reaches this one alone, which then ends the others.
        handler, others = signal.signal(signal.SIGINT, signal.SIG_IGN), active_children()
        try:
            for _ in range(self.count):
                self.pool.submit(_load)
        finally:
            signal.signal(signal.SIGINT, handler)
        self.processes = [process for process in active_children() if process not in others]
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:  # what they are at has no reader any more
            for process in self.processes:
                process.terminate()
        self.pool.shutdown(cancel_futures=True)

    def find(self, task: Searchable, ids: Sequence[Sequence[int]], search: Search) -> Iterable[list[Hypothesis]]:
        return _later(self.pool.submit(_find, ids, search))


def _later(found: Future[list[list[Hypothesis]]]) -> Iterator[list[Hypothesis]]:
    yield from found.result()


def _begin(make: Callable[[], Translate]) -> None:
    global _task
    torch.set_num_threads(1)
    _task = cache(make)


_task: Callable[[], Translate]  # of this process, if it is a worker


def _load() -> None:
    _task()


@torch.inference_mode()
def _find(ids: Sequence[Sequence[int]], search: Search) -> list[list[Hypothesis]]:
    task = _task()
    return list(task.engine.find(task, ids, search))
