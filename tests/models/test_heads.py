import pytest
import torch

from sublayer.errors import ConfigError, ShapeError
from sublayer.models import EncoderWithHead
from sublayer.models.heads import (
    HEADS,
    POOLS,
    Classes,
    MaskedLM,
    SentenceVector,
    Span,
    TokenClasses,
    Transform,
    first,
    largest,
    mean,
    pool_of,
)
from sublayer.nn import Mask

X = torch.tensor([[1.0, 2.0], [3.0, 4.0], [-5.0, 6.0]])  # a text of two tokens, and one of one
LENGTHS = torch.tensor([2, 1])


def test_pooling_by_hand():
    assert mean(X, LENGTHS).tolist() == [[2, 3], [-5, 6]]
    assert largest(X, LENGTHS).tolist() == [[3, 4], [-5, 6]]
    assert first(X, LENGTHS).tolist() == [[1, 2], [-5, 6]]


def test_an_unknown_pooling_names_the_nearest():
    with pytest.raises(ConfigError, match="pooling 'maen' is unknown. Did you mean 'mean'"):
        pool_of("maen")
    with pytest.raises(ConfigError, match="pooling 'maen' is unknown. Did you mean 'mean'"):
        SentenceVector(2, pool="maen")


def test_vectors_of_length_one():
    vectors = SentenceVector(2, normalize=True)(X, LENGTHS)
    torch.testing.assert_close(vectors[0], torch.tensor([2.0, 3.0]) / 13**0.5)
    assert SentenceVector(2, pool="max")(X, LENGTHS).tolist() == [[3, 4], [-5, 6]]


def test_heads_as_they_are_written():
    head = Classes(2, classes=3, pool="first", activation="relu").eval()
    expected = head.classes(head.pool.dense(X[[0, 2]]).relu())
    assert head(X, LENGTHS).equal(expected)
    plain = Classes(2, classes=3).eval()
    assert plain(X, LENGTHS).equal(plain.classes(torch.tensor([[2.0, 3.0], [-5.0, 6.0]])))
    filled = MaskedLM(2, 5, width=4)
    expected = filled.project(filled.norm(torch.nn.functional.gelu(filled.dense(X))))
    assert filled(X, LENGTHS).equal(expected) and expected.shape == (3, 5)
    assert Span(2).train()(X, LENGTHS).shape == (3, 2)


def test_what_stands_between_states_and_classes():
    between = Transform(2, activation="tanh", bias=True)
    read = between.norm(between.dense(X).tanh())
    tokens = TokenClasses(2, classes=3, transform=between).eval()
    assert tokens(X, LENGTHS).equal(tokens.classes(read))
    texts = Classes(2, classes=3, pool="mean", transform=between).eval()  # of the mean, not the mean of each
    mean_first = between.norm(between.dense(torch.tensor([[2.0, 3.0], [-5.0, 6.0]])).tanh())
    assert texts(X, LENGTHS).equal(texts.classes(mean_first))
    assert not torch.allclose(texts(X, LENGTHS), texts.classes(mean(read, LENGTHS)))


def test_a_transform_is_built_from_the_config_of_a_model(tiny):
    head = {"kind": "classes", "classes": 3, "transform": {"activation": "relu", "bias": True}}
    made = tiny("encoder", head=head, norm={"kind": "rmsnorm", "eps": 0.5}).head
    assert type(made.transform.norm) is torch.nn.RMSNorm and made.transform.norm.eps == 0.5
    assert made.transform.dense.bias is not None and made.transform.act is torch.nn.functional.relu
    told = "model.head.transform: 'transform' takes no 'activaton'. Did you mean 'activation'"
    with pytest.raises(ConfigError, match=told):
        tiny("encoder", head=head | {"transform": {"activaton": "relu"}})


class Stays(torch.nn.Module):
    """An encoder whose states are its ids."""

    def forward(self, ids, mask=None):
        return ids


ROWS = torch.tensor([[[1.0, 2.0], [3.0, -4.0], [50.0, 60.0]], [[70.0, -80.0], [5.0, 6.0], [7.0, 8.0]]])
KEEP = torch.tensor([[1, 1, 0], [0, 1, 1]]).bool()


@pytest.mark.parametrize(
    "pool, expected",
    [
        ("mean", [[2.0, -1.0], [6.0, 7.0]]),
        ("max", [[3.0, 2.0], [7.0, 8.0]]),
        ("first", [[1.0, 2.0], [5.0, 6.0]]),
    ],
)
def test_pools_read_the_real_tokens_wherever_the_padding_is(pool, expected):
    model = EncoderWithHead(Stays(), SentenceVector(2, pool=pool))
    assert model(ROWS, KEEP).tolist() == expected
    assert model(ROWS.masked_fill(~KEEP[..., None], torch.nan), KEEP).tolist() == expected
    assert model(ROWS)[0].tolist() == pytest.approx(POOLS[pool](ROWS[0], torch.tensor([3]))[0].tolist())


def test_a_mask_that_does_not_say_which_tokens_are_real_is_refused():
    model = EncoderWithHead(Stays(), SentenceVector(2))
    with pytest.raises(ShapeError, match="must tell real tokens from padding"):
        model(ROWS, Mask(keep=torch.ones(2, 1, 3, 3).bool()))
    with pytest.raises(ShapeError, match=r"rows 1 \(counted from 0\) have no real token"):
        model(ROWS, Mask.lengths(torch.tensor([3, 0])))


@pytest.fixture
def ids():
    return torch.randint(4, 13, (3, 5))


PARTS = {
    **{pool: Classes(16, classes=3, pool=pool) for pool in POOLS},
    "pooler": Classes(16, classes=3, pool="first", activation="tanh"),
    "token": TokenClasses(16, classes=3),
    "transform": Classes(16, classes=3, transform=Transform(16)),
    "masked-lm": MaskedLM(16, 3),
}


@pytest.mark.parametrize("head", PARTS)
def test_padded_packed_and_alone_give_the_same(tiny, perturb, ragged, ids, head):
    model = perturb(EncoderWithHead(tiny("encoder"), PARTS[head])).eval()
    lengths = [5, 2, 3]
    padded = model(ids.masked_fill(~ragged(lengths), 0), Mask.padding(ragged(lengths)))
    texts = [row[:n] for row, n in zip(ids, lengths, strict=True)]
    packed = model(torch.cat(texts)[None], Mask.packed(lengths))
    alone = torch.cat([model(text[None]) for text in texts])
    assert padded.shape == (10 if head in ("token", "masked-lm") else 3, 3)
    torch.testing.assert_close(packed, alone, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(padded, alone, atol=1e-5, rtol=1e-5)


def test_every_weight_learns_and_the_inference_form_says_the_same(tiny, perturb, ids):
    model = perturb(EncoderWithHead(tiny("encoder"), Classes(16, classes=3))).eval()
    said = model(ids)
    said.sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.head.parameters())
    assert not [name for name, p in model.named_parameters() if p.grad is None]
    torch.testing.assert_close(model.for_inference()(ids), said.detach(), atol=1e-5, rtol=1e-5)


def test_an_encoder_of_bags(tiny, ragged):
    body = tiny("encoder", bags=True)
    bags = torch.randint(4, 13, (2, 4, 3))
    mask = Mask.padding(ragged([4, 2]))
    model = EncoderWithHead(body, TokenClasses(16, classes=3)).eval()
    alone = torch.cat([model(bags[:1]), model(bags[1:, :2])])
    torch.testing.assert_close(model(bags, mask), alone, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", HEADS)
@pytest.mark.parametrize("train", [True, False])
def test_every_head_on_a_model(tiny, kind, train):
    model = tiny("encoder", head=kind).train(train)
    assert type(model) is EncoderWithHead
    shape = {"masked-lm": (10, 13), "classes": (2, 2), "token-classes": (10, 2), "span": (10, 2), "replaced": (10,)}
    output = model(torch.randint(13, (2, 5)), torch.ones(2, 5).bool())
    assert output.shape == shape.get(kind, (2, 16)) and output.isfinite().all()
    assert kind != "masked-lm" or model.head.project.weight is model.body.embed.tokens.weight


def test_an_untied_masked_language_model(tiny):
    model = tiny("encoder", head="masked-lm", tie="none")
    assert model.head.project.weight is not model.body.embed.tokens.weight


@pytest.mark.parametrize("pool", POOLS)
def test_pooling_in_half_precision(pool):
    found = POOLS[pool](X.bfloat16(), LENGTHS)
    assert found.dtype == torch.bfloat16 and found.float().equal(POOLS[pool](X, LENGTHS))
