import pytest
import torch

from sublayer.errors import ConfigError
from sublayer.models.build import build
from sublayer.models.config import ModelConfig
from sublayer.nn import Rotary, Sinusoidal, stretched
from sublayer.tasks.recipe_file import make_recipe
from sublayer.train.loss import no_loss
from sublayer.train.stretch import Stretched


def test_a_stretched_position_is_the_one_further_on():
    part = Sinusoidal(6)
    with stretched(part, 2.0):
        twice = part(torch.arange(4), 4)
    torch.testing.assert_close(twice, part(torch.arange(0, 8, 2), 8))


def test_a_stretched_rotation_is_the_one_further_on():
    part, x = Rotary(8), torch.randn(1, 1, 1, 8)
    with stretched(part, 3.0):
        far = part(x, 2)
    torch.testing.assert_close(far, part(x, 6))


@pytest.mark.parametrize("position", ["rotary", "sinusoidal"])
def test_all_of_a_model_is_stretched_and_then_as_before(position):
    sizes = dict(source_vocab=9, target_vocab=9, d_model=16, num_heads=2, encoder_layers=1, decoder_layers=1)
    model = build(ModelConfig(position=position, **sizes)).eval()
    src, trg = torch.randint(9, (2, 5)), torch.randint(9, (2, 4))
    plain = model(src, trg)
    with pytest.raises(ZeroDivisionError), stretched(model, 1.5):
        assert not torch.allclose(model(src, trg), plain)
        raise ZeroDivisionError
    assert torch.equal(model(src, trg), plain)


def test_factors_lie_between_one_and_the_most_and_differ_from_batch_to_batch():
    part = Sinusoidal(2)  # one frequency, 1 before it is stretched
    seen = []

    def loss(model, batch):
        seen.append(model.frequencies.item())
        return no_loss()

    for batch in range(50):
        Stretched(loss, 0.3)(part, batch)
    assert 1 <= min(seen) < 1.05 and 1.25 < max(seen) <= 1.3 and len(set(seen)) == 50


@pytest.mark.parametrize("position", ["learned", "relative", "alibi", "none"])
def test_what_cannot_be_stretched_is_told(position):
    with pytest.raises(
        ConfigError, match=f"stretch_positions needs model.position sinusoidal or rotary, not '{position}'"
    ):
        make_recipe({"model": {"position": position}, "train": {"stretch_positions": 0.1}}, origin="o")
