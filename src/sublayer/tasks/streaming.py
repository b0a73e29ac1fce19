"""An answer that is shown while it is written."""

from collections.abc import Iterable, Iterator, Sequence

from sublayer.generate import Token
from sublayer.generate.stop_strings import cut
from sublayer.text import AnyTokenizer


def pieces(tokens: Iterable[Token], target: AnyTokenizer, stops: Sequence[str]) -> Iterator[str]:
    """Text as soon as nothing that follows can change it: end to end the pieces are what `cut(decode(…))` gives.

    Held back are characters that lack bytes, and the beginning of what may become a stop string.
    """
    written: list[int] = []
    shown = 0
    for token in tokens:
        if token.token != target.eos:
            written.append(token.token)
        text = cut(target.settled(written), stops)
        end = len(text) - _begun(text, stops)
        if end > shown:
            yield text[shown:end]
            shown = end
    if rest := cut(target.decode(written), stops)[shown:]:
        yield rest


def _begun(text: str, stops: Sequence[str]) -> int:
    """How many characters at the end of the text may be the beginning of a stop string."""
    return max((n for stop in stops for n in range(1, len(stop)) if text.endswith(stop[:n])), default=0)
