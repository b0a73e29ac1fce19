"""Rules for ``Guided``: what must not come, what must come first, and what comes less gladly."""

from collections import defaultdict
from collections.abc import Sequence

import torch
from torch import Tensor

from sublayer.errors import ConfigError, listing
from sublayer.generate.guided import one_a_row


class MinLength:
    """EOS comes as token number ``least`` at the earliest: the length counts it, as ``max_len`` does.

    least  one number, or one a row (B,)

    A row whose ``max_len`` is smaller is cut there.
    """

    def __init__(self, least: Tensor | int, eos: int) -> None:
        self.least = torch.as_tensor(least)
        self.eos = eos

    def __call__(self, logps: Tensor, written: Tensor, row: Tensor) -> Tensor:
        least = self.least.to(row.device)
        if least.ndim:
            one_a_row("MinLength has lengths", len(least), written)
            least = least[row]
        logps[:, self.eos].masked_fill_(written.size(1) + 1 < least, -torch.inf)
        return logps


class RepetitionPenalty:
    """The log-probability of each token that the row has generated before, times ``penalty``.

    Log-probabilities are at most 0, so tokens become less likely above 1 and likelier below. How often a token
    came makes no difference. Nothing is normalised again, and the search reports the changed numbers.

    After Keskar et al. 2019, section 4.1, who divide the model's scores before the softmax; those may have
    either sign.
    """

    def __init__(self, penalty: float) -> None:
        if penalty <= 0:
            raise ConfigError(f"penalty={penalty}: must be above 0; 1 changes nothing, 1.2 is a usual value.")
        self.penalty = penalty

    def __call__(self, logps: Tensor, written: Tensor, row: Tensor) -> Tensor:
        return logps.scatter(1, written, logps.gather(1, written) * self.penalty)


class NoRepeat:
    """No n tokens in a row come twice in a text.     Paulus et al. 2018, section 2.5 (n = 3)"""

    def __init__(self, n: int) -> None:
        if n < 1:
            raise ConfigError(f"n={n}: must be at least 1, which lets every token come once.")
        self.n = n

    def __call__(self, logps: Tensor, written: Tensor, row: Tensor) -> Tensor:
        if written.size(1) < self.n:
            return logps
        seen = written.unfold(1, self.n, 1)
        begun = written[:, written.size(1) - self.n + 1 :]
        again = (seen[..., :-1] == begun[:, None]).all(-1)
        return forbid(logps, again, seen[..., -1])


class Forbidden:
    """Phrases, as token ids, that do not come: the last token of each is forbidden where the others stand before."""

    def __init__(self, phrases: Sequence[Sequence[int]]) -> None:
        problems = [
            f"phrase {i} is {list(phrase)}" for i, phrase in enumerate(phrases) if not phrase or min(phrase) < 0
        ]
        if problems:
            raise ConfigError(listing("A forbidden phrase is at least one token id, each at least 0:", problems))
        lengths = defaultdict(list)
        for phrase in phrases:
            lengths[len(phrase)].append(list(phrase))
        self.phrases = [torch.tensor(alike) for alike in lengths.values()]

    def __call__(self, logps: Tensor, written: Tensor, row: Tensor) -> Tensor:
        for phrases in self.phrases:
            phrases = phrases.to(written.device)
            begun = phrases[:, :-1]
            if written.size(1) >= begun.size(1):
                ends = written[:, None, written.size(1) - begun.size(1) :]
                logps = forbid(logps, (ends == begun).all(-1), phrases[:, -1].expand(len(written), -1))
        return logps


class ForcedPrefix:
    """Each row begins with its own tokens, and goes on freely after them. They keep their log-probabilities.

    prefixes  token ids for each of the B rows, of any lengths
    """

    def __init__(self, prefixes: Sequence[Sequence[int]]) -> None:
        problems = [f"row {i} has {list(tokens)}" for i, tokens in enumerate(prefixes) if min(tokens, default=0) < 0]
        if problems:
            raise ConfigError(listing("The ids of a forced prefix must be at least 0:", problems))
        longest = max(map(len, prefixes), default=0)
        self.tokens = torch.tensor([[*tokens, *[-1] * (longest - len(tokens))] for tokens in prefixes])

    def __call__(self, logps: Tensor, written: Tensor, row: Tensor) -> Tensor:
        one_a_row("ForcedPrefix has tokens", len(self.tokens), written)
        n = written.size(1)
        if n >= self.tokens.size(-1):
            return logps
        forced = self.tokens.to(row.device)[row, n, None]
        others = torch.arange(logps.size(-1), device=logps.device) != forced
        return logps.masked_fill_(others & (forced >= 0), -torch.inf)


def forbid(logps: Tensor, where: Tensor, tokens: Tensor) -> Tensor:
    """Take out tokens (N, k) where (N, k) says so."""
    rows, columns = where.nonzero(as_tuple=True)
    logps[rows, tokens[rows, columns]] = -torch.inf
    return logps
