"""The recipes by task. Reading one needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from sublayer.evaluate import (
    FILL_METRICS,
    LABEL_METRICS,
    LOSS,
    TAG_METRICS,
    TEXT_METRICS,
    Metric,
)
from sublayer.tasks import sections
from sublayer.tasks.pair_recipes import AnswerRecipe, EmbedRecipe
from sublayer.tasks.recipe import Recipe
from sublayer.tasks.search import Search
from sublayer.tasks.sections import AnyModel, AnyRecipe, OneFile, Section, Words, listed

Columns = Annotated[list[int], Field(min_length=2, max_length=3)]


class LabelledData(sections.Data):
    """Where the texts are: a TSV file (also .gz) of text and label, or of two texts and their label."""

    train: OneFile | None = Field(None, description="file")
    valid: OneFile | None = Field(None, description="the same for validation")
    columns: Columns | None = Field(None, description="columns of the text or both texts and of the label, from 1")


class Labels(Section):
    several: bool = Field(False, description="a text may have several labels, or none")
    separator: str = Field("|", min_length=1, description="between the labels of a text")


class Head(Section):
    pool: Literal["mean", "max", "first"] = Field("mean", description="how the tokens of a text become one vector")
    activation: Literal["tanh", "relu", "gelu"] | None = Field(
        None, description="of a map that this vector goes through first, as in published classifiers"
    )


class LabelTrain(sections.Train):
    measures: ClassVar[Mapping[str, Metric]] = {"loss": LOSS, **LABEL_METRICS}
    always: ClassVar[tuple[str, ...]] = ("loss",)

    validate_metrics: list[str] = Field(default_factory=lambda: ["accuracy", "macro_f1"])
    metric: str = Field("accuracy", description="what decides which weights are best")


class ClassifyRecipe(AnyRecipe):
    """A whole run of task `classify`."""

    architecture: ClassVar[str] = "encoder"

    task: Literal["classify"] = "classify"
    data: LabelledData = LabelledData()
    text: Words = Words()
    labels: Labels = Labels()
    model: AnyModel | None = None
    head: Head = Head()
    train: LabelTrain | None = None


class TaggedData(sections.Data):
    """Where the sentences are: a file (also .gz) of word and tag a line, a blank line between sentences."""

    train: OneFile | None = Field(None, description="file")
    valid: OneFile | None = Field(None, description="the same for validation")
    columns: tuple[int, int] | None = Field(None, description="columns of word and tag, from 1")


class TagTrain(sections.Train):
    measures: ClassVar[Mapping[str, Metric]] = {"loss": LOSS, **TAG_METRICS}
    always: ClassVar[tuple[str, ...]] = ("loss",)

    validate_metrics: list[str] = Field(default_factory=lambda: ["accuracy"])
    metric: str = Field("accuracy", description="what decides which weights are best")


class TagRecipe(AnyRecipe):
    """A whole run of task `tag`."""

    architecture: ClassVar[str] = "encoder"

    task: Literal["tag"] = "tag"
    data: TaggedData = TaggedData()
    text: Words = Words()
    model: AnyModel | None = None
    train: TagTrain | None = None


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
