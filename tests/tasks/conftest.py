import pytest
from tests.runs import reverse_task


@pytest.fixture(scope="session")
def task():
    """A task that has learned to turn letters round."""
    return reverse_task()
