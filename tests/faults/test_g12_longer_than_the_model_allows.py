"""An input longer than the model allows crashes a device, or is cut without a word."""

import pytest
import torch

from sublayer.errors import ShapeError
from sublayer.nn import DecoderCache


def test_learned_positions_name_length_and_limit_and_the_model_works_on(tiny):
    model, ids = tiny("encoder", position="learned", max_len=6), torch.randint(13, (1, 7))
    before = model(ids[:, :6])
    with pytest.raises(ShapeError, match=r"a sequence of 7 positions is longer than the 6 that were learned"):
        model(ids)
    assert model(ids[:, :6]).equal(before)


def test_the_limit_holds_step_by_step_too(tiny):
    model, cache = tiny("decoder", position="learned", max_len=3), DecoderCache(2)
    for _ in range(3):
        model(torch.ones(1, 1, dtype=torch.long), cache=cache)
    with pytest.raises(ShapeError, match="a sequence of 4 positions is longer than the 3"):
        model(torch.ones(1, 1, dtype=torch.long), cache=cache)


@pytest.mark.parametrize("kind", ["sinusoidal", "rotary", "relative", "alibi", "none"])
def test_other_positions_grow_and_leave_the_rest_unchanged(tiny, kind):
    model, ids = tiny("decoder", position=kind, max_len=6), torch.randint(11, (1, 40))
    torch.testing.assert_close(model(ids)[:, :6], model(ids[:, :6]), atol=1e-5, rtol=0)


def test_the_sinusoids_below_the_old_limit_do_not_move(tiny):
    positions = tiny(position="sinusoidal").source_embed.positions
    short, long = positions(torch.arange(6), 6), positions(torch.arange(9000), 9000)
    torch.testing.assert_close(long[:6], short, atol=1e-7, rtol=0)
