"""What is shown while it is written is, end to end, what `predict` gives."""

import pytest
import torch
from tests.runs import command, reverse_run

from sublayer.errors import ConfigError, DataError
from sublayer.generate import Token
from sublayer.models.build import build
from sublayer.models.config import ModelConfig
from sublayer.tasks.ensemble import Ensemble
from sublayer.tasks.search import Search
from sublayer.tasks.streaming import pieces
from sublayer.tasks.translate import Translate
from sublayer.text import train_tokenizer

TEXTS = ["a你 b#V;PST", "\U0001f98a, it is.", "ö/ö a"]
TOKENIZERS = {
    "bpe": train_tokenizer("bpe", TEXTS, vocab_size=262),  # hardly any merges: characters span tokens
    "unigram": train_tokenizer("unigram", TEXTS, vocab_size=262),
    "wordpiece": train_tokenizer("wordpiece", TEXTS, vocab_size=60),
    "char": train_tokenizer("char", TEXTS),
    "word": train_tokenizer("word", TEXTS),
    "split": train_tokenizer("split", TEXTS, separator="/"),
    "features": train_tokenizer("features", TEXTS),
}
SEARCHES = {
    "greedy": Search(max_ratio=1, max_extra=8),
    "drawn": Search(temperature=1.5, seed=3, max_ratio=1, max_extra=8),
    "stops": Search(temperature=1.5, seed=3, max_ratio=1, max_extra=12, stop_strings=["aö", "a你", " ", "ab"]),
    "rules": Search(min_length=6, no_repeat=2, repetition_penalty=1.3, max_extra=8),
}


def shown(text, target, stops=()):
    """The pieces of a text whose tokens come one by one."""
    ids = [*target.encode(text), target.eos]
    return list(pieces([Token(0, i, -1.0) for i in ids], target, stops))


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("name", SEARCHES)
def test_end_to_end_the_pieces_are_the_answer(kind, name, perturb):
    tokenizer, search = TOKENIZERS[kind], SEARCHES[name]
    sizes = dict(source_vocab=len(tokenizer), target_vocab=len(tokenizer), d_model=16, num_heads=2, d_ff=16)
    config = ModelConfig(encoder_layers=1, decoder_layers=1, **sizes)
    task = Translate(perturb(build(config)).eval(), config, tokenizer, tokenizer, search)
    for line, [answer] in zip([*TEXTS, " "], task.predict([*TEXTS, " "]), strict=True):
        assert "".join(task.stream(line)) == answer.text
        assert "".join(Ensemble([task, task]).stream(line)) == answer.text


def test_a_character_comes_with_its_last_byte():
    assert shown("a你\U0001f98a", TOKENIZERS["bpe"]) == ["a", "你", "\U0001f98a"]
    assert len(TOKENIZERS["bpe"].encode("a你\U0001f98a")) > 3
    broken = [Token(0, i, -1.0) for i in TOKENIZERS["bpe"].encode("a你")[:-1]]
    assert list(pieces(broken, TOKENIZERS["bpe"], [])) == ["a", "\ufffd"]


def test_separators_come_between_tokens():
    assert shown("ö/ö a/ö", TOKENIZERS["split"]) == ["ö", "/ö a", "/ö"]
    assert shown("it is.", TOKENIZERS["word"]) == ["it", " is."]


def test_what_may_become_a_stop_string_waits():
    target = train_tokenizer("char", ["abcdx"])
    assert shown("abxabcd", target, ["abc"]) == ["abx"]  # ab waits, and with x it is none
    assert shown("aab", target, ["abc"]) == ["a", "ab"]  # the first a comes when the second begins; the end tells
    assert shown("xcd", target, ["abc", "c"]) == ["x"]
    assert shown("abcd", target, ["bcx", "d"]) == ["a", "bc"]


def test_pieces_come_while_the_model_writes(task):
    steps = []
    hook = task.model.project.register_forward_hook(lambda *_: steps.append(1))
    try:
        written = task.stream("ecab")
        assert steps == []
        for n, letter in enumerate("bace", 1):
            assert next(written) == letter and len(steps) == n
            assert not torch.is_inference_mode_enabled()
        assert next(written, None) is None and len(steps) == 5
    finally:
        hook.remove()


def test_settings_that_compare_answers_are_refused(task):
    search = Search(beam=4, nbest=2, require=["a"])
    with pytest.raises(ConfigError, match="search.beam, search.nbest, search.require: an answer that is shown while"):
        next(task.stream("abc", search=search))


def test_on_the_command_line():
    run = reverse_run()
    assert command("predict", run, "--stream", stdin=b"abc\n\nde\n") == (0, "cba\n\ned\n", "")
    drawn = ("--set", "search.temperature=2", "--set", "search.seed=4")
    assert command("predict", run, "--stream", *drawn, stdin=b"abc\n") == command(
        "predict", run, *drawn, stdin=b"abc\n"
    )
    said = command("predict", run, "--stream", "--scores", "--json", stdin=b"abc\n")
    assert said.err == "sublayer: --stream does not go together with --scores, --json: leave one or the other out.\n"
    said = command("predict", run, "--stream", "--beam", 3, stdin=b"abc\n")
    assert said.code == 2 and "search.beam: an answer that is shown while it is written is the only one" in said.err


def test_a_line_that_is_too_long_is_left_empty_and_told(tmp_path):
    tokenizer = train_tokenizer("char", ["abc"])
    sizes = dict(source_vocab=7, target_vocab=7, d_model=16, num_heads=2, d_ff=16, encoder_layers=1, decoder_layers=1)
    config = ModelConfig(position="learned", max_len=4, **sizes)
    task = Translate(build(config).eval(), config, tokenizer, tokenizer, Search())
    with pytest.raises(DataError, match="5 tokens with </s>, and the model reads 4. Cut the text"):
        next(task.stream("abca"))
    task.save_pretrained(tmp_path)
    [[answer]] = task.predict(["ab"])
    said = command("predict", tmp_path, "--stream", stdin=b"abca\nab\n")
    assert (said.code, said.out) == (2, f"\n{answer.text}\n")
    assert "left empty:\n  - line 1: 5 tokens with </s>" in said.err
