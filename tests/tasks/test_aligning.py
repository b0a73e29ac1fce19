"""Alignments from weights that are known: by hand, from a model that looks straight ahead, from any model."""

import json

import pytest
import torch
from tests.runs import command

from sublayer.data import Pair
from sublayer.errors import ConfigError, DataError
from sublayer.inspect import attention_maps
from sublayer.models.build import build
from sublayer.models.config import ModelConfig
from sublayer.tasks.aligning import link
from sublayer.tasks.base import Alignment
from sublayer.tasks.search import Search
from sublayer.tasks.translate import Translate
from sublayer.text import Words, train_tokenizer

SIZES = dict(d_model=32, num_heads=2, d_ff=32, encoder_layers=1, decoder_layers=2)
LINES = ["ab cd e", "e", "abcde ab ab cd", "cd e"]
LETTERS = train_tokenizer("bpe", ["ab ab cd cd abcde e"] * 2, vocab_size=264)


def made(tokenizer, **settings):
    config = ModelConfig(source_vocab=len(tokenizer), target_vocab=len(tokenizer), **(SIZES | settings))
    return Translate(build(config).eval(), config, tokenizer, tokenizer, Search(max_ratio=1, max_extra=3))


@pytest.fixture
def straight():
    """Words in, words out: target word n looks at source word n and nowhere else, in the last layer but one; the last
    layer looks everywhere alike."""
    task = made(train_tokenizer("word", ["a b c d e f"]), num_heads=1, norm_first=True)
    with torch.no_grad():
        for embed in (task.model.source_embed, task.model.target_embed):
            embed.tokens.weight.zero_()  # positions are all there is to see
        for name, weight in task.model.named_parameters():
            if "out_proj" in name or "ffn" in name or "cross_attn" in name:
                weight.zero_()
        cross = task.model.decoder.layers[0].cross_attn
        for projection in (cross.q_proj, cross.k_proj):
            projection.weight.copy_(10 * torch.eye(32))
    return task


@pytest.fixture
def perturbed(perturb):
    task = made(LETTERS)
    perturb(task.model)
    return task


def test_weights_are_summed_over_the_tokens_of_both_words():
    # Source: x y|z EOS (y and z make one word), target: u v|w EOS.
    weights = torch.tensor([[0.4, 0.3, 0.2, 0.1], [0.5, 0.2, 0.2, 0.1], [0.1, 0.3, 0.0, 0.6], [0.0, 0.0, 0.0, 1.0]])
    source, target = Words((7, 8, 9), ("x", "yz"), (0, 1, 1)), Words((4, 5, 6), ("u", "vw"), (0, 1, 1))
    # u: x 0.4, yz 0.3 + 0.2. vw: x 0.5 + 0.1, yz 0.2 + 0.2 + 0.3 + 0.0. Token by token u and v would look at x.
    assert link(weights, source, target).links == ((1, 0), (1, 1))
    # As three words each: u to x; v to x; w to y.
    each = link(weights, Words.one_a_token((7, 8, 9), "xyz"), Words.one_a_token((4, 5, 6), "uvw"))
    assert each.links == ((0, 0), (0, 1), (1, 2))
    # White space belongs to no word.
    assert link(weights, Words((7, 8, 9), ("x", "z"), (0, -1, 1)), target).links == ((0, 0), (0, 1))


def test_equal_weights_take_the_first_word_and_no_weight_none():
    weights = torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    assert link(weights, Words.one_a_token((4, 5), "ab"), Words.one_a_token((4, 5), "ab")).links == ((0, 0),)


def test_pharaoh_and_words():
    alignment = Alignment(("new", "house"), ("maison", "neuve"), ((1, 0), (0, 1)))
    assert alignment.pharaoh() == "1-0 0-1"
    assert alignment.words() == [("house", "maison"), ("new", "neuve")]
    assert Alignment((), (), ()).pharaoh() == ""


def test_a_model_that_looks_straight_ahead_aligns_along_the_diagonal(straight):
    pairs = [Pair("a b c d", "d c b", 1), Pair("a", "f", 2), Pair("a b c d e f", "f f f f f f", 3)]
    straight_on, one, long = straight.align(pairs)
    assert straight_on == Alignment(("a", "b", "c", "d"), ("d", "c", "b"), ((0, 0), (1, 1), (2, 2)))
    assert one.pharaoh() == "0-0" and long.pharaoh() == "0-0 1-1 2-2 3-3 4-4 5-5"
    for layer in (0, -2):
        assert list(straight.align(pairs, layer=layer)) == [straight_on, one, long]
    even = next(straight.align(pairs, layer=-1))
    assert even.pharaoh() == "0-0 0-1 0-2"  # all alike: the first


def test_it_is_the_mean_over_the_heads_of_the_last_layer_but_one(perturbed):
    line, other = LINES[0], LINES[2]
    batch = perturbed.batch(perturbed.encode_pairs([Pair(line, other, 1)]))
    with torch.no_grad(), attention_maps(perturbed.model) as maps:
        perturbed.model(batch.source, batch.target_in)
    words = LETTERS.words(line), LETTERS.words(other)
    first, last = (link(layer[0].mean(0), *words) for layer in maps.cross)
    assert first != last and link(maps.cross[0][0, 0], *words) != first
    assert list(perturbed.align([Pair(line, other, 1)])) == [first]


def test_a_batch_changes_nothing_and_leaves_nothing_behind(perturbed):
    pairs = [Pair(line, other, n) for n, (line, other) in enumerate(zip(LINES, LINES[::-1], strict=True), 1)]
    kernels = [layer.cross_attn.kernel for layer in perturbed.model.decoder.layers]
    together = list(perturbed.align(pairs))
    assert [a for pair in pairs for a in perturbed.align([pair])] == together
    assert list(perturbed.align(pairs[::-1])) == together[::-1]
    assert list(perturbed.for_inference().align(pairs)) == together
    assert [layer.cross_attn.kernel for layer in perturbed.model.decoder.layers] == kernels
    assert [a.source for a in together] == [tuple(line.split()) for line in LINES]
    assert [t for _, t in together[1].links] == [0, 1, 2, 3]


@pytest.mark.parametrize("search", [Search(max_extra=4), Search(beam=3, nbest=2, max_extra=4)])
def test_answers_are_aligned_as_given_targets_are(perturbed, search):
    found = list(perturbed.predict([*LINES, ""], search=search, alignments=True))
    assert found[-1][0].alignment is None
    plain = list(perturbed.predict([*LINES, ""], search=search))
    assert [[a.text for a in answers] for answers in found] == [[a.text for a in answers] for answers in plain]
    assert not any(a.alignment for answers in plain for a in answers)
    for line, answers in zip(LINES, found, strict=False):
        for answer in answers:
            assert answer.alignment.target == tuple(answer.text.split())
            if list(answer.tokens[: len(answer.token_logps) - answer.finished]) == LETTERS.tokens(answer.text):
                assert list(perturbed.align([Pair(line, answer.text, 1)])) == [answer.alignment]


def test_answers_at_the_end_of_learned_positions_are_aligned(perturb):
    task = made(train_tokenizer("word", ["a b c d e f"]), position="learned", max_len=4)
    perturb(task.model)
    search = Search(min_length=9, max_extra=20)
    [[answer]] = task.predict(["a b c"], search=search, alignments=True)
    assert len(answer.tokens) == 4 and not answer.finished and len(answer.alignment.links) == 4
    with pytest.raises(DataError, match="Longer than the 4 positions that the model learns:\n  - line 7: 5 tokens"):
        list(task.align([Pair("a", "a b c d", 7)]))


def test_what_stands_behind_a_stop_string_is_not_aligned(straight):
    search = Search(prefix="a b c d", stop_strings=["c"], max_extra=20)
    [[answer]] = straight.predict(["f e d c"], search=search, alignments=True)
    assert answer.text == "a b " and answer.alignment.pharaoh() == "0-0 1-1"


def test_sides_without_words_have_no_links(straight):
    assert [a.links for a in straight.align([Pair("", "a", 1), Pair("a", "", 2)])] == [(), ()]


def test_a_layer_that_is_not_there_is_told(straight):
    with pytest.raises(ConfigError, match="layer=2: the decoder has 2 layers. Write 0 to 1, or -1 for the last."):
        list(straight.align([Pair("a", "a", 1)], layer=2))


def test_on_the_command_line(straight, tmp_path):
    straight.save_pretrained(tmp_path / "run")
    force = ("--set", "search.prefix=d d", "--set", "search.max_ratio=0", "--set", "search.max_extra=2")
    said = command("predict", tmp_path / "run", "--alignments", *force, stdin=b"a b c\n\n")
    assert said == (0, "d d\t0-0 1-1\n\t\n", "")
    said = command("predict", tmp_path / "run", "--alignments", "--nbest", 2, "--beam", 2, *force, stdin=b"a b c\n")
    number, score, text, links = said.out.splitlines()[0].split("\t")
    assert (number, text, links) == ("1", "d d", "0-0 1-1") and float(score) < 0
    said = command("predict", tmp_path / "run", "--alignments", "--json", *force, stdin=b"a b c\n")
    [answer] = json.loads(said.out)["answers"]
    assert answer["alignment"] == {"source": ["a", "b", "c"], "target": ["d", "d"], "links": [[0, 0], [1, 1]]}
    said = command("predict", tmp_path / "run", "--json", *force, stdin=b"a b c\n")
    assert "alignment" not in json.loads(said.out)["answers"][0]
