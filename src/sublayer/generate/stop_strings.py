"""Texts that end with a string, not with a token."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from sublayer.errors import ConfigError


class StopStrings:
    """A rule for ``Guided``: once a text holds one of the strings, EOS is certain to come next.

    text   reads the generated tokens of one row, prefix and EOS not among them; any tokens may come
    stops  the strings; where in a token they begin and end makes no difference

    So the hypothesis ends in greedy search, in sampling and in a beam. It is ``finished``. Its tokens are all that
    were generated, those of the string among them, as a token may hold more than the string; ``cut`` takes
    the string and what follows off the text. Its ``token_logps`` end with a 0 for the EOS, so ``logp`` is the
    log-probability that the text begins with these tokens. Where the limit comes first the text is not
    ``finished``, and ``cut`` serves all the same.

    It comes last among the rules: one after it could forbid EOS.
    """

    def __init__(self, text: Callable[[Sequence[int]], str], stops: Sequence[str], eos: int) -> None:
        if "" in stops:
            raise ConfigError("An empty stop string stands in every text. Leave it out.")
        self.text = text
        self.stops = stops
        self.eos = eos

    def __call__(self, logps: Tensor, written: Tensor, row: Tensor) -> Tensor:
        found = [any(stop in text for stop in self.stops) for text in map(self.text, written.tolist())]
        ends = torch.tensor(found, device=logps.device)
        logps[ends] = -torch.inf
        logps[ends, self.eos] = 0.0
        return logps

    def cut(self, text: str) -> str:
        """What stands before the first stop string."""
        return cut(text, self.stops)


def cut(text: str, stops: Sequence[str]) -> str:
    """What stands before the first of the strings."""
    return text[: min((text.index(stop) for stop in stops if stop in text), default=len(text))]
