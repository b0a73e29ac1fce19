"""Runs that answer together."""

import math

import pytest
from tests.runs import command, reverse_run, reverse_task

from sublayer.data import Pair
from sublayer.errors import ConfigError
from sublayer.models.build import build
from sublayer.models.config import ModelConfig
from sublayer.tasks.ensemble import Ensemble
from sublayer.tasks.search import Search
from sublayer.tasks.translate import Translate
from sublayer.text import train_tokenizer

LINES = ["abc", "de", "ecab", "", "dddd"]
SEARCHES = [Search(), Search(beam=3, nbest=3), Search(temperature=1.5, nbest=2), Search(require=["aa"], forbid=["c"])]


def small(source, target, **settings):
    sizes = dict(source_vocab=len(source), target_vocab=len(target), d_model=16, num_heads=2, d_ff=24)
    config = ModelConfig(encoder_layers=1, decoder_layers=1, **(sizes | settings))
    return Translate(build(config).eval(), config, source, target, Search())


@pytest.fixture
def other(task, perturb):
    """A reader of words that writes with the same letters."""
    made = small(train_tokenizer("word", ["abc de ecab a"]), task.target)
    perturb(made.model)
    return made


@pytest.mark.parametrize("search", SEARCHES)
def test_a_run_with_itself_is_the_run(task, search):
    ours = list(Ensemble([task, task]).predict(LINES, search=search))
    theirs = list(task.predict(LINES, search=search))
    for found, expected in zip(ours, theirs, strict=True):
        assert [(a.text, a.tokens, a.finished) for a in found] == [(a.text, a.tokens, a.finished) for a in expected]
        assert [a.score for a in found] == pytest.approx([a.score for a in expected], abs=1e-4)


def test_given_targets_have_the_mean_of_the_probabilities(task, other):
    pairs = [Pair("abc", "cba", 1), Pair("de", "abcde", 2), Pair("a", "", 3)]
    together = Ensemble([task, other])
    assert task.source.kind != other.source.kind
    found = list(together.score(pairs))
    for mean, a, b in zip(found, task.score(pairs), other.score(pairs), strict=True):
        by_hand = [math.log((math.exp(p) + math.exp(q)) / 2) for p, q in zip(a.token_logps, b.token_logps, strict=True)]
        assert mean.token_logps == pytest.approx(by_hand, abs=1e-5) and mean.tokens == a.tokens
        assert mean.logp == pytest.approx(sum(by_hand), abs=1e-5)
    [loss] = together.evaluate(pairs, ["loss"])
    assert loss.value == pytest.approx(-sum(s.logp for s in found) / loss.count) and loss.count == 4 + 6 + 1


def test_what_search_reports_is_what_teacher_forcing_gives(task, other):
    together = Ensemble([task, other])
    for line, answers in zip(LINES, together.predict(LINES, search=Search(beam=3, nbest=3)), strict=True):
        for answer in answers if line else []:
            [scored] = together.score([Pair(line, answer.text, 1)])
            if answer.finished:
                assert answer.token_logps == pytest.approx(scored.token_logps, abs=1e-4)


def test_a_batch_changes_nothing(task, other):
    together = Ensemble([task, other])
    expected = [answers[0].text for answers in together.predict(LINES)]
    assert [next(together.predict([line]))[0].text for line in LINES] == expected
    assert [answers[0].text for answers in together.for_inference().predict(LINES[::-1])] == expected[::-1]


def test_alignments_and_settings_are_those_of_the_first(task, other):
    together = Ensemble([task, other])
    assert together.search is task.search and together.limit == math.inf
    pairs = [Pair("abc", "cba", 1)]
    assert list(together.align(pairs)) == list(task.align(pairs))
    bounded = small(other.source, task.target, position="learned", max_len=5)
    assert Ensemble([task, bounded]).limit == 5


def test_other_vocabularies_are_named(task):
    first, same_size, smaller = (small(task.source, train_tokenizer("char", [t])) for t in ("abcde", "abcdf", "abc"))
    words = small(task.source, train_tokenizer("split", ["a b c d e"]))
    with pytest.raises(ConfigError) as error:
        Ensemble([first, same_size, first, smaller, words], ["r", "s", "t", "u", "v"])
    assert str(error.value) == (
        "An ensemble writes with one vocabulary: train its models with the same target tokenizer. "
        "Here r writes 9 tokens of kind char, but\n"
        "  - s writes 9 tokens of kind char, 'f' for 'e' as id 8\n"
        "  - u writes 7 tokens of kind char\n"
        "  - v writes 9 tokens of kind split, ' a' for 'a' as id 4"
    )
    nfd = small(task.source, train_tokenizer("char", ["abcde"], normalization="nfd"))
    with pytest.raises(ConfigError, match="task 2 writes 9 tokens of kind char, put together by other rules"):
        Ensemble([first, nfd])
    with pytest.raises(ConfigError, match="An ensemble of no tasks has no probabilities"):
        Ensemble([])


def test_on_the_command_line(other, tmp_path):
    run, folder = reverse_run(), tmp_path / "other"
    other.save_pretrained(folder)
    together = Ensemble([reverse_task(), other]).for_inference()
    lines = b"abc\n\ndddd\n"
    found = [answers[0] for answers in together.predict(["abc", "", "dddd"])]
    said = command("predict", run, "--with", folder, "--scores", stdin=lines)
    assert said == (0, "".join(f"{a.score:.6f}\t{a.text}\n" for a in found), "")
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("abc\tcba\n", encoding="utf-8")
    [score] = together.evaluate([Pair("abc", "cba", 1)], ["loss"])
    assert command("evaluate", run, pairs, "--with", folder, "--metric", "loss").out == f"{score}\n"
    small(other.source, train_tokenizer("char", ["abc"])).save_pretrained(tmp_path / "strange")
    said = command("predict", run, "--with", folder, "--with", tmp_path / "strange", stdin=lines)
    assert said.code == 2 and f"{tmp_path / 'strange'} writes 7 tokens of kind char" in said.err
    said = command("predict", run, "--with", folder, "--engine", "onnx", stdin=lines)
    assert said.err == "sublayer: --with does not go together with --engine: leave one or the other out.\n"
