import json

import pytest
import torch
from safetensors.torch import load_file

import sublayer
from sublayer.errors import CheckpointError, ConfigError
from sublayer.models import EncoderWithHead
from sublayer.models.heads import SentenceVector

IDS = torch.tensor([[3, 1, 6, 2]])


def told(folder):
    with pytest.raises(CheckpointError) as caught:
        sublayer.from_pretrained(folder)
    return str(caught.value).splitlines()


def test_weights_and_settings_come_from_the_folder(published, held):
    ours = sublayer.from_pretrained(published(held))
    assert isinstance(ours.model, EncoderWithHead) and not ours.model.training
    assert ours.config.d_model == 8 and ours.config.norm.options == {"eps": 1e-12} and not ours.config.norm_first
    assert ours.model.head.project.weight is ours.model.body.embed.tokens.weight
    assert ours.model.body.embed.tokens.weight.equal(held["bert.embeddings.word_embeddings.weight"])
    assert ours.tokenizer is None and ours.left_out == ()


def test_loading_draws_nothing(published):
    folder, drawn = published(), torch.get_rng_state()
    sublayer.from_pretrained(folder)
    assert torch.get_rng_state().equal(drawn)


def test_older_names_and_copies_of_tied_tensors(published, held):
    expected = sublayer.from_pretrained(published(held)).model(IDS)
    older = {name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta"): x for name, x in held.items()}
    older["bert.embeddings.position_ids"] = torch.arange(9)[None]
    older["cls.predictions.decoder.weight"] = held["bert.embeddings.word_embeddings.weight"].clone()
    older["cls.predictions.decoder.bias"] = held["cls.predictions.bias"].clone()
    older["cls.seq_relationship.bias"] = torch.ones(2)
    ours = sublayer.from_pretrained(published(older))
    assert ours.model(IDS).equal(expected)
    assert ours.left_out == ("bert.embeddings.position_ids", "cls.seq_relationship.bias")
    del older["bert.embeddings.word_embeddings.weight"]  # the copy alone will do
    assert sublayer.from_pretrained(published(older)).model(IDS).equal(expected)


def test_copies_that_differ_are_an_error(published, held):
    other = {"cls.predictions.decoder.bias": torch.randn(7)}
    assert told(published(held | other)) == [
        "cls.predictions.decoder.bias is another name of cls.predictions.bias, and the file has two different tensors "
        "there."
    ]
    other = {"cls.predictions.decoder.weight": torch.randn(7, 8)}
    assert "tied, but different in the file" in told(published(held | other))[1]


def test_a_body_is_read_with_and_without_the_familys_prefix(published, held):
    body = {name.removeprefix("bert."): x for name, x in held.items() if name.startswith("bert.")}
    ours = sublayer.from_pretrained(published(body, architectures=["BertModel"]))
    again = sublayer.from_pretrained(published(held, architectures=["BertModel"]))
    assert type(ours.model) is type(again.model) is sublayer.EncoderModel
    assert ours.model(IDS).equal(again.model(IDS))
    assert ours.left_out == () and "cls.predictions.bias" in again.left_out
    pooler = {"pooler.dense.weight": torch.randn(8, 8), "pooler.dense.bias": torch.randn(8)}
    pooled = sublayer.from_pretrained(published(body | pooler, architectures=["BertModel"]))
    expected = (ours.model(IDS)[:, 0] @ pooler["pooler.dense.weight"].T + pooler["pooler.dense.bias"]).tanh()
    torch.testing.assert_close(pooled.model(IDS), expected)


def test_numbers_keep_the_type_they_are_stored_in(published, held):
    ours = sublayer.from_pretrained(published({name: x.bfloat16() for name, x in held.items()}))
    assert ours.model(IDS).dtype == torch.bfloat16


def test_what_cannot_be_read_is_told_at_once(published):
    assert told(published(model_type="brt")) == ["config.json says model_type 'brt'. Did you mean 'bert'?"]
    assert told(published(architectures=["BertLMHeadModel"]))[0].startswith(
        "config.json names the architecture 'BertLMHeadModel', which is not read here. Did you mean 'BertModel'?"
    )
    assert told(published(is_decoder=True, position_embedding_type="relative_key")) == [
        "This bert model has what has no counterpart here:",
        "  - is_decoder is True, and only False can be read",
        "  - position_embedding_type is 'relative_key', and only 'absolute' can be read",
    ]
    with pytest.raises(ConfigError, match="hidden_act is 'gelo'. Did you mean 'gelu'?"):
        sublayer.from_pretrained(published(hidden_act="gelo"))


def test_saved_as_it_came(published, held, tmp_path):
    ours = sublayer.from_pretrained(published(held, id2label={"0": "no"}, unheard_of=1))
    ours.save_pretrained(tmp_path / "again")
    back = load_file(tmp_path / "again" / "model.safetensors")
    assert back.keys() == held.keys() and all(back[name].equal(held[name]) for name in held)
    assert json.loads((tmp_path / "again" / "config.json").read_text("utf-8")) == ours.theirs


def test_a_model_that_such_a_folder_cannot_describe_is_not_written(published, tmp_path):
    import dataclasses

    ours = sublayer.from_pretrained(published())
    with pytest.raises(ConfigError) as caught:
        config = ours.config.model_copy(update={"norm_first": True, "bias": False})
        dataclasses.replace(ours, config=config).save_pretrained(tmp_path / "again")
    assert str(caught.value).splitlines() == [
        "No bert model can be written from this one:",
        "  - norm_first is True, and in such a model False",
        "  - bias is False, and in such a model True",
    ]


def test_settings_that_changed_are_written_anew(published, tmp_path):
    ours = sublayer.from_pretrained(published(unheard_of=1))
    changed = ours.config.model_copy(update={"dropout": 0.3})
    settings = ours.family.settings(changed, ours.head, ours.theirs)
    assert settings["hidden_dropout_prob"] == 0.3 and settings["unheard_of"] == 1
    assert ours.family.config(settings, ours.head) == changed


def modules(folder, *kinds, **pooling):
    places = {"Pooling": "1_Pooling"}
    listed = [{"type": f"sentence_transformers.models.{kind}", "path": places.get(kind, "")} for kind in kinds]
    (folder / "modules.json").write_text(json.dumps(listed), encoding="utf-8")
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling), encoding="utf-8")
    return folder


def test_folders_of_sentence_vectors(published, tmp_path):
    folder = published(architectures=["BertModel"])
    ours = sublayer.from_pretrained(modules(folder, "Transformer", "Pooling", pooling_mode_cls_token=True))
    assert isinstance(ours.model.head, SentenceVector)
    assert ours.model(IDS).equal(ours.model.body(IDS)[:, 0])
    modules(folder, "Transformer", "Pooling", "Normalize", pooling_mode_mean_tokens=True)
    vectors = sublayer.from_pretrained(folder).model(IDS)
    torch.testing.assert_close(vectors.norm(dim=-1), torch.ones(1))
    sublayer.from_pretrained(folder).save_pretrained(tmp_path / "again")
    assert sublayer.from_pretrained(tmp_path / "again").model(IDS).equal(vectors)
    assert "has the modules Transformer, Dense" in told(modules(folder, "Transformer", "Dense"))[0]
    modules(folder, "Transformer", "Pooling", pooling_mode_weightedmean_tokens=True)
    assert told(folder)[1] == "  - pooling_mode_weightedmean_tokens"


def test_a_name_that_is_no_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(CheckpointError, match="no/such-model is no folder here and cannot be fetched by that name"):
        sublayer.from_pretrained("no/such-model")
    with pytest.raises(CheckpointError, match="cannot be fetched by that name"):
        sublayer.from_pretrained("../no such/folder")


def test_a_name_is_fetched_at_its_revision(monkeypatch, published):
    folder, asked = published(), []

    def download(name, revision, allow_patterns):
        asked.append((name, revision, "*.py" in allow_patterns))
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    assert sublayer.from_pretrained("someone/model", revision="v2").config.d_model == 8
    assert asked == [("someone/model", "v2", False)]
