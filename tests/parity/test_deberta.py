"""What DeBERTa's configs can say, against transformers: perturbed weights, padded and packed batches."""

import copy
import json

import pytest
import torch
import transformers
from safetensors.torch import load_file
from tests.parity.published import LENGTHS, batch, comes_back, loads, save
from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

from sublayer.errors import CheckpointError, ConfigError
from sublayer.interop.pretrained import from_pretrained
from sublayer.models import encode_texts
from sublayer.nn import RelativePositions

SIZES = dict(vocab_size=29, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24)
SIZES |= dict(max_position_embeddings=20, initializer_range=0.2, relative_attention=True, position_biased_input=False)
BOTH = dict(pos_att_type="c2p|p2c")
FIRST = {
    "content to position alone": dict(pos_att_type="c2p", type_vocab_size=2),
    "distances beyond the last": dict(**BOTH, max_relative_positions=3),
    "absolute positions too": dict(**BOTH, position_biased_input=True, type_vocab_size=2, embedding_size=8),
}
SECOND = {
    "buckets, maps of their own": dict(**BOTH, position_buckets=4),
    "position to content alone": dict(pos_att_type=["p2c"], position_buckets=4, share_att_key=True),
    "no buckets": dict(**BOTH, max_relative_positions=4, norm_rel_ebd="layer_norm"),
    "a convolution": dict(**BOTH, position_buckets=4, conv_kernel_size=3, conv_act="gelu", share_att_key=True),
    "a wide one in groups": dict(**BOTH, conv_kernel_size=5, conv_groups=2, type_vocab_size=2),
    "absolute positions too": dict(**BOTH, position_biased_input=True, embedding_size=8, position_buckets=4),
}
CASES = [("Deberta", name) for name in FIRST] + [("DebertaV2", name) for name in SECOND]


def config(family, **settings):
    return getattr(transformers, f"{family}Config")(**(SIZES | settings))


@pytest.mark.parametrize("family, case", CASES)
def test_states_padded_on_either_side_and_packed(family, case, tmp_path, perturb, ragged):
    settings = (FIRST if family == "Deberta" else SECOND)[case]
    theirs = save(f"{family}Model", config(family, **settings), tmp_path / "theirs", perturb)
    model = comes_back(tmp_path / "theirs", tmp_path / "ours").model
    ids, keep = batch(29, ragged)
    with torch.no_grad():
        expected = theirs(input_ids=ids, attention_mask=keep.long()).last_hidden_state[keep]
        again = loads(f"{family}Model", tmp_path / "ours")(input_ids=ids, attention_mask=keep.long())
    assert again.last_hidden_state[keep].equal(expected) and expected.std() > 0.1
    rows, other = [row[k] for row, k in zip(ids, keep, strict=True)], ragged(LENGTHS, left=True)
    left = torch.zeros_like(ids).masked_scatter(other, torch.cat(rows))
    packed = torch.cat(encode_texts(model, [row.tolist() for row in rows]))
    for made in (model(ids, keep)[keep], model(left, other)[other], packed, model.for_inference()(ids, keep)[keep]):
        torch.testing.assert_close(made, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("buckets, far", [(256, 512), (4, 20), (32, 128), (6, 9), (7, 40)])
def test_every_distance_is_in_their_bucket(buckets, far):
    distances = torch.arange(-600, 601)
    ours = RelativePositions(4, far, buckets=buckets).bucket(distances)
    assert ours.equal(make_log_bucket_position(distances, buckets, far).long())


def test_a_text_longer_than_all_distances(tmp_path, perturb):
    theirs = save("DebertaV2Model", config("DebertaV2", **BOTH, position_buckets=4), tmp_path, perturb)
    ids = torch.randint(3, 29, (1, 70))
    with torch.no_grad():
        expected = theirs(input_ids=ids).last_hidden_state
    torch.testing.assert_close(from_pretrained(tmp_path).model(ids), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", ["Deberta", "DebertaV2"])
def test_the_original_head_of_the_masked_lm(family, tmp_path, perturb, ragged):
    """It reads its output map from the embeddings and has another name; config.json need not say which is there."""
    theirs = save(f"{family}ForMaskedLM", config(family, **BOTH, legacy=False), tmp_path / "theirs", perturb)
    settings = json.loads((tmp_path / "theirs" / "config.json").read_text("utf-8"))
    del settings["legacy"]
    (tmp_path / "theirs" / "config.json").write_text(json.dumps(settings), "utf-8")
    ours = comes_back(tmp_path / "theirs", tmp_path / "ours")
    ids, keep = batch(29, ragged)
    with torch.no_grad():
        expected = theirs(input_ids=ids, attention_mask=keep.long()).logits
        again = loads(f"{family}ForMaskedLM", tmp_path / "ours")(input_ids=ids, attention_mask=keep.long()).logits
    torch.testing.assert_close(ours.model(ids, keep), expected[keep], atol=1e-5, rtol=1e-5)
    assert again.equal(expected)


def test_a_file_as_the_third_version_is_published(tmp_path, perturb):
    """No architecture, pickled weights, both heads of its training and a table of positions that nothing reads."""
    theirs = save("DebertaV2Model", config("DebertaV2", **BOTH), tmp_path, perturb)
    held = {f"deberta.{name}": x for name, x in load_file(tmp_path / "model.safetensors").items()}
    for part in ("mask_predictions.dense", "mask_predictions.LayerNorm", "lm_predictions.lm_head.dense"):
        held |= {f"{part}.weight": torch.ones(16), f"{part}.bias": torch.ones(16)}
    held["deberta.embeddings.position_embeddings.weight"] = torch.ones(20, 16)
    torch.save(held, tmp_path / "pytorch_model.bin")
    (tmp_path / "model.safetensors").unlink()
    settings = json.loads((tmp_path / "config.json").read_text("utf-8"))
    del settings["architectures"]
    (tmp_path / "config.json").write_text(json.dumps(settings), "utf-8")
    ours, ids = from_pretrained(tmp_path), torch.randint(3, 29, (2, 5))
    with torch.no_grad():
        torch.testing.assert_close(ours.model(ids), theirs(ids).last_hidden_state, atol=1e-5, rtol=1e-5)
    assert len(ours.left_out) == 7 and "deberta.embeddings.position_embeddings.weight" in ours.left_out


@pytest.mark.parametrize(
    "settings, words",
    [
        (dict(relative_attention=False), "relative_attention is False, and only True can be read"),
        (dict(talking_head=True), "talking_head is True, and only False can be read"),
        (dict(pos_att_type="c2p|p2p"), "pos_att_type is 'c2p|p2p', expected some of c2p, p2c"),
        (dict(pos_att_type=None), "position.terms: Tuple should have at least 1 item"),
        (dict(norm_rel_ebd="batch_norm"), "norm_rel_ebd is 'batch_norm'"),
    ],
)
def test_what_has_no_counterpart_is_refused(settings, words, tmp_path, perturb):
    save("DebertaV2Model", config("DebertaV2", **BOTH), tmp_path, perturb)
    came = json.loads((tmp_path / "config.json").read_text("utf-8"))
    (tmp_path / "config.json").write_text(json.dumps(came | settings), "utf-8")
    with pytest.raises((CheckpointError, ConfigError)) as caught:
        from_pretrained(tmp_path)
    assert words in str(caught.value)


def test_settings_that_changed_are_written_anew(tmp_path, perturb):
    save("DebertaV2Model", config("DebertaV2", **SECOND["a convolution"]), tmp_path, perturb)
    ours = from_pretrained(tmp_path)
    changed = copy.deepcopy(ours.config).model_copy(update={"dropout": 0.3})
    settings = ours.family.settings(changed, ours.head, ours.theirs)
    assert settings["position_buckets"] == 4 and settings["max_relative_positions"] == -1
    assert settings["pos_att_type"] == ["c2p", "p2c"] and settings["conv_kernel_size"] == 3
    assert ours.family.config(settings, ours.head) == changed
