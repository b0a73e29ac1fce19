import json
import math

import pytest

from sublayer.errors import ConfigError
from sublayer.text import SPECIALS, UNKNOWN, train_tokenizer

# The word counts of Sennrich et al. 2016, figure 1, with "wider" for the word that needs an end mark.
CORPUS = ["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3
PROSE = [
    "The quick brown fox jumps over the lazy dog, and the dog does not mind.",
    "A quick answer: foxes jump because they can; dogs do not jump.",
    "我喜欢你。你喜欢我。",
    "<pad> and </s> are spelled here, <pad> twice.",
] * 3
BYTE_LEVEL = ["bpe", "unigram"]


def model(tokenizer):
    return json.loads(tokenizer.to_json())["model"]


def test_bpe_merges_the_most_frequent_pair_first():
    tokenizer = train_tokenizer("bpe", CORPUS, vocab_size=4 + 256 + 4)
    # e+s 9 times (as s+t: the smaller ids win), es+t 9, l+o 7, lo+w 7
    assert model(tokenizer)["merges"] == [["e", "s"], ["es", "t"], ["l", "o"], ["lo", "w"]]
    assert [tokenizer.piece(i) for i in tokenizer.encode("lowest")] == ["low", "est"]


def test_bpe_min_count_stops_merging():
    tokenizer = train_tokenizer("bpe", CORPUS, min_count=9)
    assert model(tokenizer)["merges"] == [["e", "s"], ["es", "t"]]


def best_score(text, scores):
    """The best sum of scores over all ways to cut the text: dynamic programming over its prefixes."""
    best = [0.0] + [-math.inf] * len(text)
    for end in range(1, len(text) + 1):
        best[end] = max(best[start] + scores.get(text[start:end], -math.inf) for start in range(end))
    return best[-1]


def test_unigram_finds_the_likeliest_segmentation():
    tokenizer = train_tokenizer("unigram", PROSE, vocab_size=330)
    vocabulary = model(tokenizer)["vocab"]
    assert max(len(token) for token, _ in vocabulary[len(SPECIALS) :]) > 1
    for word in ("quick", "jumps", "dogs", "foxes", "undog"):
        found = sum(vocabulary[i][1] for i in tokenizer.encode(word))
        assert found == pytest.approx(best_score(word, dict(vocabulary[len(SPECIALS) :])))


def test_unigram_scores_fall_and_ties_go_by_spelling():
    vocabulary = model(train_tokenizer("unigram", PROSE, vocab_size=330))["vocab"][len(SPECIALS) :]
    assert vocabulary == sorted(vocabulary, key=lambda entry: (-entry[1], entry[0]))


@pytest.mark.parametrize("kind", BYTE_LEVEL)
def test_pieces_are_readable_where_they_are_characters(kind):
    tokenizer = train_tokenizer(kind, PROSE, vocab_size=330)
    ids = tokenizer.encode(" dogé")
    assert "".join(tokenizer.piece(i) for i in ids[:-2]) == " dog"
    assert [tokenizer.piece(i) for i in ids[-2:]] == ["Ã", "©"]  # é in bytes, in the vocabulary's spelling
    assert tokenizer.tokens(" dogé")[-2:] == ["é", "é"]
    assert UNKNOWN not in tokenizer.decode(ids)


def test_wordpiece_takes_the_longest_piece_first():
    tokenizer = train_tokenizer("wordpiece", PROSE, vocab_size=120)
    vocabulary = set(model(tokenizer)["vocab"])
    for word in ("quick", "foxes", "spell", "dogs"):
        pieces = [tokenizer.piece(i) for i in tokenizer.encode(word)]
        assert "".join(piece.removeprefix("##") for piece in pieces) == word
        rest = word
        for piece in pieces:
            prefix = "" if rest == word else "##"
            assert not any(prefix + rest[:n] in vocabulary for n in range(len(piece) - len(prefix) + 1, len(rest)))
            rest = rest[len(piece) - len(prefix) :]


def test_wordpiece_reads_back_with_berts_spaces_and_no_word_changed():
    tokenizer = train_tokenizer("wordpiece", PROSE, vocab_size=200)
    assert tokenizer.decode(tokenizer.encode("the  dogs do not\tjump ; foxes do.")) == "the dogs do not jump; foxes do."
    assert tokenizer.decode(tokenizer.encode("我喜欢你。你喜欢我。")) == "我喜欢你。你喜欢我。"
    assert tokenizer.decode(tokenizer.encode("the ж dog")) == f"the {UNKNOWN} dog"


@pytest.mark.parametrize("kind", BYTE_LEVEL)
def test_a_vocabulary_smaller_than_the_bytes_names_both_numbers(kind):
    with pytest.raises(ConfigError, match=r"vocab_size=259 .* 256 bytes: write 260 or more"):
        train_tokenizer(kind, PROSE, vocab_size=259)
    assert len(train_tokenizer(kind, PROSE, vocab_size=260)) == 260


def test_a_vocabulary_smaller_than_the_alphabet_names_both_numbers():
    # a, b, c and ##b, ##c
    with pytest.raises(ConfigError, match=r"vocab_size=8 .* 5 characters .* write 9 or more"):
        train_tokenizer("wordpiece", ["ab ac"], vocab_size=8)
    assert len(train_tokenizer("wordpiece", ["ab ac"], vocab_size=9)) == 9
