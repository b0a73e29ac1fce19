"""Encoders against transformers: every head, perturbed weights, padded batches."""

import copy

import pytest
import torch
import transformers
from tests.parity.published import LENGTHS, batch, comes_back, loads, save

from sublayer.models import encode_texts

SIZES = dict(vocab_size=29, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24)
SIZES["initializer_range"] = 0.2
MODERN = dict(
    **SIZES,
    max_position_embeddings=20,
    layer_types=["full_attention", "sliding_attention", "full_attention"],
    local_attention=4,
    pad_token_id=0,
)
MODERN["num_hidden_layers"] = 3
DISENTANGLED = dict(max_position_embeddings=20, relative_attention=True, position_biased_input=False)
LIKE_V3 = dict(position_buckets=4, norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type=["p2c", "c2p"])
CONFIGS = {
    "ModernBert": transformers.ModernBertConfig(**MODERN),
    "Bert": transformers.BertConfig(**SIZES, max_position_embeddings=20),
    "Roberta": transformers.RobertaConfig(**SIZES, max_position_embeddings=20, type_vocab_size=1),
    "XLMRoberta": transformers.XLMRobertaConfig(**SIZES, max_position_embeddings=20, type_vocab_size=1),
    "Camembert": transformers.CamembertConfig(**SIZES, max_position_embeddings=20, type_vocab_size=1),
    "DistilBert": transformers.DistilBertConfig(
        vocab_size=29, dim=16, n_layers=2, n_heads=4, hidden_dim=24, max_position_embeddings=20, initializer_range=0.2
    ),
    "Deberta": transformers.DebertaConfig(**SIZES, **DISENTANGLED, pos_att_type="p2c|c2p"),
    "DebertaV2": transformers.DebertaV2Config(**SIZES, **DISENTANGLED, **LIKE_V3),
    "Electra": transformers.ElectraConfig(**SIZES, max_position_embeddings=20, embedding_size=8),
}
OUTPUTS = {
    "Model": "last_hidden_state",
    "ForMaskedLM": "logits",
    "ForPreTraining": "prediction_logits",
    "ForSequenceClassification": "logits",
    "ForTokenClassification": "logits",
    "ForQuestionAnswering": "span",
}
TWIN = ("XLMRoberta", "Camembert")  # of Roberta, under other names
PRETRAINED = ("Bert", "Electra")
CASES = [
    (family, kind)
    for family in CONFIGS
    for kind in OUTPUTS
    if (kind != "ForPreTraining" or family in PRETRAINED) and (kind == "ForMaskedLM" or family not in TWIN)
]
cases = pytest.mark.parametrize("family, kind", CASES, ids=lambda name: name)


def output(theirs, kind, ids, keep, types):
    with torch.no_grad():
        made = theirs(input_ids=ids, attention_mask=keep.long(), **types)
    if kind == "ForQuestionAnswering":
        return torch.stack((made.start_logits, made.end_logits), -1)
    if kind == "ForPreTraining" and "logits" in made:
        return made.logits
    if kind == "Model" and "pooler_output" in made:
        return made.pooler_output
    return made[OUTPUTS[kind]]


def segments(family, ids):
    return {"token_type_ids": torch.randint(2, ids.shape)} if family in ("Bert", "Electra") else {}


@cases
def test_every_head_on_a_padded_batch(family, kind, tmp_path, perturb, ragged):
    architecture, config = family + kind, copy.deepcopy(CONFIGS[family])
    config.num_labels = 3 if kind.endswith("Classification") else 2
    theirs = save(architecture, config, tmp_path / "theirs", perturb)
    ours = comes_back(tmp_path / "theirs", tmp_path / "ours")
    ids, keep = batch(29, ragged, pad=config.pad_token_id)
    types = segments(family, ids)
    expected = output(theirs, kind, ids, keep, types)
    made = ours.model(ids, keep, types.get("token_type_ids"))
    # A head gives a row a real token, or one a text.
    real, said = (x[keep] if x.shape[:2] == keep.shape else x for x in (expected, made))
    torch.testing.assert_close(said, real, atol=1e-5, rtol=1e-5)
    assert expected.std() > 0.1  # a head that says nothing would agree with any other
    if architecture != "BertForPreTraining":  # it is written without its second head
        again = loads(architecture, tmp_path / "ours")
        assert output(again, kind, ids, keep, types).equal(expected)


@pytest.mark.parametrize("kind", ["ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"])
def test_what_modernbert_says_of_its_heads(kind, tmp_path, perturb, ragged):
    said = dict(classifier_pooling="mean", classifier_activation="silu", classifier_bias=True, norm_bias=True)
    config = transformers.ModernBertConfig(**MODERN, **said, classifier_dropout=0.4)
    theirs = save(f"ModernBert{kind}", config, tmp_path / "theirs", perturb)
    ours = comes_back(tmp_path / "theirs", tmp_path / "ours")
    ids, keep = batch(29, ragged)
    expected = output(theirs, kind, ids, keep, {})
    real = expected[keep] if expected.shape[:2] == keep.shape else expected
    torch.testing.assert_close(ours.model(ids, keep), real, atol=1e-5, rtol=1e-5)
    assert ours.model.head.dropout.p == 0.4 and expected.std() > 0.1
    settings = ours.family.settings(ours.config.model_copy(update={"dropout": 0.3}), ours.head, {})
    told = said if kind == "ForSequenceClassification" else said | {"classifier_pooling": None}
    assert {name: settings.get(name) for name in said} == told


@pytest.mark.parametrize("family", [family for family in CONFIGS if family not in TWIN])
def test_states_of_the_body_padded_on_either_side_and_packed(family, tmp_path, perturb, ragged):
    theirs = save(f"{family}Model", CONFIGS[family], tmp_path, perturb)
    ours = comes_back(tmp_path, tmp_path / "again")
    body = getattr(ours.model, "body", ours.model)
    ids, keep = batch(29, ragged, pad=CONFIGS[family].pad_token_id)
    with torch.no_grad():
        expected = theirs(input_ids=ids, attention_mask=keep.long()).last_hidden_state
    torch.testing.assert_close(body(ids, keep)[keep], expected[keep], atol=1e-5, rtol=1e-5)
    rows, other = [row[k] for row, k in zip(ids, keep, strict=True)], ragged(LENGTHS, left=True)
    left = torch.zeros_like(ids).masked_scatter(other, torch.cat(rows))
    torch.testing.assert_close(body(left, other)[other], expected[keep], atol=1e-5, rtol=1e-5)
    packed = encode_texts(body, [row.tolist() for row in rows])
    torch.testing.assert_close(torch.cat(packed), expected[keep], atol=1e-5, rtol=1e-5)
