import pytest
from torch import nn

from sublayer.errors import ConfigError
from sublayer.models.config import Part
from sublayer.models.parts import NORMS, factory
from sublayer.nn import RMSNorm


def test_a_registered_part_with_options():
    norm = factory("model.norm", Part(kind="rmsnorm", eps=0.5), NORMS)(8)
    assert isinstance(norm, RMSNorm) and norm.eps == 0.5


def test_a_part_of_ones_own():
    make = factory("model.norm", Part(kind="torch.nn:GroupNorm", num_groups=2), NORMS)
    assert isinstance(make(num_channels=8), nn.GroupNorm)


def test_an_unknown_name_names_the_nearest():
    words = r"model\.norm: kind 'rms' is unknown\. Did you mean 'rmsnorm'\? For your own: package\.module:Class"
    with pytest.raises(ConfigError, match=words):
        factory("model.norm", Part(kind="rms"), NORMS)


def test_an_unknown_option_names_the_nearest():
    with pytest.raises(ConfigError, match=r"model\.norm: 'rmsnorm' takes no 'epsilon'\. .*eps"):
        factory("model.norm", Part(kind="rmsnorm", epsilon=1e-3), NORMS)


@pytest.mark.parametrize("kind", ["nowhere.to.be:Found", "torch.nn:Found"])
def test_what_cannot_be_imported_is_told(kind):
    with pytest.raises(ConfigError, match=rf"'{kind}' cannot be imported \(.*\)\. Is it on the Python path\?"):
        factory("model.norm", Part(kind=kind), NORMS)
