import os
import signal
import threading

import pytest
from tests.train.conftest import Numbers

from sublayer.train.state import checkpoints
from sublayer.train.stop import Signals, Stopped


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_remembered_and_the_handlers_come_back(number):
    held = signal.signal(number, signal.default_int_handler)  # a shell may have started the tests with it ignored
    try:
        with Signals() as signals:
            assert not signals.asked()
            os.kill(os.getpid(), number)
            assert signals.asked() and signals.number == number
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, held)


def test_the_second_ends_at_once_unless_it_is_the_first_again(monkeypatch):
    now = [10.0]
    monkeypatch.setattr("sublayer.train.stop.time.monotonic", lambda: now[0])
    with Signals():
        os.kill(os.getpid(), signal.SIGTERM)
        now[0] = 10.5
        os.kill(os.getpid(), signal.SIGTERM)
        now[0] = 12.0
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)


def test_what_the_shell_has_told_to_ignore_stays_ignored():
    held = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Signals() as signals:
            os.kill(os.getpid(), signal.SIGINT)
            assert not signals.asked()
    finally:
        signal.signal(signal.SIGINT, held)


def test_elsewhere_than_in_the_main_thread_it_hears_nothing_and_says_nothing():
    heard = []

    def listen():
        with Signals() as signals:
            heard.append(signals.asked())

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert heard == [False]


def test_it_is_a_keyboard_interrupt_with_a_number():
    assert isinstance(Stopped(15), KeyboardInterrupt) and Stopped(15).number == 15


def test_a_run_that_is_asked_to_stop_saves_and_leaves_and_goes_on_to_the_bit(trainer, tmp_path):
    whole = trainer("whole", limits=dict(steps=9))
    whole.run()
    asked = iter([False, False, True])
    run = trainer("parts", limits=dict(steps=9), stop=lambda: next(asked))
    assert run.run().step == 3 and run.stopped
    assert [found.name for found in checkpoints(tmp_path / "parts" / "checkpoints")] == ["step-00000003"]
    again = trainer("parts", batches=Numbers(), limits=dict(steps=9))
    again.resume(checkpoints(tmp_path / "parts" / "checkpoints")[0])
    again.run()
    assert not again.stopped
    ours, theirs = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("parts", "whole"))
    assert ours == theirs


def test_the_validation_of_the_last_update_is_not_left_out(trainer):
    run = trainer(validate=lambda: {"loss": 1.0}, limits=dict(validate_every=2), stop=lambda: run.at.step == 2)
    run.run()
    assert [line["step"] for line in run.listener.records if "valid_loss" in line] == [2] and run.stopped


def test_a_run_that_is_over_was_not_stopped(trainer):
    run = trainer(limits=dict(steps=2), stop=lambda: run.at.step == 2)
    run.run()
    assert not run.stopped
