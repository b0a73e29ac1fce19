"""An answer that is shown while it is written."""

from collections.abc import Iterable, Iterator, Sequence

from sublayer.generate import Token
from sublayer.generate.stop_strings import cut
from sublayer.text import AnyTokenizer


class Unfolding:
    """The text of one answer, as soon as nothing that follows can change it: end to end its parts are what
    `cut(decode(…))` gives.

    Held back are characters that lack bytes, and the beginning of what may become a stop string.
    """

    def __init__(self, target: AnyTokenizer, stops: Sequence[str]) -> None:
        self.target, self.stops = target, stops
        self.written: list[int] = []
        self.shown = 0

    def add(self, token: int) -> str:
        """What this token adds to the text; it may be nothing."""
        if token != self.target.eos:
            self.written.append(token)
        text = cut(self.target.settled(self.written), self.stops)
        return self._show(text, len(text) - _begun(text, self.stops))

    def rest(self) -> str:
        """What was held back, once nothing follows."""
        text = cut(self.target.decode(self.written), self.stops)
        return self._show(text, len(text))

    def _show(self, text: str, end: int) -> str:
        start, self.shown = self.shown, max(self.shown, end)
        return text[start:end]


def pieces(tokens: Iterable[Token], target: AnyTokenizer, stops: Sequence[str]) -> Iterator[str]:
    """The text of one answer from its tokens, part by part, none of them empty."""
    unfolding = Unfolding(target, stops)
    for token in tokens:
        if text := unfolding.add(token.token):
            yield text
    if text := unfolding.rest():
        yield text


def _begun(text: str, stops: Sequence[str]) -> int:
    """How many characters at the end of the text may be the beginning of a stop string."""
    return max((n for stop in stops for n in range(1, len(stop)) if text.endswith(stop[:n])), default=0)
