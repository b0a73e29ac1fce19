"""What answers lines: a search over one model, or over several together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from math import exp
from typing import NamedTuple

import torch

from sublayer.data.bucket import TokenBatches
from sublayer.data.examples import Pair
from sublayer.errors import DataError
from sublayer.evaluate import Score
from sublayer.generate import Decoding, Ensemble, ForcedPrefix, Guided, Hypothesis, alternatives
from sublayer.tasks.base import Alternative, Prediction, Written
from sublayer.tasks.given import BATCH_TOKENS, WINDOW, Given, Source, longest
from sublayer.tasks.judging import Likely, judged
from sublayer.tasks.reading import predictions
from sublayer.tasks.search import Search
from sublayer.tasks.searching import decoding_of, hypotheses, never, tokens
from sublayer.tasks.streaming import pieces
from sublayer.tasks.written import translations


class Answering(Given):
    """Answers of the mean of the probabilities of `members`.

    search  how they are looked for where nothing else is said
    """

    search: Search

    def decoding(self, sources: Sequence[Source]) -> Decoding:
        """What the search asks for the next token of each source."""
        read = [decoding_of(m, ids) for m, ids in zip(self.members, zip(*sources, strict=True), strict=True)]
        return Ensemble(read) if len(read) > 1 else read[0]

    def find(self, sources: Sequence[Source], search: Search) -> Iterable[list[Hypothesis]]:
        """For each source its hypotheses, the best first. They may still be looked for while the caller goes on."""
        return hypotheses(self, self.decoding(sources), [source[0] for source in sources], search)

    def predict(
        self,
        inputs: Iterable[str],
        *,
        search: Search | None = None,
        alignments: bool = False,
        window: int = WINDOW,
        ahead: int = 0,
        first: int = 1,
        too_long: Callable[[str], None] | None = None,
    ) -> Iterator[list[Prediction]]:
        """For each line, in order, its answers, the best first. Streams, `window` lines at a time.

        An empty line has one empty answer. What a line gets does not depend on its neighbours.

        alignments  of the words of each answer with those of the line, see `align`
        ahead       windows that are begun before the first is waited for: more than 0 for an engine of other processes
        first       the number of the first line, for what is told
        too_long    is told of each line that is longer than the model can read, and its answer is empty; without it
                    such a line is a DataError
        """
        search, stream = search or self.search, enumerate(inputs, first)
        begun: deque[_Window] = deque()
        while lines := list(islice(stream, window)):
            begun.append(self._begin(lines, search, too_long or _refuse))
            if len(begun) > ahead:
                yield from self._finish(begun.popleft(), search, alignments)
        for each in begun:
            yield from self._finish(each, search, alignments)

    def write(
        self, lines: Iterable[str], how: Written, *, window: int = WINDOW, alignments: bool = False, ahead: int = 0
    ) -> Iterator[str]:
        """A line for each answer, its alignment behind it where that is asked for; the rest as in `predict`."""
        found = partial(self.predict, lines, window=window, alignments=alignments, ahead=ahead, first=how.first)
        return translations(found, how, alignments=alignments)

    @torch.inference_mode()
    def _begin(self, lines: list[tuple[int, str]], search: Search, too_long: Callable[[str], None]) -> _Window:
        full = [i for i, (_, line) in enumerate(lines) if line.strip()]
        readable = []
        for i, source in zip(full, self.read([lines[i][1] for i in full]), strict=True):
            if problem := self.problem(source):
                too_long(f"line {lines[i][0]}: {problem}")
            else:
                readable.append((i, source))
        self.eval()
        lengths = [(longest(source), 0) for _, source in readable]
        found = [
            ([readable[row][0] for row in rows], self.find([readable[row][1] for row in rows], search))
            for rows in TokenBatches(lengths, BATCH_TOKENS // search.rows).in_order()
        ]
        return _Window([line for _, line in lines], found)

    @torch.inference_mode()
    def _finish(self, window: _Window, search: Search, alignments: bool) -> list[list[Prediction]]:
        found: list[list[Hypothesis]] = [[] for _ in window.lines]
        for places, each in window.found:
            for i, answers in zip(places, each, strict=True):
                found[i] = answers
        asked = [(line, h) for line, answers in zip(window.lines, found, strict=True) for h in answers]
        written = iter(predictions(self.members[0], asked, search, alignments))
        return [[next(written) for _ in answers] or [NO_ANSWER] for answers in found]

    @torch.inference_mode()
    def stream(self, text: str, *, search: Search | None = None) -> Iterator[str]:
        """The answer to one text in pieces, each as soon as nothing can change it any more; end to end they are the
        text that `predict` gives. The models themselves write it, whatever the engine.

        ConfigError for settings that compare several answers (beam, groups, nbest, require) or change them afterwards
        (replace_unknown); DataError for a text that is longer than the model can read.
        """
        search = search or self.search
        if text.strip():
            source = self._source(text)
            written = tokens(self, self.decoding([source]), [source[0]], search)
            yield from pieces(written, self.target, search.stop_strings)

    @torch.inference_mode()
    def alternatives(
        self, text: str, prefix: str = "", n: int = 5, *, search: Search | None = None
    ) -> list[Alternative]:
        """The n likeliest tokens after the first tokens of an answer, likeliest first; none for an empty text.

        prefix  what the answer begins with, as the target's tokenizer cuts it; it takes the place of `search.prefix`

        The probabilities are the model's own: rules of the search bear on the answers alone. Tokens behind the
        longest answer that `max_ratio` and `max_extra` allow have an answer that is cut there.
        """
        if not text.strip():
            return []
        search = (search or self.search).model_copy(update={"prefix": ""})
        source, begun, target = self._source(text), self.target.encode(prefix), self.target
        start = torch.tensor([[target.bos, *begun]], device=self.device)
        [found] = alternatives(self.decoding([source]), start, n, never=never(target, search))
        forced = ForcedPrefix([[*begun, token] for token, _ in found])
        sources = [source] * len(found)
        answers = hypotheses(self, Guided(self.decoding(sources), forced), [ids[0] for ids in sources], search)
        read = predictions(self.members[0], [(text, each[0]) for each in answers], search, alignments=False)
        return [Alternative(target.piece(t), exp(logp), a) for (t, logp), a in zip(found, read, strict=True)]

    def _source(self, text: str) -> Source:
        [source] = self.read([text])
        if problem := self.problem(source):
            _refuse(problem)
        self.eval()
        return source

    def evaluate(
        self,
        pairs: Sequence[Pair],
        metrics: Sequence[str],
        *,
        search: Search | None = None,
        bootstrap: int = 0,
    ) -> list[Score]:
        """Scores of the answers to the sources, every listed target of a source being right; loss and perplexity
        are a token, EOS counted."""

        def likely(pairs: Sequence[Pair]) -> Iterator[Likely]:
            return ((target.logp, len(target.token_logps)) for target in self.score(pairs))

        def answers(sources: Sequence[str]) -> Iterator[str]:
            return (found[0].text for found in self.predict(sources, search=search))

        return judged(pairs, metrics, self.target.kind, likely, answers, bootstrap)


class _Window(NamedTuple):
    """Lines that are being answered, and for each batch of them their places and what is found for them."""

    lines: list[str]
    found: list[tuple[list[int], Iterable[list[Hypothesis]]]]


NO_ANSWER = Prediction("", 0.0, 0.0, (), (), True)  # to an empty line


def _refuse(problem: str) -> None:
    raise DataError(f"{problem}. Cut the text, or train with sinusoidal positions or a larger model.max_len.")
