import asyncio
import threading
import time

import pytest

from sublayer.serve.batcher import Batcher, Fault, Full, Job
from sublayer.serve.door import Size


class Echo:
    """Work that writes down its batches, and waits for `gate` before each."""

    def __init__(self):
        self.batches = []
        self.gate = threading.Event()
        self.entered = threading.Event()

    def __call__(self, kind, items, settings):
        self.entered.set()
        self.gate.wait()
        self.batches.append(list(items))
        for number, item in enumerate(items):
            if item == "boom":
                raise RuntimeError
            yield number, {"answer": item}


def job(item, kind="answer", settings=0, tokens=1, rows=1, until=float("inf")):
    return Job(kind, item, settings, Size(tokens, rows), until)


async def last(job):
    *_, event = [event async for event in job.events()]
    return event["answer"]


def held(jobs, after=None, **limits):
    """The batches of `jobs`, all of which wait before the first begins, and what each gets."""
    echo = Echo()

    async def within():
        bounds = dict(waiting=99, together=99, tokens=999) | limits
        batcher = Batcher(echo, observe=lambda *_: None, **bounds)
        batcher.start()
        first = job("first", settings="alone")
        batcher.submit([first])
        await asyncio.to_thread(echo.entered.wait)
        try:
            batcher.submit(jobs)
            if after:
                after(batcher)
        finally:
            echo.gate.set()
        found = await asyncio.gather(last(first), *map(last, jobs), return_exceptions=True)
        await batcher.stop()
        return found[1:]

    found = asyncio.run(within())
    return echo.batches[1:], found


def test_equal_questions_are_answered_together_and_others_next():
    jobs = [job("a"), job("b", settings=1), job("c"), job("d", kind="stream"), job("e", settings=1)]
    batches, found = held(jobs)
    assert batches == [["a", "c"], ["b", "e"], ["d"]]
    assert found == ["a", "b", "c", "d", "e"]


def test_the_oldest_is_always_next_and_the_nearest_in_length_go_with_it():
    jobs = [job("50", tokens=50), job("9", tokens=9), job("48", tokens=48), job("10", tokens=10), job("60", tokens=60)]
    batches, _ = held(jobs, together=2)
    assert batches == [["50", "48"], ["9", "10"], ["60"]]


def test_a_batch_holds_so_many_tokens_counting_rows_and_padding():
    batches, _ = held([job(str(n), tokens=n, rows=2) for n in (5, 5, 6, 6)], tokens=24)
    assert batches == [["5", "5"], ["6", "6"]]
    batches, _ = held([job("100", tokens=100)], tokens=24)
    assert batches == [["100"]]


def test_a_queue_has_an_end_and_takes_all_or_none():
    def crowd(batcher):
        with pytest.raises(Full):
            batcher.submit([job("x"), job("y")])
        batcher.submit([job("z")])

    batches, _ = held([job("a"), job("b")], after=crowd, waiting=3)
    assert batches == [["a", "b", "z"]]


def test_who_leaves_makes_room_and_is_not_worked_for():
    jobs = [job("a"), job("b")]

    def leave(batcher):
        jobs[0].left = True
        batcher.submit([job("c")])
        jobs[0].told.put_nowait({"answer": "nobody listens"})

    batches, _ = held(jobs, after=leave, waiting=2)
    assert batches == [["b", "c"]]


def test_who_has_waited_too_long_is_told():
    batches, found = held([job("late", until=time.monotonic()), job("b")])
    assert batches == [["b"]]
    assert isinstance(found[0], Full) and found[1] == "b"


def test_a_fault_is_nobody_elses(caplog):
    batches, found = held([job("a"), job("boom"), job("c")])
    assert batches == [["a", "boom", "c"], ["boom"], ["c"]]
    assert isinstance(found[1], Fault) and [found[0], found[2]] == ["a", "c"]
    assert "RuntimeError in the model's thread" in caplog.text


def test_what_nobody_hears_any_more_is_not_written_to_its_end():
    said = []

    def endless(kind, items, settings):
        while True:
            said.append(1)
            yield 0, {"piece": "x"}

    async def within():
        batcher = Batcher(endless, waiting=9, together=9, tokens=9, observe=lambda *_: None)
        batcher.start()
        one = job("a")
        batcher.submit([one])
        events = one.events()
        await anext(events)
        await events.aclose()
        await batcher.stop()

    asyncio.run(asyncio.wait_for(within(), 20))
    assert said


def test_it_stops_after_its_work():
    echo = Echo()

    async def within():
        batcher = Batcher(echo, waiting=9, together=1, tokens=9, observe=lambda *_: None)
        batcher.start()
        jobs = [job("a"), job("b"), job("c")]
        batcher.submit(jobs)
        asyncio.get_running_loop().call_later(0.05, echo.gate.set)
        await batcher.stop()
        assert not batcher.alive
        return [job.told.get_nowait()["answer"] for job in jobs]

    assert asyncio.run(within()) == ["a", "b", "c"]


@pytest.mark.parametrize("clients, together", [(3, 99), (1, 99), (3, 1)])
def test_who_asks_again_at_once_comes_along(clients, together):
    sizes = []

    def slow(kind, items, settings):
        time.sleep(0.1)
        sizes.append(len(items))
        yield from ((n, {"answer": item}) for n, item in enumerate(items))

    async def within():
        limits = dict(waiting=9, together=together, tokens=99)
        batcher = Batcher(slow, observe=lambda *_: None, **limits)
        batcher.start()

        async def client():
            for _ in range(3):
                one = job("a")
                batcher.submit([one])
                await last(one)

        await asyncio.gather(*(client() for _ in range(clients)))
        await batcher.stop()

    asyncio.run(within())
    assert sizes == [min(clients, together)] * (3 * clients // min(clients, together))
