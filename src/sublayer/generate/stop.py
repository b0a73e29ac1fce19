"""When the search for one sentence may end before its length limit."""

from typing import Protocol

import torch
from torch import Tensor


class StopRule(Protocol):
    def __call__(self, kept: Tensor, nbest: int, reach: Tensor) -> Tensor:
        """Which of b sentences are done (b,).

        kept   (b, beam) the scores of the hypotheses kept so far, best first, -inf where there is none
        nbest  how many of them are wanted
        reach  (b,) a score that no running hypothesis can pass
        """


def exact(kept: Tensor, nbest: int, reach: Tensor) -> Tensor:
    """No running hypothesis can beat the worst of those wanted."""
    return kept[:, nbest - 1] >= reach


def early(kept: Tensor, nbest: int, reach: Tensor) -> Tensor:
    """As many hypotheses have ended as the beam is wide. Cheaper; a better one may have been on its way."""
    return kept[:, -1] > -torch.inf
