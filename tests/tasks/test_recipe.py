import pytest
from pydantic import ValidationError

from sublayer.models.config import ModelConfig
from sublayer.tasks.recipe import Data, Recipe, Search, Side, Text, Train


def test_an_empty_recipe_leaves_sizes_open_and_searches_greedily():
    recipe = Recipe()
    assert recipe.task == "translate"
    assert recipe.model is None and recipe.train is None
    assert recipe.text == Text(source=Side(kind="auto"), target=Side(kind="auto"), shared=False)
    assert (recipe.search.beam, recipe.search.nbest) == (1, 1)


def test_one_file_or_two_parallel_ones():
    assert Data(train="a.tsv").train == ["a.tsv"]
    assert Data(train=["a.src", "a.trg"]).train == ["a.src", "a.trg"]
    for files in ([], ["a", "b", "c"]):
        with pytest.raises(ValidationError, match=f"one file of pairs, or a source .* not {len(files)} files"):
            Data(train=files)


@pytest.mark.parametrize(
    ("section", "values", "words"),
    [
        (Train, dict(metric="blue", validate_metrics=["bleu"]), "metric 'blue' is unknown. Did you mean 'bleu'?"),
        (Train, dict(validate_metrics=["exactt"]), "metric 'exactt' is unknown. Did you mean 'exact'?"),
        (Train, dict(metric="exact"), "'exact' is not measured: add it to train.validate_metrics"),
        (Search, dict(nbest=3, beam=2), "nbest=3 is more than beam=2 can give: widen the beam"),
        (Recipe, dict(model=dict(architecture="decoder")), "translate needs an encoder-decoder, not .*'decoder'"),
        (Recipe, dict(model=dict(tie="all")), "tie 'all' needs one vocabulary: set text.shared to true, or tie to"),
        (Recipe, dict(model=dict(num_heads=3, d_model=16)), "choose num_heads from 1, 2, 4, 8, 16"),
        (Recipe, dict(task="classify"), "translate"),
        (Side, dict(kind="bytes"), "'char'.*'bpe'"),
        (Train, dict(steps=0), "greater than or equal to 1"),
        (Train, dict(steps=2.5), "integer"),
        (Train, dict(betas=[0.9]), "betas"),
    ],
)
def test_what_cannot_be_is_told(section, values, words):
    with pytest.raises(ValidationError, match=words):
        section.model_validate(values)


def test_what_can_be_may_be():
    Train(metric="bleu", validate_metrics=["bleu", "chrf"])
    Train(metric="perplexity")
    Search(nbest=3, beam=3)
    Recipe.model_validate(dict(model=dict(tie="all"), text=dict(shared=True)))


def test_unknown_keys_are_refused_at_every_level():
    for values in (
        {"trian": {}},
        {"train": {"step": 3}},
        {"text": {"source": {"size": 3}}},
        {"model": {"d_modle": 4}},
        {"search": {"beams": 4}},
    ):
        with pytest.raises(ValidationError):
            Recipe.model_validate(values)


def test_the_schema_describes_every_section():
    schema = Recipe.model_json_schema()
    assert set(schema["properties"]) == {"task", "data", "text", "model", "train", "search"}
    assert "d_model" in schema["$defs"]["ModelConfig"]["properties"]
    assert schema["$defs"]["Train"]["additionalProperties"] is False
    assert set(ModelConfig.model_fields) == set(schema["$defs"]["ModelConfig"]["properties"])
