"""A running text, learned and continued."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor

from sublayer.data.text import Line, joined
from sublayer.data.windows import Windows
from sublayer.errors import ConfigError, DataError, nearest
from sublayer.evaluate import TEXT_METRICS, Score, bits_per_character, perplexity
from sublayer.models.config import ModelConfig
from sublayer.models.decoder import CausalLM
from sublayer.models.decoding import WindowedDecoding
from sublayer.tasks.base import Prediction, Task, Written
from sublayer.tasks.folder import write_task
from sublayer.tasks.search import Search
from sublayer.tasks.searching import hypotheses, tokens
from sublayer.tasks.streaming import pieces
from sublayer.tasks.teaching import output_loss
from sublayer.tasks.written import told, translations
from sublayer.text import AnyTokenizer
from sublayer.train.loss import Loss, no_loss

BATCH_TOKENS = 8192
ROWS = 64  # prompts of one length that are continued together


class Complete(Task):
    """A language model with its vocabulary.

    context  how many tokens it looks back: as many as the windows had that it was trained on
    search   how texts are continued; lengths count the new tokens
    """

    metrics = tuple(TEXT_METRICS)
    model: CausalLM
    limit = math.inf

    def __init__(
        self, model: CausalLM, config: ModelConfig, target: AnyTokenizer, context: int, search: Search
    ) -> None:
        self.model, self.config, self.target, self.context, self.search = model, config, target, context, search

    @property
    def tokenizer(self) -> AnyTokenizer:
        return self.target

    def for_inference(self, dtype: torch.dtype | None = None) -> Complete:
        return Complete(self.model.for_inference(dtype), self.config, self.target, self.context, self.search)

    def describe(self, folder: Path) -> None:
        about = {"context": self.context, "search": self.search.model_dump(mode="json")}
        write_task(folder, "complete", self.config, about)
        self.target.save(folder / "tokenizer.json")

    def sides(self) -> list[str]:
        return [told("text", self.target), f"context: {self.context:,} tokens"]

    def inputs(self, text: str | None) -> tuple[Tensor]:
        ids = list(range(4, min(10, len(self.target)))) if text is None else self.prompt(text)
        return (torch.tensor([ids[-self.context :]], device=self.device),)

    def prompt(self, text: str) -> list[int]:
        """A prompt stands at the beginning of a line."""
        return self.target.encode(f"\n{text}")

    # -- continuations ---------------------------------------------------------------------------------------

    def predict(
        self,
        inputs: Iterable[str],
        *,
        search: Search | None = None,
        window: int = 1024,
        too_long: Callable[[str], None] | None = None,
    ) -> Iterator[list[Prediction]]:
        """For each prompt, in order, how it goes on, the best first. The empty prompt is continued too. A prompt of any
        length may come: the model looks at its end. What a prompt gets does not depend on its neighbours."""
        search, stream = self._possible(search), iter(inputs)
        while prompts := list(islice(stream, window)):
            yield from self._continued([self.prompt(text) for text in prompts], search)

    @torch.inference_mode()
    def _continued(self, prompts: list[list[int]], search: Search) -> list[list[Prediction]]:
        self.model.eval()
        found: dict[int, list[Prediction]] = {}
        lengths = sorted({len(ids) for ids in prompts})
        for n in lengths:
            alike = [i for i, ids in enumerate(prompts) if len(ids) == n]
            for rows in (alike[i : i + ROWS] for i in range(0, len(alike), ROWS)):
                start = torch.tensor([prompts[row] for row in rows], device=self.device)
                decoding = WindowedDecoding(self.model, self.context)
                texts = hypotheses(self, decoding, [prompts[row] for row in rows], search, start)
                for row, several in zip(rows, texts, strict=True):
                    found[row] = [Prediction.of(each, self.target, search.stop_strings) for each in several]
        return [found[i] for i in range(len(prompts))]

    @torch.inference_mode()
    def stream(self, prompt: str, *, search: Search | None = None) -> Iterator[str]:
        """The continuation in pieces, each as soon as nothing can change it any more: drawn, or greedy where the
        temperature is 0. ConfigError for settings that compare several continuations."""
        search = self._possible(search)
        self.model.eval()
        ids = self.prompt(prompt)
        start = torch.tensor([ids], device=self.device)
        written = tokens(self, WindowedDecoding(self.model, self.context), [ids], search, start)
        yield from pieces(written, self.target, search.stop_strings)

    def _possible(self, search: Search | None) -> Search:
        search = search or self.search
        if search.replace_unknown:
            raise ConfigError("search.replace_unknown is for answers with a source, and a continuation has none.")
        return search

    def write(self, lines: Iterable[str], how: Written, *, window: int = 1024) -> Iterator[str]:
        """A line end in a continuation is written as the two characters \\n, so that a line stays a line."""
        for line in translations(partial(self.predict, self._telling(lines, how), window=window), how):
            yield line.replace("\n", "\\n")

    def _telling(self, lines: Iterable[str], how: Written) -> Iterator[str]:
        """The lines; those whose beginning is out of sight are told."""
        for number, text in enumerate(lines, how.first):
            if how.tell is not None and (unseen := len(self.prompt(text)) - self.context) > 0:
                how.tell(f"line {number}: {unseen + self.context} tokens, the first {unseen} out of sight")
            yield text

    # -- given texts -----------------------------------------------------------------------------------------

    def encode(self, lines: Sequence[Line]) -> list[int]:
        """The whole text, </s> at the end of each file."""
        ids: list[int] = []
        for text in joined(lines):
            ids += [*self.target.encode(text), self.target.eos]
        return ids

    def cost(self, model: CausalLM, windows: Tensor, smoothing: float = 0.0, chunk: int = 0) -> Loss:
        """Of every token of the windows (rows, T + 1) but the first of each."""
        states = model.states(windows[:, :-1])
        return output_loss(model.project, states.flatten(0, 1), windows[:, 1:].flatten(), smoothing, chunk)

    def logits_and_labels(self, model: CausalLM, windows: Tensor) -> tuple[Tensor, Tensor]:
        """Of the same tokens: (rows · T, V) and (rows · T,)."""
        return model.project(model.states(windows[:, :-1]).flatten(0, 1)), windows[:, 1:].flatten()

    @torch.inference_mode()
    def evaluate(self, items: Sequence[Line], metrics: Sequence[str], *, bootstrap: int = 0) -> list[Score]:
        """Every token but the first is predicted once, in windows that lie end to end: from `context` / 2 tokens on
        average. There are no intervals: a text is one item."""
        if unknown := [name for name in metrics if name not in TEXT_METRICS]:
            raise ConfigError(f"unknown metric {unknown[0]!r}. {nearest(unknown[0], TEXT_METRICS)}")
        ids = self.encode(items)
        if len(ids) < 3:
            raise DataError("There is nothing to evaluate: the text is empty.")
        self.model.eval()
        summed = no_loss()
        for windows in Windows(ids, self.context, max(1, BATCH_TOKENS // self.context)).in_order():
            summed += self.cost(self.model, windows.to(self.device))
        total, characters = float(summed.nll), sum(map(len, joined(items)))
        values = {
            "loss": (total / summed.count, summed.count),
            "perplexity": (perplexity(total, summed.count), summed.count),
            "bits_per_character": (bits_per_character(total, characters), characters),
        }
        signature = f"{self.target.kind} tokens|context:{self.context}"
        return [Score(name, *values[name], TEXT_METRICS[name].unit, False, f"{name}|{signature}") for name in metrics]
