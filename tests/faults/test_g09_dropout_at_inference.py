"""Dropout of some kind stays on at inference."""

import pytest
import torch


@pytest.mark.parametrize("architecture", ["encoder", "decoder", "encoder-decoder"])
@pytest.mark.parametrize("kernel", ["fused", "eager"])
def test_inference_is_repeatable_and_draws_nothing(tiny, architecture, kernel):
    model = tiny(architecture, dropout=0.5, attention_dropout=0.5, kernel=kernel)
    ids = torch.randint(11, (2, 5))
    given = (ids, ids) if architecture == "encoder-decoder" else (ids,)
    trained = [model.train()(*given) for _ in range(2)]
    assert not trained[0].equal(trained[1])
    before = torch.get_rng_state()
    outputs = [model.eval()(*given) for _ in range(2)]
    assert outputs[0].equal(outputs[1])
    assert torch.get_rng_state().equal(before)
