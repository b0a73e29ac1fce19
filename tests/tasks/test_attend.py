import numpy as np
import pytest
import torch
from tests.small_tasks import SMALL, small

from sublayer.errors import ConfigError
from sublayer.tasks.attend import picture


def test_rows_and_columns_are_the_tokens(task):
    drawn = picture(task, "abc")
    assert drawn.title == "abc → cba"
    assert list(drawn.rows["encoder"]) == list(drawn.columns["encoder"]) == ["a", "b", "c", "</s>"]
    assert list(drawn.columns["decoder"]) == ["<s>", "c", "b", "a"]
    assert list(drawn.rows["decoder"]) == list(drawn.rows["cross"]) == ["c", "b", "a", "</s>"]
    assert list(drawn.columns["cross"]) == ["a", "b", "c", "</s>"]


def test_the_model_looks_where_it_must_to_turn_letters_round(task):
    maps = picture(task, "abcd").to_dict()
    assert maps == picture(task, "abcd", "dcba").to_dict()
    (cross,) = (kind for kind in picture(task, "abcd").maps["cross"])
    for head in cross:
        np.testing.assert_allclose(head.sum(-1), np.ones(5), atol=1e-5)
    # Each letter is read from its place by one head or the other.
    looked = np.stack([np.asarray(head)[:4, :4] for head in cross]).max(0)
    assert (looked.argmax(-1) == [3, 2, 1, 0]).mean() >= 0.75


def test_the_decoder_sees_no_future_and_a_given_target_is_taken(task):
    drawn = picture(task, "ab", "abab")
    assert list(drawn.rows["decoder"]) == ["a", "b", "a", "b", "</s>"]
    for head in drawn.maps["decoder"][0]:
        assert np.allclose(np.triu(np.asarray(head), 1), 0)
    assert not task.model.training


def test_the_words_that_belong_together_are_a_kind(task):
    drawn = picture(task, "abcd")
    [[alignment]] = task.predict(["abcd"], alignments=True)
    [[weights]] = drawn.maps["alignment"]
    assert drawn.rows["alignment"] == ["d", "c", "b", "a"] and drawn.columns["alignment"] == ["a", "b", "c", "d"]
    assert [(s, t) for t, row in enumerate(weights.tolist()) for s, w in enumerate(row) if w] == list(
        alignment.alignment.links
    )
    assert "alignment" not in picture(task, "abcd", "").maps


@pytest.mark.parametrize("kind", SMALL)
@pytest.mark.parametrize("words", [False, True])
def test_every_task_has_its_picture(kind, words):
    task, texts = small(kind)
    for text in texts:
        drawn = picture(task, text, words=words)
        for name, layers in drawn.maps.items():
            assert len(layers) == (1 if name == "alignment" else 2)
            if name == "alignment":
                continue
            for weights in layers:
                assert weights.shape == (2, len(drawn.rows[name]), len(drawn.columns[name]))
                if not (words and kind in ("complete", "embed")):  # white space is no word, and keeps its share
                    torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
        if kind == "complete":
            assert all((weights.triu(1) == 0).all() for weights in drawn.maps["decoder"]) or words


def test_labels_of_each_task():
    assert picture(small("classify")[0], "a cat, a dog").rows["encoder"] == ["<s>", *"a cat , a dog".split(), "</s>"]
    tagged = picture(small("tag")[0], "abcd dcba")
    assert tagged.rows["encoder"][0] == "<s>" and "".join(tagged.rows["encoder"][1:-1]) == " abcd dcba"
    assert picture(small("tag")[0], "abcd dcba", words=True).rows["encoder"] == ["<s>", "abcd", "dcba", "</s>"]
    written = picture(small("complete")[0], "ab", "cd")
    assert (written.rows["decoder"], written.columns["decoder"]) == (["a", "b", "c", "d"], ["\n", "a", "b", "c"])
    with pytest.raises(ConfigError, match="A target is for runs that write, and this one holds a Classify"):
        picture(small("classify")[0], "a", "b")
