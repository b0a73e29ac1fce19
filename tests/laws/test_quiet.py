"""Construction and use print nothing; pytest turns every warning into an error."""

import pytest
import torch

from sublayer.models import Transformer


@pytest.mark.parametrize("architecture", ["encoder", "decoder", "encoder-decoder"])
@pytest.mark.parametrize("train", [True, False])
def test_models(architecture, train, tiny, position, ragged, capfd):
    model, ids, keep = tiny(architecture, position=position).train(train), torch.randint(11, (2, 5)), ragged([5, 2])
    for mask in (None, keep, keep[:, None], keep.long(), keep.float().log()):
        output = model(ids, ids, mask) if architecture == "encoder-decoder" else model(ids, mask)
    output.sum().backward()
    assert capfd.readouterr() == ("", "")


def test_the_tutorials_model(capfd):
    model = Transformer(20, 20, 16, 2, 4, 32)
    model(torch.randint(20, (2, 5)), torch.randint(20, (2, 4)))
    model.eval()(torch.randint(20, (2, 5)), torch.randint(20, (2, 4)))
    repr(model)
    assert capfd.readouterr() == ("", "")
