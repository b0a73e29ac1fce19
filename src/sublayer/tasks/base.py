"""What every task is, what it gives back, and how it is learned."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch

from sublayer.data import Corpus
from sublayer.evaluate import Score
from sublayer.generate import Hypothesis
from sublayer.generate.stop_strings import cut
from sublayer.interop.card import card, sizes_of
from sublayer.interop.hub import push
from sublayer.models.config import ModelConfig
from sublayer.models.store import save_weights
from sublayer.tasks.sizes import Choices
from sublayer.text import AnyTokenizer
from sublayer.train.loss import Loss
from sublayer.train.plan import Batches


@dataclass(frozen=True, slots=True)
class Alignment:
    """What each target word comes from.

    source, target  the words
    links           (source word, target word) by their numbers from 0, in the order of the target
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[tuple[int, int], ...]

    def pharaoh(self) -> str:
        """`0-0 2-1`: target word 0 comes from source word 0, target word 1 from source word 2."""
        return " ".join(f"{s}-{t}" for s, t in self.links)

    def words(self) -> list[tuple[str, str]]:
        """The linked words themselves, source and target."""
        return [(self.source[s], self.target[t]) for s, t in self.links]


@dataclass(frozen=True, slots=True)
class Prediction:
    """One answer. Of an empty line it is empty, with no tokens and a score of 0.

    score     what hypotheses are ranked by: log-probability under the length rule
    logp      sum of the log-probabilities of its tokens, EOS counted
    tokens    its tokens as they read, </s> at the end where it was reached
    token_logps  one a token
    finished  False where it was cut at the longest allowed length
    alignment  what its words come from, where that was asked for
    """

    text: str
    score: float
    logp: float
    tokens: tuple[str, ...]
    token_logps: tuple[float, ...]
    finished: bool
    alignment: Alignment | None = None

    @classmethod
    def of(cls, found: Hypothesis, target: AnyTokenizer, stop_strings: Sequence[str]) -> Prediction:
        """What search found, read by the vocabulary of the answers, up to the first of the stop strings."""
        return cls(
            text=cut(target.decode(found.tokens), stop_strings),
            score=found.score,
            logp=found.logp,
            tokens=(*map(target.piece, found.tokens), *(["</s>"] if found.finished else [])),
            token_logps=found.token_logps,
            finished=found.finished,
        )


@dataclass(frozen=True, slots=True)
class Alternative:
    """A token that could come next, how likely it is, and the best answer that goes on with it."""

    token: str
    probability: float
    answer: Prediction


@dataclass(frozen=True, slots=True)
class Scored:
    """A given target under the model: log-probability in nats, EOS counted."""

    logp: float
    tokens: tuple[str, ...]
    token_logps: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """How answers are written: so many of them, with their scores, as JSON; `first` is the number of the first line,
    `tell` is told of what is not read."""

    nbest: int = 1
    scores: bool = False
    as_json: bool = False
    first: int = 1
    tell: Callable[[str], None] | None = None


class Task(ABC):
    """A model with all that it needs to read texts and to answer.

    metrics  what `sublayer evaluate` measures, where nothing else is asked for
    """

    metrics: ClassVar[tuple[str, ...]]
    model: Any
    config: ModelConfig

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    def save_pretrained(self, folder: str | Path) -> None:
        """A folder that `sublayer.load` reads."""
        self.describe(Path(folder))
        save_weights(self.model, Path(folder) / "model.safetensors")

    def push_to_hub(self, name: str, *, private: bool = False, api: Any = None) -> str:
        """`save_pretrained` to the Hub, with a model card; where it stands then. See `push` for `api` and errors."""
        use = (
            "import sublayer\nfrom huggingface_hub import snapshot_download\n\n"
            f'task = sublayer.load(snapshot_download("{name}"))\nprint(next(task.predict(["a text"])))'
        )
        about = {"task": type(self).__name__.lower(), "width": self.config.d_model} | sizes_of(self.config)
        text = card(name, "sublayer", None, use, about, self.sides())
        return push(name, self.save_pretrained, text, private=private, api=api)

    @abstractmethod
    def describe(self, folder: Path) -> None:
        """All of that folder but the weights."""

    @abstractmethod
    def for_inference(self, dtype: torch.dtype | None = None) -> Task:
        """The same task with its model in inference form: it predicts faster, and can be neither trained nor saved."""

    @abstractmethod
    def evaluate(self, items: Sequence[Any], metrics: Sequence[str], *, bootstrap: int = 0) -> list[Score]:
        """A score a metric, in that order. `bootstrap` samples give 95 % intervals."""

    def long(self, items: Sequence[Any]) -> list[str]:
        """Of each text of these examples that is longer than is read at once its line, its tokens, and what is done.
        Nothing where such texts are refused, or where texts of any length are read at once."""
        return []

    @abstractmethod
    def write(self, lines: Iterable[str], how: Written, *, window: int = 1024) -> Iterator[str]:
        """The lines of `sublayer predict` for these input lines, `window` of them read at a time. ConfigError for a way
        of writing that this task has not."""

    @abstractmethod
    def sides(self) -> list[str]:
        """A line for each vocabulary."""

    @abstractmethod
    def inputs(self, text: str | None) -> tuple[Any, ...]:
        """What the model is called with for this text; without one, for a few tokens of the vocabulary."""


class Job(ABC):
    """How one kind of task is learned: all that `fit` and `load` ask of it. A job holds nothing.

    architecture  of the model's body
    others        that it may have instead
    wanted        what to name under data.train, for a message
    """

    architecture: ClassVar[str]
    others: ClassVar[tuple[str, ...]] = ()
    wanted: ClassVar[str]

    @abstractmethod
    def read(self, files: list[str], recipe: Any, *, skip_bad: bool) -> Corpus[Any]:
        """The examples of a file, or of two that belong together, in the recipe's columns."""

    def read_train(self, recipe: Any) -> Corpus[Any]:
        """The examples that the recipe names to learn from."""
        return self.read(recipe.data.train, recipe, skip_bad=recipe.data.skip_bad)

    @abstractmethod
    def fill_in(self, recipe: Any, items: Sequence[Any]) -> Choices:
        """The whole recipe, for these examples."""

    @abstractmethod
    def fresh(self, recipe: Any, items: Sequence[Any]) -> Task:
        """Vocabularies learned, and a model with fresh weights, the same for the same seed."""

    @abstractmethod
    def load(self, folder: Path, about: dict[str, Any], config: ModelConfig) -> Task:
        """From a run folder, whose task.json holds `about`, without the weights."""

    @abstractmethod
    def encode(self, task: Any, items: Sequence[Any]) -> Sequence[Any]:
        """The examples as ids. DataError naming each line that is too long or holds what the task does not know."""

    @abstractmethod
    def batches(self, task: Any, examples: Sequence[Any], train: Any) -> Batches:
        """What the trainer draws batches from."""

    @abstractmethod
    def loss(self, task: Any, train: Any) -> Callable[[Any, Any], Loss]:
        """What a batch costs, called with the model and the batch."""

    @abstractmethod
    def validate(self, task: Any, items: Sequence[Any], recipe: Any, out: Path) -> dict[str, float]:
        """The metrics of the model as it stands; the newest answers go to `out`/samples."""
