"""Runs that begin with folders as transformers writes them: ModernBERT, and DeBERTa with a SentencePiece file alone."""

import json
import random
import shutil

import pytest
import torch
import transformers
from tests import published
from tests.parity.published import save
from tests.runs import Heard
from tests.text.spm import trained

from sublayer.models import encode_texts
from sublayer.tasks.bundle import load
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe

ENGLISH, RUSSIAN = "quick brown fox jumps over lazy dogs".split(), "Привет мир Ёлка съезд".split()
SIZES = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, pad_token_id=0)
LIKE_V3 = dict(position_buckets=4, norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type=["p2c", "c2p"])
DISENTANGLED = dict(relative_attention=True, position_biased_input=False, max_position_embeddings=32)
SPM = dict(pad_id=0, bos_id=1, eos_id=2, unk_id=3)
SPM |= dict(pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]", unk_piece="[UNK]")


def vocabulary(folder, kind):
    """How many ids there are."""
    if kind == "tokenizer.json":
        return len(published.bert(folder, [*ENGLISH, *RUSSIAN]).tokenizer)
    (folder / "spm.model").write_bytes(trained(model_type="unigram", vocab_size=220, **SPM))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "DebertaV2Tokenizer"}), "utf-8")
    return 221  # and the mask


MODELS = {
    "ModernBert": ("tokenizer.json", dict(layer_types=["full_attention", "sliding_attention"], local_attention=4)),
    "Deberta": ("tokenizer.json", dict(**DISENTANGLED, pos_att_type="c2p|p2c")),
    "DebertaV2": ("tokenizer.json", dict(**DISENTANGLED, pos_att_type="c2p|p2c", conv_kernel_size=3)),
    "DebertaV2 with spm.model": ("spm.model", dict(**DISENTANGLED, **LIKE_V3)),
}


@pytest.fixture(params=MODELS)
def folder(request, tmp_path, perturb):
    family, (kind, own) = request.param.split()[0], MODELS[request.param]
    source = tmp_path / "published"
    source.mkdir()
    size = vocabulary(source, kind)
    config = getattr(transformers, f"{family}Config")(vocab_size=size, **SIZES, **own)
    save(f"{family}Model", config, source, perturb)
    return source


def recipe(folder, task, lines, **train):
    for name in ("train", "valid"):
        (folder / f"{name}.txt").write_text("".join(lines), "utf-8")
    data = {name: str(folder / f"{name}.txt") for name in ("train", "valid")}
    train = dict(batch_tokens=64, validate_every=train["steps"], save_every=train["steps"]) | train
    model = {"from": str(folder / "published")}
    return make_recipe({"task": task, "data": data, "model": model, "train": train}, origin="a test")


def test_classes_are_learned_and_the_run_needs_the_folder_no_more(folder, tmp_path):
    draw = random.Random(0)
    lines = [f"{' '.join(draw.sample(words, 3))}\t{name}\n" for words, name in [(ENGLISH, "en"), (RUSSIAN, "ru")] * 20]
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    heard = Heard()
    task = fit(recipe(tmp_path, "classify", lines, steps=30, learning_rate=5e-3), tmp_path / "run", heard)
    assert heard.records[-1]["valid_accuracy"] == 100
    text = "lazy fox jumps over Привет"
    assert task.tokenizer.inputs(text).ids == theirs(text)["input_ids"]
    shutil.rmtree(folder)
    again = load(tmp_path / "run")
    assert [found.labels for found in again.predict(["lazy dogs", "мир"])] == [("en",), ("ru",)]
    assert [*again.predict([text])] == [*task.predict([text])]


def test_tags_begin_with_the_weights_of_the_folder(folder, tmp_path):
    architecture = json.loads((folder / "config.json").read_text("utf-8"))["architectures"][0]
    theirs = getattr(transformers, architecture).from_pretrained(folder).eval()
    lines = [f"{ENGLISH[i]}\tO\n{RUSSIAN[i]}\tB-word\n\n" for i in range(4)]
    task = fit(recipe(tmp_path, "tag", lines, steps=1, learning_rate=1e-12), tmp_path / "run", Heard())
    again = load(tmp_path / "run")
    (window,) = again.windows(["quick", "Привет"])
    with torch.no_grad():
        expected = theirs(torch.tensor([window.ids])).last_hidden_state[0]
        (states,) = encode_texts(again.model.body.eval(), [window.ids])
    torch.testing.assert_close(states, expected, atol=1e-5, rtol=1e-5)
    (said,) = again.predict(["quick Привет fox"])
    assert len(said.tags) == 3 and set(said.tags) <= {"O", "B-word"}
    assert said == next(task.predict(["quick Привет fox"]))
