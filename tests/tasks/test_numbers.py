import json

import pytest
from tests.small_tasks import SMALL, small

from sublayer.tasks.base import Written
from sublayer.tasks.nearest import Nearest

HOW = Written(as_json=True, first=41)


@pytest.mark.parametrize("kind", SMALL)
def test_a_part_of_a_file_keeps_the_numbers_of_its_lines(kind):
    task, texts = small(kind)
    numbers = [json.loads(line)["line"] for line in task.write(texts, HOW)]
    assert numbers == list(range(41, 41 + len(texts)))


def test_so_does_a_search():
    task, texts = small("embed")
    assert [json.loads(line)["line"] for line in Nearest(task, texts).write(texts, HOW)] == [41, 42]
