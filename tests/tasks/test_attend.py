import numpy as np

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
