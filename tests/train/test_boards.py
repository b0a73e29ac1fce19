import subprocess
import sys
from types import SimpleNamespace

import pytest

from sublayer.errors import ConfigError
from sublayer.train.trackio import Trackio
from sublayer.train.wandb import Wandb

BOARDS = {"wandb": Wandb, "trackio": Trackio}
LINES = [
    {"step": 5, "epoch": 0, "loss": 2.5, "rate": 0.1},
    {"step": 10, "valid_loss": 1.5, "best": 1.5, "best_step": 10},
]


class Fake:
    """Stands for the module, and for the run that it gives."""

    def __init__(self):
        self.begun, self.logged, self.ended = [], [], 0

    def init(self, **options):
        self.begun.append(options)
        return SimpleNamespace(log=self.log, finish=self.finish)

    def log(self, numbers, step):
        self.logged.append((step, numbers))

    def finish(self):
        self.ended += 1


@pytest.fixture(params=BOARDS)
def board(request, monkeypatch):
    """Its name, its class and the fake module."""
    fake = Fake()
    monkeypatch.setitem(sys.modules, request.param, fake)
    monkeypatch.setattr("atexit.register", lambda end: None)
    return request.param, BOARDS[request.param], fake


def test_every_number_is_logged_at_its_step(board, tmp_path):
    _, kind, fake = board
    listener = kind("mine", tmp_path)
    for line in LINES:
        listener.record(line)
    assert fake.logged == [
        (5, {"epoch": 0, "loss": 2.5, "rate": 0.1}),
        (10, {"valid_loss": 1.5, "best": 1.5, "best_step": 10}),
    ]
    (begun,) = fake.begun
    assert (begun["project"], begun["name"], begun["resume"]) == ("mine", tmp_path.name, "allow")


def test_a_resumed_run_goes_on_and_another_is_another(board, tmp_path):
    name, kind, fake = board
    for folder in ("a", "a", "b"):
        (tmp_path / folder).mkdir(exist_ok=True)
        kind("mine", tmp_path / folder)
    one, again, other = ((begun["name"], begun.get("id")) for begun in fake.begun)
    assert one == again != other
    assert (one[1] is None) == (name == "trackio")  # which goes by the name


@pytest.mark.parametrize("name", BOARDS)
def test_where_it_is_missing_the_cure_is_told(name, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigError, match=rf"train.{name} is set and {name} is not installed: .*sublayer\[{name}\]"):
        BOARDS[name]("mine", tmp_path)


def test_trackio_sends_what_is_left_when_the_program_ends(tmp_path):
    (tmp_path / "trackio.py").write_text(
        "class init:\n    def __init__(self, **_): pass\n    def finish(self): print('sent')\n", encoding="utf-8"
    )
    code = "import pathlib; from sublayer.train.trackio import Trackio; Trackio('mine', pathlib.Path('run'))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout == b"sent\n"
