"""G22, training: tied matrices move as one, are in the optimiser once, and are still tied after a resume."""

import pytest
import torch
from tests.runs import CHARS, Heard, tiny_recipe, words, write_pairs

from sublayer.models.store import load_tensors
from sublayer.tasks.bundle import load
from sublayer.tasks.fit import fit
from sublayer.tasks.prepare import prepare
from sublayer.train.optim import optimizer

NAMES = {"target": {"target_embed", "project"}, "all": {"source_embed", "target_embed", "project"}, "none": set()}


def recipe(tmp_path, tie, **settings):
    train = write_pairs(tmp_path / "train.tsv", words()[:30])
    return tiny_recipe(train, text=CHARS | {"shared": tie == "all"}, model={"tie": tie}, **settings)


def matrices(model):
    every = {
        "source_embed": model.source_embed.tokens.weight,
        "target_embed": model.target_embed.tokens.weight,
        "project": model.project.weight,
    }
    return {name for name, matrix in every.items() if sum(matrix is other for other in every.values()) > 1}


@pytest.mark.parametrize("tie", NAMES)
def test_the_optimiser_has_each_parameter_once(tmp_path, tie):
    model = prepare(recipe(tmp_path, tie), Heard()).task.model
    held = [id(p) for group in optimizer(model, "adamw").param_groups for p in group["params"]]
    assert len(held) == len(set(held)) == len(list(model.parameters()))
    assert matrices(model) == NAMES[tie]


@pytest.mark.parametrize("tie", NAMES)
def test_the_tie_holds_through_training_resume_and_loading(tmp_path, tie):
    fit(recipe(tmp_path, tie, steps=8), tmp_path / "whole", Heard())
    task = fit(recipe(tmp_path, tie, steps=8, save_every=4), tmp_path / "parts", Heard())
    assert matrices(task.model) == NAMES[tie]
    resumed = fit(recipe(tmp_path, tie, steps=8, save_every=4), tmp_path / "parts", Heard(), resume=True)
    assert matrices(resumed.model) == matrices(load(tmp_path / "parts").model) == NAMES[tie]
    whole, parts = (load_tensors(tmp_path / name / "model.safetensors") for name in ("whole", "parts"))
    assert whole.keys() == parts.keys() and all(torch.equal(whole[name], parts[name]) for name in whole)
    stored = {name.split(".")[0] for name in whole} & {"source_embed", "target_embed", "project"}
    assert len(stored) == 3 - max(len(NAMES[tie]) - 1, 0)
