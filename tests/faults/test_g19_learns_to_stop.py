"""G19: the end of the sentence was masked out of the loss, so that the model never stopped."""

from tests.runs import Heard, tiny_recipe, words

from sublayer.data import Pair
from sublayer.tasks.fit import fit
from sublayer.tasks.teaching import translation_loss


def test_fifty_times_a_to_b_ends_after_b(tmp_path):
    (tmp_path / "train.tsv").write_text("a\tb\n" * 50, encoding="utf-8")
    recipe = tiny_recipe(tmp_path / "train.tsv", steps=60, learning_rate=0.01, batch_tokens=40, label_smoothing=0.0)
    task = fit(recipe, tmp_path / "run", Heard())
    (answer,) = next(task.predict(["a"]))
    assert (answer.text, answer.tokens, answer.finished) == ("b", ("b", "</s>"), True)
    assert answer.logp > -0.1


def test_each_target_has_exactly_one_end_in_the_loss(tmp_path, tiny):
    train = tmp_path / "train.tsv"
    sources = words()[:30]
    train.write_text("".join(f"{word}\t{word}\n" for word in sources), encoding="utf-8")
    task = fit(tiny_recipe(train, steps=1), tmp_path / "run", Heard())
    pairs = [Pair(word, word, 1) for word in sources]
    batch = task.batch(task.encode_pairs(pairs))
    assert translation_loss(task.model, batch).count == batch.tokens == sum(len(word) + 1 for word in sources)
    ends = (batch.target_out == task.target.eos) & batch.target_keep
    assert ends.sum(1).tolist() == [1] * 30
    assert not (batch.target_out[batch.target_keep] == task.target.bos).any()


def test_a_token_with_the_padding_id_is_still_learned_from(tiny):
    """Positions are real by their length, so an id says nothing."""
    from sublayer.data.batch import PairBatch

    model = tiny(dropout=0.0)
    batch = PairBatch.of([[4]], [[3, 5]], pad_ids=(3, 3), bos=2, eos=(3, 3))  # padding is EOS is a token
    assert translation_loss(model, batch).count == 3
