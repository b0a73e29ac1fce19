"""Answers of one hypothesis, token by token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from zlib import crc32

import torch

from sublayer.generate import Draw, Guided, stream
from sublayer.generate.decoding import hypothesis
from sublayer.generate.stop_strings import cut
from sublayer.generate.stream import likeliest
from sublayer.serve.door import Event
from sublayer.tasks.base import Prediction
from sublayer.tasks.rules import rules_of
from sublayer.tasks.search import Search
from sublayer.tasks.searching import decoding_of, length_rule, longest_answers, never
from sublayer.tasks.translate import Translate


@torch.inference_mode()
def writes(task: Translate, texts: Sequence[str], search: Search) -> Iterator[tuple[int, Event | Prediction]]:
    """For each text, by its number, `{token, text, logp}` for each token, where `text` is what it adds to the answer,
    and then the answer, which is what `predict` gives with these settings: `search.rows` is 1, `search.require` empty.
    """
    read = [number for number, text in enumerate(texts) if text.strip()]
    written = {number: Written(task, search) for number in range(len(texts))}
    yield from ((n, Prediction("", 0.0, 0.0, (), (), True)) for n in written if n not in read)
    if not read:
        return
    target, ids = task.target, task.source.encode_batch([texts[number] for number in read])
    longest = longest_answers(task, ids, search)
    rules, _ = rules_of(target, ids, search, longest)
    decoding = decoding_of(task, ids)
    start = torch.full((len(ids), 1), target.bos, device=task.device)
    keys = [crc32(repr(list(row)).encode()) for row in ids]
    drawn = {name: getattr(search, name) for name in ("seed", "temperature", "top_k", "top_p", "min_p")}
    tokens = stream(
        Guided(decoding, *rules) if rules else decoding,
        start,
        eos=target.eos,
        max_len=longest,
        choose=Draw(keys=keys, **drawn) if search.temperature else likeliest,
        never=never(target, search),
    )
    limits = longest.tolist()
    going = set(read)
    for row, token, logp in tokens:
        number, so_far = read[row], written[read[row]]
        yield number, so_far.add(token, logp)
        if token == target.eos or len(so_far.tokens) == limits[row]:
            going.discard(number)
            yield number, so_far.whole()
    yield from ((number, written[number].whole()) for number in sorted(going))  # nothing could come next


class Written:
    """The tokens of one answer so far."""

    def __init__(self, task: Translate, search: Search) -> None:
        self.target, self.search = task.target, search
        self.tokens: list[int] = []
        self.logps: list[float] = []
        self.shown = ""

    def add(self, token: int, logp: float) -> Event:
        self.tokens.append(token)
        self.logps.append(logp)
        piece = self.target.piece(token)
        return {"token": piece, "text": self._more(end=token == self.target.eos), "logp": logp}

    def _more(self, end: bool) -> str:
        """What may be shown now. The beginning of a character, or of a stop string, waits for what follows."""
        stops = self.search.stop_strings
        text = cut(self.target.decode(self.tokens) if end else self.target.settled(self.tokens), stops)
        if not end:
            held = max((n for stop in stops for n in range(1, len(stop)) if text.endswith(stop[:n])), default=0)
            text = text[: len(text) - held]
        if not text.startswith(self.shown):
            return ""
        added = text[len(self.shown) :]
        self.shown = text
        return added

    def whole(self) -> Prediction:
        found = hypothesis(self.tokens, self.logps, self.target.eos, length_rule(self.search))
        return Prediction.of(found, self.target, self.search.stop_strings)
