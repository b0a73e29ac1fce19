"""What a model looks at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self, cast

import torch
from torch import Tensor

from sublayer.data import Pair
from sublayer.errors import ConfigError
from sublayer.inspect import AttentionPicture, attention_maps, by_word
from sublayer.nn import Mask
from sublayer.tasks.base import Alignment, Task
from sublayer.tasks.complete import Complete
from sublayer.tasks.embed import Embed
from sublayer.tasks.fill import Fill
from sublayer.tasks.spans import FillSpans
from sublayer.tasks.tag import Tag
from sublayer.tasks.texts import Ids, TextTask, Vocabulary
from sublayer.tasks.translate import Translate
from sublayer.text import AnyTokenizer, NGrams, PretrainedTokenizer, PublishedSide, Words


class Side(NamedTuple):
    """tokens  as they read
    words   as they read
    of      for each token the number of its word; -1: it is white space
    """

    tokens: list[str]
    words: list[str]
    of: list[int]

    @classmethod
    def read(cls, tokenizer: Vocabulary | AnyTokenizer, text: str) -> Self:
        tokens = tokenizer.tokens(text)
        if isinstance(tokenizer, NGrams | PublishedSide):
            return cls.whole(tokens)
        if isinstance(tokenizer, PretrainedTokenizer):
            words = Words.between_spaces(text, *tokenizer.located(text))
        else:
            words = tokenizer.words(text)
        return cls(tokens, list(words.texts), list(words.of))

    @classmethod
    def whole(cls, tokens: Iterable[str]) -> Self:
        """Each a word of its own, as special tokens are."""
        tokens = list(tokens)
        return cls(tokens, tokens, list(range(len(tokens))))

    def __add__(self, other: Side) -> Side:  # type: ignore[override]
        behind = [n + len(self.words) if n >= 0 else n for n in other.of]
        return Side(self.tokens + other.tokens, self.words + other.words, self.of + behind)

    def cut(self, start: int, stop: int | None = None) -> Side:
        """Some of the tokens, and the words that they belong to."""
        tokens, of = self.tokens[start:stop], self.of[start:stop]
        kept = sorted(set(of) - {-1})
        return Side(tokens, [self.words[n] for n in kept], [kept.index(n) if n >= 0 else n for n in of])


END, START = Side.whole(["</s>"]), Side.whole(["<s>"])


def picture(task: Task, text: str, target: str | None = None, *, words: bool = False) -> AttentionPicture:
    """Attention over one text, and over the answer of a model that writes: its own, where no target is given.

    words  for those of tokens: the sum over a word that is looked at, the mean over one that looks

    Of `translate` there are the encoder, the decoder, what that sees of the encoder, and the words that belong
    together. ConfigError for a target where nothing is written.
    """
    task.model.eval()
    with torch.inference_mode():
        if isinstance(task, Translate):
            return _translated(task, text, target, words)
        if isinstance(task, Complete):
            return _continued(task, text, target, words)
        if isinstance(task, FillSpans) and target is None:
            return _filled(task, text, words)
        if target is not None:
            raise ConfigError(f"A target is for runs that write, and this one holds a {type(task).__name__}.")
        if isinstance(task, TextTask):
            return _read(task, text, words)
    raise ConfigError(f"There is no picture of what a {type(task).__name__} looks at.")


def aligned(alignment: Alignment) -> Tensor:
    """The links as weights of one head, (1, target words, source words)."""
    weights = torch.zeros(1, len(alignment.target), len(alignment.source))
    for s, t in alignment.links:
        weights[0, t, s] = 1
    return weights


def _translated(task: Translate, text: str, target: str | None, words: bool) -> AttentionPicture:
    if target is None:
        target = next(task.predict([text]))[0].text
    batch = task.batch(task.encode_pairs([Pair(text, target, 1)]))
    with attention_maps(task.model) as maps:
        task.model(batch.source, batch.target_in, None, Mask(causal=True))
    read, said = Side.read(task.source, text) + END, Side.read(task.target, target) + END
    begun = START + said.cut(0, -1)
    drawn = _Drawing(words)
    drawn.add("cross", maps.cross, said, read)
    (alignment,) = task.align([Pair(text, target, 1)])
    if alignment.source and alignment.target:
        drawn.add("alignment", [aligned(alignment)[None]], Side.whole(alignment.target), Side.whole(alignment.source))
    drawn.add("encoder", maps.encoder, read, read)
    drawn.add("decoder", maps.decoder, said, begun)
    return drawn.picture(f"{text} → {target}")


def _filled(task: FillSpans, text: str, words: bool) -> AttentionPicture:
    """The text with blanks, and what is written for them."""
    ids = task.blanked(text)
    task.check([ids], [1])
    said = task.spoken(text)
    batch = task.batch([(ids[:-1], said)])
    with attention_maps(task.model) as maps:
        task.model(batch.source, batch.target_in, None, Mask(causal=True))
    read, written = (Side.whole(map(task.piece, row)) for row in (ids[:-1], said))
    drawn = _Drawing(words)
    drawn.add("cross", maps.cross, written + END, read + END)
    drawn.add("encoder", maps.encoder, read + END, read + END)
    drawn.add("decoder", maps.decoder, written + END, START + written)
    return drawn.picture(text)


def _continued(task: Complete, text: str, target: str | None, words: bool) -> AttentionPicture:
    """Each row is a token that was written, or read, and looks at what stood before it."""
    if target is None:
        target = next(task.predict([text]))[0].text
    whole = f"\n{text}{target}"
    ids, side = task.target.encode(whole)[-task.context - 1 :], Side.read(task.target, whole)
    if len(ids) < 2:
        ids, side = [*ids, task.target.eos], side + END
    side = side.cut(len(side.tokens) - len(ids))
    with attention_maps(task.model) as maps:
        task.model(torch.tensor([ids[:-1]], device=task.device))
    drawn = _Drawing(words)
    drawn.add("decoder", maps.decoder, side.cut(1), side.cut(0, -1))
    return drawn.picture(f"{text}{target}")


def _read(task: TextTask, text: str, words: bool) -> AttentionPicture:
    ids, side = _as_read(task, text)
    task.check([ids], [1])
    with attention_maps(task.model) as maps:
        task.model(*task.batch([ids]).inputs)
    drawn = _Drawing(words)
    drawn.add("encoder", maps.encoder, side, side)
    return drawn.picture(text)


def _as_read(task: TextTask, text: str) -> tuple[Ids, Side]:
    """What the model reads; of a sentence to tag that is longer than it can read, the first window."""
    if isinstance(task, Fill):
        ids = task.blanked(text)
        return ids, Side.whole(task.spelled if id == task.mask else task.tokenizer.piece(cast(int, id)) for id in ids)
    before, behind = (_specials(task, ids) for ids in task.around())
    if isinstance(task, Tag):
        given = text.split()
        [ids, *_] = [window.ids for window in task.windows(given)] or task.encode([[""]])
        inside = _tagged(task, given)
        return ids, before + inside.cut(0, len(ids) - len(before.tokens) - len(behind.tokens)) + behind
    parts = [text] if isinstance(task, Embed) else text.split("\t")
    [ids] = task.encode([parts])
    side = before
    for n, part in enumerate(parts):
        side = side + (_specials(task, task.between()) if n else Side.whole([])) + Side.read(task.tokenizer, part)
    return ids, side + behind


def _specials(task: TextTask, ids: Ids) -> Side:
    return Side.whole(task.tokenizer.piece(id if isinstance(id, int) else id[0]) for id in ids)


def _tagged(task: Tag, words: Sequence[str]) -> Side:
    tokens: list[str] = []
    of: list[int] = []
    encoded: list[list[Any]] = list(task.tokenizer.encode_words(words))
    for number, (word, pieces) in enumerate(zip(words, encoded, strict=True)):
        tokens += [word] if len(pieces) == 1 else map(task.tokenizer.piece, pieces)
        of += [number] * len(pieces)
    return Side(tokens, list(words), of)


class _Drawing:
    def __init__(self, words: bool) -> None:
        self.words = words
        self.maps: dict[str, list[Tensor]] = {}
        self.rows: dict[str, list[str]] = {}
        self.columns: dict[str, list[str]] = {}

    def add(self, kind: str, layers: Sequence[Tensor], rows: Side, columns: Side) -> None:
        """Layers (1, H, T, S)."""
        rows, columns = rows.cut(0), columns.cut(0)  # a word may be without a token
        self.maps[kind] = [by_word(w[0], rows.of, columns.of) if self.words else w[0] for w in layers]
        self.rows[kind], self.columns[kind] = (side.words if self.words else side.tokens for side in (rows, columns))

    def picture(self, title: str) -> AttentionPicture:
        return AttentionPicture(self.maps, self.rows, self.columns, title=title)
