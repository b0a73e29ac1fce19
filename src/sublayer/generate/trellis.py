"""What a beam has written: each token with the row it continues, so no text is copied while it grows."""

from typing import NamedTuple

from sublayer.generate.candidates import Candidates


class Ending(NamedTuple):
    """A hypothesis that is complete: its last token, and where the rest stands in the trellis."""

    score: float
    steps: int
    parent: int
    token: int
    logp: float


class Trellis:
    def __init__(self) -> None:
        self.columns: list[tuple[list[int], list[int], list[float]]] = []

    def grow(self, running: Candidates) -> None:
        """One more token on each row; the parents are rows of the column before."""
        parent, token, logp = running.parent, running.token, running.logp
        self.columns.append((parent.flatten().tolist(), token.flatten().tolist(), logp.flatten().tolist()))

    def read(self, ending: Ending) -> tuple[list[int], list[float]]:
        """All tokens of a hypothesis and their log-probabilities."""
        tokens, logps, row = [ending.token], [ending.logp], ending.parent
        for parents, column_tokens, column_logps in reversed(self.columns[: ending.steps]):
            tokens.append(column_tokens[row])
            logps.append(column_logps[row])
            row = parents[row]
        return tokens[::-1], logps[::-1]
