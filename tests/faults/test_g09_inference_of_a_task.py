"""G09: answers that differ from call to call, generators that inference moves, models left in the wrong mode."""

import random

import numpy as np
import torch
from tests.runs import Heard, tiny_recipe, words, write_pairs

from sublayer.data import Pair
from sublayer.tasks import fit as fitting
from sublayer.tasks import translating
from sublayer.tasks.search import Search

PAIRS = [Pair(word, word[::-1], n) for n, word in enumerate(words()[:20], 1)]


def states():
    return torch.get_rng_state().tolist(), np.random.get_state()[1].tolist(), random.getstate()


def noisy(recipe, folder):
    """A task right after training with dropout of every kind, in the same process."""
    return fitting.fit(recipe, folder, Heard())


def test_two_runs_are_equal_and_draw_nothing_right_after_training(tmp_path):
    model = dict(dropout=0.5, attention_dropout=0.5)
    task = noisy(tiny_recipe(write_pairs(tmp_path / "a.tsv", words()[:30]), model=model), tmp_path / "run")
    before = states()
    for search in (Search(), Search(beam=3, nbest=3)):
        first, second = (list(task.predict(words()[:9], search=search)) for _ in range(2))
        assert first == second
    assert list(task.score(PAIRS)) == list(task.score(PAIRS))
    names = ["exact", "loss"]
    assert task.evaluate(PAIRS, names, bootstrap=10) == task.evaluate(PAIRS, names, bootstrap=10)
    assert states() == before


def test_a_model_in_train_mode_still_answers_without_dropout(tmp_path):
    recipe = tiny_recipe(write_pairs(tmp_path / "a.tsv", words()[:30]), model=dict(dropout=0.5), steps=1)
    task = noisy(recipe, tmp_path / "run")
    expected = list(task.predict(words()[:9])), list(task.score(PAIRS))
    task.model.train()
    assert list(task.predict(words()[:9])) == expected[0]
    task.model.train()
    assert list(task.score(PAIRS)) == expected[1]


def test_validation_leaves_training_in_train_mode_and_its_generators_alone(tmp_path, monkeypatch):
    modes = []

    def watched(model, batch, **options):
        modes.append(model.training)
        return original(model, batch, **options)

    original = translating.translation_loss
    monkeypatch.setattr(translating, "translation_loss", watched)
    train, valid = (write_pairs(tmp_path / f"{name}.tsv", words()[:30]) for name in ("train", "valid"))
    noisy(tiny_recipe(train, valid, validate_every=1, validate_metrics=["exact"]), tmp_path / "often")
    noisy(tiny_recipe(train), tmp_path / "never")
    assert modes == [True] * 20
    # The last weights of both: validating ten times has drawn no number.
    last = "checkpoints/step-00000010/model.safetensors"
    assert (tmp_path / "often" / last).read_bytes() == (tmp_path / "never" / last).read_bytes()
