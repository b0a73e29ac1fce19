"""A save that fails or dies at any write, rename, removal or fsync leaves a checkpoint that loads."""

import errno
import hashlib
import os
import resource
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from tests.train.test_state import trained

from sublayer.errors import CheckpointError
from sublayer.models import store
from sublayer.models.files import sweep
from sublayer.train.intact import damage, seal
from sublayer.train.state import Position, checkpoints, restore, rotate, save


class Cut(BaseException):
    """The power is gone."""


class Disk:
    """Counts what a save asks of the disk, and fails at the call of this number.

    power   the call raises Cut, and of every file that was not waited for half is lost
    full    the call raises ENOSPC
    """

    def __init__(self, folder, fails=-1, how="power"):
        self.folder, self.fails, self.how, self.calls, self.settled = folder, fails, how, 0, set()

    def asked(self):
        self.calls += 1
        if self.calls == self.fails:
            if self.how == "full":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            raise Cut

    @contextmanager
    def in_use(self, monkeypatch):
        before = {path.stat().st_ino for path in self.folder.rglob("*") if path.is_file()}
        with monkeypatch.context() as patch:
            self.patch(patch)
            try:
                yield
            except Cut:
                patch.undo()
                for path in self.folder.rglob("*"):
                    if path.is_file() and path.stat().st_ino not in self.settled | before:
                        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    def patch(self, patch):
        fsync = os.fsync

        def synced(handle):
            self.asked()
            self.settled.add(os.fstat(handle).st_ino)
            fsync(handle)

        def before(function):
            def called(*args, **options):
                self.asked()
                return function(*args, **options)

            return called

        patch.setattr(os, "fsync", synced)
        asked = [(os, "replace"), (store, "save_file"), (Path, "write_text"), (Path, "mkdir")]
        if self.how == "power":  # a full disk takes removals
            asked += [(os, "unlink"), (os, "rmdir")]
        for place, name in asked:
            patch.setattr(place, name, before(getattr(place, name)))


def again(folder, model, steps):
    """What a run does at each save, with one checkpoint kept."""
    rotate(save(folder, model, steps, Position(step=2)), 1)


def calls(folder, monkeypatch, how):
    disk = Disk(folder, how=how)
    with disk.in_use(monkeypatch):
        again(folder, *trained())
    return disk.calls


@pytest.mark.parametrize("how", ["power", "full"])
def test_at_each_of_them(tmp_path, monkeypatch, how):
    save(tmp_path / "count", *trained(), Position(step=1))
    number = calls(tmp_path / "count", monkeypatch, how)
    assert number > 15
    for fails in range(1, number + 1):
        folder = tmp_path / f"{how}{fails}"
        old, new = trained(), trained()
        save(folder, *old, Position(step=1))
        disk = Disk(folder, fails, how)
        with disk.in_use(monkeypatch):
            try:
                again(folder, *new)
            except (CheckpointError, OSError) as error:
                assert how == "full" and "No space left on device" in str(error)
        assert disk.calls >= fails
        sound = [found for found in checkpoints(folder) if damage(found) is None]
        assert sound, f"call {fails} of {number}"
        model, steps = trained()
        at = restore(sound[-1], model, steps)
        expected = {1: old, 2: new}[at.step][0]
        assert all(torch.equal(a, b) for a, b in zip(model.parameters(), expected.parameters(), strict=True))
        sweep(folder)  # as a run that goes on does
        again(folder, *new)  # and the next save is as any other
        assert [found.name for found in folder.iterdir()] == ["step-00000002"]


@pytest.mark.parametrize("how", ["power", "full"])
def test_the_best_weights_are_the_older_ones_or_the_new(tmp_path, monkeypatch, how):
    path, fails, done = tmp_path / "model.safetensors", 0, False
    old, new = ({"w": torch.full((64,), value)} for value in (1.0, 2.0))
    while not done:
        store.save_tensors(old, path)
        fails += 1
        disk = Disk(tmp_path, fails, how)
        with disk.in_use(monkeypatch):
            try:
                store.save_tensors(new, path)
            except CheckpointError as error:
                assert how == "full" and "No space left on device" in str(error)
        done = disk.calls < fails
        assert store.load_tensors(path)["w"][0] in ((2.0,) if done else (1.0, 2.0))
    assert fails > 4


def test_a_full_disk_is_told_with_what_is_there(tmp_path, monkeypatch):
    save(tmp_path, *trained(), Position(step=1))
    with Disk(tmp_path, 3, "full").in_use(monkeypatch), pytest.raises(CheckpointError) as error:
        save(tmp_path, *trained(), Position(step=2))
    assert str(error.value).startswith(f"{tmp_path / 'step-00000002'} cannot be saved: ")
    assert str(error.value).endswith(
        "What is there already is as it was (step-00000001). Make room, then go on with --resume."
    )


def test_a_limit_that_the_system_sets_is_told_in_its_words(tmp_path):
    model, steps = trained()
    held = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, held[1]))
        with pytest.raises(CheckpointError, match=r"cannot be saved: .*File too large.* is as it was \(nothing\)"):
            save(tmp_path, model, steps, Position(step=1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, held)
    assert list(tmp_path.iterdir()) == []


def test_sums_are_those_of_sha256sum(tmp_path):
    (tmp_path / "state.json").write_bytes(b"{}")
    seal(tmp_path)
    assert (tmp_path / "SHA256SUMS").read_text("utf-8") == f"{hashlib.sha256(b'{}').hexdigest()}  state.json\n"
    assert damage(tmp_path) is None
