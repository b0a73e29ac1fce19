"""The recipes of pairs and of questions. Reading one needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from sublayer.evaluate import ANSWER_METRICS, LOSS, SIMILARITY_METRICS, Metric
from sublayer.tasks import sections
from sublayer.tasks.sections import AnyModel, AnyRecipe, Columns, OneFile, Section, Words


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
