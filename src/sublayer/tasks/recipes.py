"""The recipes by task. Reading one needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from sublayer.evaluate import (
    ANSWER_METRICS,
    FILL_METRICS,
    LOSS,
    SIMILARITY_METRICS,
    TEXT_METRICS,
    Metric,
)
from sublayer.tasks import sections
from sublayer.tasks.label_recipes import ClassifyRecipe, Columns, TagRecipe
from sublayer.tasks.recipe import Recipe
from sublayer.tasks.search import Search
from sublayer.tasks.sections import AnyModel, AnyRecipe, OneFile, Section, Words, listed


class PairedData(sections.Data):
    """Where the pairs are: a TSV file (also .gz) of two texts that belong together, or of two texts and a score."""

    train: OneFile | None = Field(None, description="file")
    valid: OneFile | None = Field(None, description="the same for validation")
    columns: Columns | None = Field(None, description="columns of both texts, and of the score, from 1")


class Vector(Section):
    pool: Literal["mean", "max", "first"] = Field("mean", description="how the tokens of a text become one vector")
    normalize: bool = Field(True, description="vectors of length 1")
    cut: bool = Field(False, description="of too long a text the beginning alone, and not the mean of its windows")


class PairScores(Section):
    lowest: float | None = Field(None, description="of texts that are unlike; the lowest of the training pairs")
    highest: float | None = Field(None, description="of texts that are alike; the highest of the training pairs")


class EmbedTrain(sections.Train):
    measures: ClassVar[Mapping[str, Metric]] = {"loss": LOSS, **SIMILARITY_METRICS}
    always: ClassVar[tuple[str, ...]] = ("loss",)

    scale: float = Field(20.0, gt=0, description="of the cosines, where pairs have no score: 1 / temperature")
    label_smoothing: float = Field(0.0, ge=0, le=0, description="there are no labels: 0")


class EmbedRecipe(AnyRecipe):
    """A whole run of task `embed`."""

    architecture: ClassVar[str] = "encoder"

    task: Literal["embed"] = "embed"
    data: PairedData = PairedData()
    text: Words = Words()
    model: AnyModel | None = None
    vector: Vector = Vector()
    scores: PairScores = PairScores()
    train: EmbedTrain | None = None


class QuestionData(sections.Data):
    """Where the questions are: a JSONL file in the form of SQuAD, or a TSV file of question, text, answer and where the
    answer begins, each also .gz."""

    train: OneFile | None = Field(None, description="file")
    valid: OneFile | None = Field(None, description="the same for validation")
    columns: tuple[int, int, int, int] | None = Field(None, description="question, text, answer, start, from 1")


class Rules(Section):
    longest: int = Field(30, ge=1, description="tokens of an answer")
    threshold: float = Field(0.0, description="nats by which an answer must be likelier than none")


class AnswerTrain(sections.Train):
    measures: ClassVar[Mapping[str, Metric]] = {"loss": LOSS, **ANSWER_METRICS}
    always: ClassVar[tuple[str, ...]] = ("loss",)

    validate_metrics: list[str] = Field(default_factory=lambda: ["span_f1", "exact", "f1"])
    metric: str = Field("span_f1", description="what decides which weights are best")
    label_smoothing: float = Field(0.0, ge=0, le=0, description="a place is right or wrong: 0")


class AnswerRecipe(AnyRecipe):
    """A whole run of task `answer`."""

    architecture: ClassVar[str] = "encoder"

    task: Literal["answer"] = "answer"
    data: QuestionData = QuestionData()
    text: Words = Words()
    model: AnyModel | None = None
    answer: Rules = Rules()
    train: AnswerTrain | None = None


Files = Annotated[list[str], Field(min_length=1), BeforeValidator(listed)]


class PlainData(sections.Data):
    """Where the text is: plain text files (also .gz), read one after the other."""

    train: Files | None = Field(None, description="file, or a list of files")
    valid: Files | None = Field(None, description="the same for validation")


class Characters(sections.Side):
    """How a running text becomes tokens."""

    kind: Literal["auto", "char", "bpe", "unigram"] = "auto"


class Guessed(sections.Side):
    """How a text becomes tokens that can be left out."""

    kind: Literal["auto", "char", "word", "split", "bpe", "unigram", "wordpiece"] = "auto"


class CompleteTrain(sections.Train):
    measures: ClassVar[Mapping[str, Metric]] = TEXT_METRICS
    always: ClassVar[tuple[str, ...]] = tuple(TEXT_METRICS)
    of_batches: ClassVar[tuple[str, ...]] = ("batch_tokens", "seed", "context")

    context: int = Field(256, ge=2, description="tokens of a window: what the model reads of the text at a time")
    batch_tokens: int = Field(4096, ge=1, description="tokens of a batch: rows × context")
    label_smoothing: float = Field(0.0, ge=0, lt=1)
    betas: tuple[float, float] = (0.9, 0.99)


class CompleteRecipe(AnyRecipe):
    """A whole run of task `complete`."""

    architecture: ClassVar[str] = "decoder"

    task: Literal["complete"] = "complete"
    data: PlainData = PlainData()
    text: Characters = Characters()
    model: AnyModel | None = None
    train: CompleteTrain | None = None
    search: Search = Search(temperature=0.8, max_ratio=0.0, max_extra=200)


class FillTrain(sections.Train):
    measures: ClassVar[Mapping[str, Metric]] = FILL_METRICS
    always: ClassVar[tuple[str, ...]] = ("accuracy", "loss", "perplexity")

    masked: float = Field(0.15, gt=0, lt=1, description="how many tokens are left out to be guessed")
    label_smoothing: float = Field(0.0, ge=0, le=0, description="what stood there is right: 0")


class FillRecipe(AnyRecipe):
    """A whole run of task `fill`."""

    architecture: ClassVar[str] = "encoder"

    task: Literal["fill"] = "fill"
    data: PlainData = PlainData()
    text: Guessed = Guessed()
    model: AnyModel | None = None
    train: FillTrain | None = None


RECIPES: dict[str, type[AnyRecipe]] = {
    "translate": Recipe,
    "classify": ClassifyRecipe,
    "tag": TagRecipe,
    "embed": EmbedRecipe,
    "answer": AnswerRecipe,
    "complete": CompleteRecipe,
    "fill": FillRecipe,
}
