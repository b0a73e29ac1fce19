"""Several models that write one text together."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from sublayer.errors import ConfigError, ShapeError
from sublayer.generate.decoding import Decoding


class Ensemble:
    """The mean of the models' probabilities:     p(token) = 1/M Σ p_m(token)

    decodings  M of them, with one vocabulary and the same rows

    It is taken with logsumexp in at least fp32. The scores are those of the mean. Raises ShapeError, at the first
    step, for vocabularies of different sizes.
    """

    def __init__(self, decodings: Sequence[Decoding]) -> None:
        if not decodings:
            raise ConfigError("An ensemble of no decodings has no probabilities. Give at least one.")
        self.decodings = decodings

    def step(self, tokens: Tensor) -> Tensor:
        logps = [decoding.step(tokens) for decoding in self.decodings]
        if len({x.size(-1) for x in logps}) > 1:
            sizes = ", ".join(str(x.size(-1)) for x in logps)
            raise ShapeError(
                f"The models of an ensemble have vocabularies of {sizes} tokens. A token must be the same in all: "
                "put models together that share their target vocabulary."
            )
        together = torch.stack(logps)
        together = together.to(torch.promote_types(together.dtype, torch.float32))
        return together.logsumexp(0) - math.log(len(logps))

    def select(self, rows: Tensor) -> None:
        for decoding in self.decodings:
            decoding.select(rows)
