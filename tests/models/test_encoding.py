import pytest
import torch

from sublayer.errors import ShapeError
from sublayer.models import encode_texts


def texts(*lengths):
    return [torch.randint(13, (n,)).tolist() for n in lengths]


@pytest.mark.parametrize("batch_tokens", [1, 9, 12, 2048])
@pytest.mark.parametrize("form", ["trained", "for inference"])
def test_each_text_is_what_it_is_alone(tiny, position, batch_tokens, form):
    model, given = tiny("encoder", position=position), texts(4, 9, 1, 4, 12, 2, 4)
    found = encode_texts(model if form == "trained" else model.for_inference(), given, batch_tokens=batch_tokens)
    assert [len(states) for states in found] == [4, 9, 1, 4, 12, 2, 4]
    for text, states in zip(given, found, strict=True):
        torch.testing.assert_close(states, model(torch.tensor([text]))[0], atol=1e-5, rtol=0)


def test_rows_hold_no_more_than_the_budget_and_no_padding(tiny):
    model, rows = tiny("encoder"), []
    model.embed.register_forward_pre_hook(lambda _, inputs: rows.append(tuple(inputs[0].shape)))
    encode_texts(model, texts(4, 9, 1, 4, 12, 2, 4), batch_tokens=11)
    assert rows == [(1, 11), (1, 4), (1, 9), (1, 12)]  # 1 2 4 4, 4, 9, 12


def test_nothing_gives_nothing(tiny):
    assert encode_texts(tiny("encoder"), []) == []


def test_texts_without_a_token_are_named(tiny):
    with pytest.raises(ShapeError, match=r"texts 1, 3 \(counted from 0\) have no token.*give each text its specials"):
        encode_texts(tiny("encoder"), texts(2, 0, 1, 0))


def test_dropout_is_off(tiny):
    model, given = tiny("encoder", dropout=0.5).train(), texts(3, 2)
    assert all(one.equal(other) for one, other in zip(*(encode_texts(model, given) for _ in range(2)), strict=True))
