"""The models that are served, by name, and what can be asked of them."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Collection, Generator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from pydantic import ValidationError

from sublayer.errors import DataError, nearest
from sublayer.serve.batcher import Batcher, Job
from sublayer.serve.door import Door, Event, Size
from sublayer.serve.limits import Limits
from sublayer.serve.metrics import Meters


class NoModel(Exception):
    """The request names a model that is not there, or none where there are several."""


class Wrong(Exception):
    """The request cannot be as it is: what is wrong, and where."""

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        self.problems = problems


class Service:
    """doors   the models, each behind its task's door, by name"""

    def __init__(self, doors: Mapping[str, Door], limits: Limits, meters: Meters) -> None:
        self.doors, self.limits, self.meters = doors, limits, meters
        self.batchers = {name: self._batcher(name, door) for name, door in doors.items()}
        self.ending = False

    def _batcher(self, name: str, door: Door) -> Batcher:
        ways = {"answer": door.answer, "stream": door.stream, "attention": door.attention}

        def work(kind: str, texts: Sequence[Any], settings: Any) -> Generator[tuple[int, Event], None, None]:
            yield from ways[kind](texts, settings)

        limits = self.limits
        batcher = Batcher(
            work,
            waiting=limits.waiting,
            together=limits.together,
            tokens=limits.batch_tokens,
            observe=lambda jobs, seconds: self.meters.batch(name, jobs, seconds),
        )
        self.meters.waiting(name, lambda: len(batcher.waiting))
        return batcher

    def start(self) -> None:
        for batcher in self.batchers.values():
            batcher.start()

    async def stop(self) -> None:
        self.ending = True
        for batcher in self.batchers.values():
            await batcher.stop()

    @property
    def ready(self) -> bool:
        return not self.ending and all(batcher.alive for batcher in self.batchers.values())

    def about(self) -> list[dict[str, Any]]:
        return [{"name": name, "task": door.task, **door.about()} for name, door in self.doors.items()]

    def named(self, name: str | None) -> str:
        if name is None and len(self.doors) == 1:
            return next(iter(self.doors))
        if name is None:
            raise NoModel(f'Several models are served: say which in "model". Known: {", ".join(self.doors)}.')
        if name not in self.doors:
            raise NoModel(f"No model of the name {name!r:.80} is served. {nearest(name[:80], self.doors)}")
        return name

    async def answers(self, model: str, texts: Sequence[str], options: Mapping[str, Any]) -> list[Any]:
        """Of each text, in order."""
        if len(texts) > self.limits.texts:
            most = self.limits.texts
            raise Wrong([("texts", f"{len(texts)} texts, and at most {most} make a request: send several.")])
        jobs = self._jobs("answer", model, texts, options)
        self.batchers[model].submit(jobs)
        try:
            return [(await _last(job))["answer"] for job in jobs]
        finally:
            for job in jobs:
                job.left = True

    async def stream(self, model: str, text: str, options: Mapping[str, Any]) -> AsyncGenerator[Event, None]:
        """Its events as they come. Whatever is wrong is raised here, before the first."""
        jobs = self._jobs("stream", model, [text], options)
        self.batchers[model].submit(jobs)
        return jobs[0].events()

    async def attention(self, model: str, text: str, target: str | None) -> Any:
        aim = self.doors[model].aim(text, target)
        job = Job("attention", text, aim, Size(1, self.limits.batch_tokens), self._until())
        self.batchers[model].submit([job])
        return (await _last(job))["answer"]

    def _jobs(self, kind: str, model: str, texts: Sequence[str], options: Mapping[str, Any]) -> list[Job]:
        door = self.doors[model]
        try:
            settings = door.settings(options)
        except ValidationError as error:
            raise Wrong(problems_of(error, door.options.model_fields)) from None
        jobs, problems, until = [], [], self._until()
        for number, text in enumerate(texts):
            try:
                jobs.append(Job(kind, text, settings, door.size(text, settings), until))
            except DataError as error:
                problems.append((f"texts.{number}" if kind == "answer" else "text", str(error)))
        if problems:
            raise Wrong(problems)
        return jobs

    def _until(self) -> float:
        return time.monotonic() + self.limits.patience


async def _last(job: Job) -> Event:
    async with aclosing(job.events()) as events:
        async for event in events:
            last = event
    return last


def problems_of(error: ValidationError, known: Collection[str]) -> list[tuple[str, str]]:
    """Where and what, without the values that were sent."""
    found = []
    for problem in error.errors(include_input=False, include_url=False, include_context=False):
        at = ".".join(map(str, ("options", *problem["loc"])))
        unknown = f"there is no such option. {nearest(str(problem['loc'][0])[:80], known)}" if problem["loc"] else ""
        said = unknown if problem["type"] == "extra_forbidden" else problem["msg"].removeprefix("Value error, ")
        found.append((at, said))
    return found
