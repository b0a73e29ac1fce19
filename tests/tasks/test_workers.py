from functools import partial
from multiprocessing.reduction import ForkingPickler

import pytest
from tests.runs import reverse_run, reverse_task, words

from sublayer.errors import CheckpointError
from sublayer.tasks import answering
from sublayer.tasks.bundle import load
from sublayer.tasks.search import Search
from sublayer.tasks.workers import Workers


def test_the_answers_are_those_of_one_process_to_the_last_bit(monkeypatch):
    monkeypatch.setattr(answering, "BATCH_TOKENS", 60)
    lines, searches = ["", *words()[:30], "  ", "abc", ""], [Search(), Search(beam=3, nbest=2)]
    expected = [list(reverse_task().predict(lines, search=search, window=7)) for search in searches]
    with Workers(2, partial(load, reverse_run())) as engine:
        shared = reverse_task()
        shared.engine = engine
        for search, right in zip(searches, expected, strict=True):
            for ahead in (0, 1, 99):
                assert list(shared.predict(lines, search=search, window=7, ahead=ahead)) == right
        with pytest.raises(IndexError, match="out of range"):  # an error in a process is raised here
            list(engine.find(shared, [[10**6]], Search()))


def test_our_errors_come_whole_from_one_process_to_another():
    error = CheckpointError("m is no run folder")
    found = ForkingPickler.loads(ForkingPickler.dumps(error))
    assert type(found) is CheckpointError and str(found) == str(error)
