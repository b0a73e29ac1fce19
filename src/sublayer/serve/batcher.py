"""Micro-batches: what waits for a model and may be done together is done together."""

from __future__ import annotations

import asyncio
import logging
import math
import time
import traceback
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from sublayer.errors import SublayerError
from sublayer.serve.door import Event, Size

log = logging.getLogger("sublayer.serve")

Work = Callable[[str, Sequence[Any], Any], Generator[tuple[int, Event], None, None]]
"""(kind, items, settings) -> the events of each item, by its number."""


PAUSE = 0.25  # of the time that a batch took, at most, before the next begins
LONGEST_PAUSE = 0.05  # seconds


class Full(Exception):
    """There is no room now, or it did not come in time. Another moment may do."""


class Fault(Exception):
    """Something went wrong that should not have."""


@dataclass(slots=True, eq=False)
class Job:
    """kind, settings  jobs in which both are equal may be done together
    size            what it costs
    until           when waiting for its turn has taken too long, by `time.monotonic`
    """

    kind: str
    item: Any
    settings: Any
    size: Size
    until: float = math.inf
    begun: bool = False
    left: bool = False
    told: asyncio.Queue[Event | Exception] = field(default_factory=asyncio.Queue)

    async def events(self) -> AsyncGenerator[Event, None]:
        """As they come; the last has the key `answer`. Who stops listening gives the job up."""
        try:
            while True:
                event = await self.told.get()
                if isinstance(event, Exception):
                    raise event
                yield event
                if "answer" in event:
                    return
        finally:
            self.left = True


class Batcher:
    """One model's queue, and the thread in which alone it works.

    waiting   jobs that may wait; `submit` raises Full beyond
    together  jobs of a batch at most
    tokens    of a batch at most: rows · longest, unless one job has more
    observe   is told of each batch: how many jobs, and how many seconds it took

    The job that has waited longest is always in the next batch, so none waits for ever; with it go those of equal kind
    and settings, the nearest in length first.
    """

    def __init__(
        self, work: Work, *, waiting: int, together: int, tokens: int, observe: Callable[[int, float], None]
    ) -> None:
        self.work, self.room, self.together, self.tokens, self.observe = work, waiting, together, tokens, observe
        self.waiting: list[Job] = []
        self._some = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="model")
        self._loop: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._loop = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Once all that waits is done."""
        while self.waiting:
            await asyncio.sleep(0.01)
        if self._loop is not None:
            self._loop.cancel()
        await asyncio.to_thread(self._thread.shutdown)

    @property
    def alive(self) -> bool:
        return self._loop is not None and not self._loop.done()

    def submit(self, jobs: Sequence[Job]) -> None:
        """All of them or none."""
        self.waiting = [job for job in self.waiting if not job.left]
        if len(self.waiting) + len(jobs) > self.room:
            raise Full
        self.waiting.extend(jobs)
        self._some.set()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._some.wait()
            if jobs := self._next():
                begun = time.perf_counter()
                await loop.run_in_executor(self._thread, self._do, jobs, loop)
                took = time.perf_counter() - begun
                self.observe(len(jobs), took)
                await self._gather(len(jobs), took)
            if not self.waiting:
                self._some.clear()

    async def _gather(self, answered: int, took: float) -> None:
        """Who has just been answered may ask again: let them come along in the next batch, if that does not take long.
        One who is alone is not kept waiting."""
        expected = min(len(self.waiting) + answered, self.together)
        until = time.perf_counter() + min(PAUSE * took, LONGEST_PAUSE)
        while 1 < expected > len(self.waiting) and time.perf_counter() < until:
            await asyncio.sleep(0.001)

    def _next(self) -> list[Job]:
        now = time.monotonic()
        for job in self.waiting:
            if job.until < now:
                job.told.put_nowait(Full())
        self.waiting = [job for job in self.waiting if not job.left and job.until >= now]
        if not self.waiting:
            return []
        first = self.waiting[0]
        alike = [job for job in self.waiting if job.kind == first.kind and job.settings == first.settings]
        alike[1:] = sorted(alike[1:], key=lambda job: abs(job.size.tokens - first.size.tokens))
        chosen, rows, longest = [first], first.size.rows, first.size.tokens
        for job in alike[1 : self.together]:
            rows, longest = rows + job.size.rows, max(longest, job.size.tokens)
            if rows * longest > self.tokens:
                break
            chosen.append(job)
        self.waiting = [job for job in self.waiting if job not in chosen]
        return chosen

    def _do(self, jobs: Sequence[Job], loop: asyncio.AbstractEventLoop) -> None:
        """In the thread. What goes wrong for several is done one by one, so that a neighbour's fault is nobody else's.

        Where all have stopped listening, the rest is not done.
        """
        ended: set[int] = set()
        try:
            with closing(self.work(jobs[0].kind, [job.item for job in jobs], jobs[0].settings)) as events:
                for number, event in events:
                    jobs[number].begun = True
                    if "answer" in event:
                        ended.add(number)
                    loop.call_soon_threadsafe(jobs[number].told.put_nowait, event)
                    if all(job.left for job in jobs):
                        return
        except Exception as error:
            for job in (job for i, job in enumerate(jobs) if i not in ended):
                if len(jobs) > 1 and not job.begun:
                    self._do([job], loop)
                else:
                    loop.call_soon_threadsafe(job.told.put_nowait, _told(error))


def _told(error: Exception) -> Exception:
    if isinstance(error, SublayerError):
        return error
    where = "".join(traceback.format_tb(error.__traceback__))  # without the message, which may hold a text
    log.error("%s in the model's thread\n%s", type(error).__name__, where)
    return Fault()
