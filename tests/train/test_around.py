import copy
import os

import pytest
import torch
from tests.train.together import Pairs

from sublayer.models import ModelConfig
from sublayer.models.build import build
from sublayer.tasks.teaching import translation_loss
from sublayer.train.around import Bfloat16, Recomputed


@pytest.fixture
def model():
    torch.manual_seed(0)
    sizes = dict(source_vocab=11, target_vocab=11, d_model=16, num_heads=4, d_ff=24, encoder_layers=2, decoder_layers=2)
    return build(ModelConfig(**sizes, dropout=0.2, layer_drop=0.3)).train()


def trained(model, loss):
    """Its loss and the gradients of every weight; the coins fall alike each time."""
    model = copy.deepcopy(model)
    torch.manual_seed(5)
    found = loss(model, Pairs().make(4))
    found.total.backward()
    return found, [p.grad for p in model.parameters()], torch.rand(1)


def test_recomputed_layers_give_the_same_numbers_to_the_bit(model):
    ours, plain = trained(model, Recomputed(translation_loss)), trained(model, translation_loss)
    assert torch.equal(ours[0].total, plain[0].total) and torch.equal(ours[2], plain[2])
    assert all(torch.equal(a, b) for a, b in zip(ours[1], plain[1], strict=True))


def test_what_a_layer_holds_inside_is_not_kept(model):
    def kept(loss):
        shapes = []
        with torch.autograd.graph.saved_tensors_hooks(lambda x: shapes.append(x.shape) or x, lambda x: x):
            loss(model, Pairs().make(4))
        return [shape for shape in shapes if shape and shape[-1] == 24]  # the hidden layer of the feed-forward network

    assert kept(translation_loss) and not kept(Recomputed(translation_loss))


def test_afterwards_the_layers_are_as_they_were(model):
    names = [set(vars(part)) for part in model.modules()]
    Recomputed(translation_loss)(model, Pairs().make(2))
    assert [set(vars(part)) for part in model.modules()] == names


def test_in_bfloat16_matrices_are_rounded_and_the_loss_is_not(model):
    model.eval()
    exact, half = (loss(model, Pairs().make(4)) for loss in (translation_loss, Bfloat16(translation_loss, "cpu")))
    assert half.total.dtype == half.nll.dtype == torch.float32
    assert half.total.item() != exact.total.item()
    assert half.total.item() == pytest.approx(exact.total.item(), rel=0.02)
    half.total.backward()
    assert {p.grad.dtype for p in model.parameters()} == {torch.float32}


def test_the_products_are_in_bfloat16(model):
    types = []
    model.encoder.layers[0].ffn.register_forward_hook(lambda module, given, out: types.append(out.dtype))
    Bfloat16(translation_loss, "cpu")(model, Pairs().make(4))
    assert types == [torch.bfloat16]


def test_the_code_that_is_kept_for_shapes_has_a_limit_unless_the_user_sets_one(monkeypatch):
    name = "ONEDNN_PRIMITIVE_CACHE_CAPACITY"
    for set, then in ((None, "256"), ("7", "7")):
        monkeypatch.setenv(name, set) if set else monkeypatch.delenv(name, raising=False)
        Bfloat16(None, "cpu")
        assert os.environ[name] == then
