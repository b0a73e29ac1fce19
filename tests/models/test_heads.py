import pytest
import torch

from sublayer.errors import ConfigError, ShapeError
from sublayer.models import EncoderWithHead
from sublayer.models.heads import HEADS, Classes, MaskedLM, SentenceVector, Span, first, greatest, mean
from sublayer.nn import Mask

X = torch.tensor([[[1.0, 2.0], [3.0, -4.0], [50.0, 60.0]], [[70.0, -80.0], [5.0, 6.0], [7.0, 8.0]]])
KEEP = Mask.padding(torch.tensor([[1, 1, 0], [0, 1, 1]]))


@pytest.mark.parametrize(
    "pool, expected",
    [
        (mean, [[2.0, -1.0], [6.0, 7.0]]),
        (greatest, [[3.0, 2.0], [7.0, 8.0]]),
        (first, [[1.0, 2.0], [5.0, 6.0]]),
    ],
)
def test_pools_read_the_real_tokens_wherever_the_padding_is(pool, expected):
    assert pool(X, KEEP).tolist() == expected
    worse = X.masked_fill(~KEEP.keep[:, 0, 0, :, None], torch.nan)
    assert pool(worse, KEEP).tolist() == expected


def test_without_a_mask_all_tokens_are_real():
    assert mean(X)[0].tolist() == pytest.approx([18.0, 58 / 3]) and first(X)[1].tolist() == [70.0, -80.0]


def test_vectors_of_length_one():
    vectors = SentenceVector(2, normalize=True)(X, KEEP)
    torch.testing.assert_close(vectors[0], torch.tensor([2.0, -1.0]) / 5**0.5)
    with pytest.raises(ConfigError, match="pool='maen' is unknown. Did you mean 'mean'?"):
        SentenceVector(2, pool="maen")


@pytest.mark.parametrize("mask", [Mask.packed([3, 3]), Mask(causal=True), Mask(keep=torch.ones(2, 1, 3, 3).bool())])
def test_a_mask_that_does_not_say_which_tokens_are_real_is_refused(mask):
    with pytest.raises(ShapeError, match="must tell real tokens from padding"):
        first(X, mask)


def test_heads_as_they_are_written():
    head = Classes(2, classes=3, activation="relu").eval()
    expected = head.classes(head.pool.dense(X[:, 0]).relu())
    assert head(X).equal(expected)
    filled = MaskedLM(2, 5, width=4)
    expected = filled.project(filled.norm(torch.nn.functional.gelu(filled.dense(X))))
    assert filled(X).equal(expected) and filled(X).shape == (2, 3, 5)
    assert Span(2).train()(X).shape == (2, 3, 2)


@pytest.mark.parametrize("kind", HEADS)
@pytest.mark.parametrize("train", [True, False])
def test_every_head_on_a_model(tiny, kind, train):
    model = tiny("encoder", head=kind).train(train)
    assert type(model) is EncoderWithHead
    shape = {
        "masked-lm": (2, 5, 13),
        "classes": (2, 2),
        "token-classes": (2, 5, 2),
        "span": (2, 5, 2),
        "replaced": (2, 5),
    }
    output = model(torch.randint(13, (2, 5)), torch.ones(2, 5).bool())
    assert output.shape == shape.get(kind, (2, 16)) and output.isfinite().all()
    assert kind != "masked-lm" or model.head.project.weight is model.body.embed.tokens.weight


def test_an_untied_masked_language_model(tiny):
    model = tiny("encoder", head="masked-lm", tie="none")
    assert model.head.project.weight is not model.body.embed.tokens.weight
