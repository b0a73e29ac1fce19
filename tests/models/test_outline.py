import torch

from sublayer.models import ModelConfig
from sublayer.models.build import build
from sublayer.models.outline import outline
from sublayer.models.store import place

CONFIG = ModelConfig(source_vocab=13, target_vocab=13, d_model=16, tie="all", encoder_layers=2, decoder_layers=2)


def test_an_outline_draws_nothing_and_takes_its_weights_from_elsewhere(perturb):
    model = perturb(build(CONFIG)).eval()
    drawn = torch.get_rng_state()
    other = outline(CONFIG).eval()
    assert all(p.is_meta for p in other.parameters()) and torch.get_rng_state().equal(drawn)
    tensors = {name: x.clone() for name, x in model.state_dict().items()}
    place(other, tensors, "here")
    assert other.source_embed.tokens.weight is other.project.weight is other.target_embed.tokens.weight
    assert all(p.data_ptr() in {x.data_ptr() for x in tensors.values()} for p in other.parameters())
    source, target = torch.randint(13, (2, 5)), torch.randint(13, (2, 4))
    assert other(source, target).equal(model(source, target))
    other(source, target).sum().backward()
    assert all(p.grad is not None for p in other.parameters())
