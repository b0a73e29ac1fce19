"""A word-level model that writes `the <unk> sleeps` whatever it reads, each word looking at the word of its place."""

import pytest
import torch
from tests.runs import command

from sublayer.errors import ConfigError
from sublayer.export.ctranslate2 import CTranslate2
from sublayer.models.build import build
from sublayer.models.config import ModelConfig
from sublayer.tasks.search import Search
from sublayer.tasks.translate import Translate
from sublayer.text import train_tokenizer

COPY = Search(replace_unknown=True)


@pytest.fixture(params=["word", "split"])
def task(request):
    source, target = (train_tokenizer(request.param, [text]) for text in ("der die schläft", "the sleeps"))
    sizes = dict(source_vocab=len(source), target_vocab=len(target), d_model=32, num_heads=1, d_ff=32)
    config = ModelConfig(encoder_layers=1, decoder_layers=1, norm_first=True, tie="none", **sizes)
    model = build(config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if any(part in name for part in ("out_proj", "ffn", "cross_attn", "tokens", "project")):
                weight.zero_()  # so that positions are all there is to see
        cross = model.decoder.layers[0].cross_attn
        for projection in (cross.q_proj, cross.k_proj):
            projection.weight.copy_(10 * torch.eye(32))
        blank = torch.zeros(1, 4, dtype=torch.long)
        written = [*target.encode("the"), target.unk, *target.encode("sleeps"), target.eos]
        model.project.weight[written] = model.decode(blank, model.encode(blank))[0]
    return Translate(model, config, source, target, Search())


def test_an_unknown_word_reads_as_the_source_word_it_comes_from(task):
    lines = ["der Łukasz schläft", "die Zoé", "der die schläft", ""]
    found = [answers[0] for answers in task.predict(lines, search=COPY, alignments=True)]
    assert [a.text for a in found] == ["the Łukasz sleeps", "the Zoé sleeps", "the die sleeps", ""]
    assert found[0].tokens == ("the", "<unk>", "sleeps", "</s>")
    assert found[0].alignment.words() == [("der", "the"), ("Łukasz", "Łukasz"), ("schläft", "sleeps")]
    assert [next(task.predict([line], search=COPY))[0].text for line in lines] == [a.text for a in found]


def test_without_the_setting_no_unknown_word_comes(task):
    [[plain]] = task.predict(["der Łukasz schläft"])
    assert "<unk>" not in plain.tokens and "\ufffd" not in plain.text
    [[copied]] = task.predict(["der Łukasz schläft"], search=COPY)
    assert copied.logp > plain.logp and copied.alignment is None


def test_each_answer_of_a_beam_is_read_so_and_stop_strings_cut_first(task):
    [answers] = task.predict(["der Łukasz schläft"], search=Search(replace_unknown=True, beam=3, nbest=3))
    assert answers[0].text == "the Łukasz sleeps"
    for answer in answers:
        copied = zip(answer.tokens, answer.text.split(), ["der", "Łukasz", "schläft"], strict=False)
        assert all(word == source for token, word, source in copied if token == "<unk>")
    [[cut]] = task.predict(["der Łukasz schläft"], search=Search(replace_unknown=True, stop_strings=["sleeps"]))
    assert cut.text == "the Łukasz "


def test_where_no_word_is_unknown_it_is_refused(task):
    tokenizer = train_tokenizer("bpe", ["a"], vocab_size=261)
    task.target = tokenizer
    with pytest.raises(ConfigError, match="search.replace_unknown .* a target of kind char, word or split, not 'bpe'"):
        list(task.predict(["a"], search=COPY))
    with pytest.raises(ValueError, match="replace_unknown: take engine native"):
        CTranslate2.find(None, task, [[4]], COPY)


def test_on_the_command_line(task, tmp_path):
    task.save_pretrained(tmp_path)
    said = command("predict", tmp_path, "--set", "search.replace_unknown=true", stdin="die Zoé schläft\n".encode())
    assert said == (0, "the Zoé sleeps\n", "")
