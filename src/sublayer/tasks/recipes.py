"""The recipes by task. Reading one needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from sublayer.evaluate import (
    FILL_METRICS,
    TEXT_METRICS,
    Metric,
)
from sublayer.models.config import ModelConfig
from sublayer.tasks import sections
from sublayer.tasks.label_recipes import ClassifyRecipe, TagRecipe
from sublayer.tasks.pair_recipes import AnswerRecipe, EmbedRecipe
from sublayer.tasks.recipe import Recipe
from sublayer.tasks.search import Search
from sublayer.tasks.sections import AnyModel, AnyRecipe, listed
from sublayer.tasks.taught import Taught

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


class CompleteTrain(Taught):
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


class FillTrain(Taught):
    measures: ClassVar[Mapping[str, Metric]] = FILL_METRICS
    always: ClassVar[tuple[str, ...]] = ("accuracy", "loss", "perplexity")

    masked: float = Field(0.15, gt=0, lt=1, description="how many tokens are left out to be guessed")
    span: float = Field(3.0, ge=1, description="of an encoder-decoder: how many of them stand together, in the mean")
    label_smoothing: float = Field(0.0, ge=0, le=0, description="what stood there is right: 0")


class FillRecipe(AnyRecipe):
    """A whole run of task `fill`: of an encoder that guesses tokens, or of an encoder-decoder that writes spans."""

    architecture: ClassVar[str] = "encoder"
    others: ClassVar[tuple[str, ...]] = ("encoder-decoder",)

    task: Literal["fill"] = "fill"
    data: PlainData = PlainData()
    text: Guessed = Guessed()
    model: AnyModel | None = None
    train: FillTrain | None = None

    @model_validator(mode="after")
    def _of_this_model(self) -> FillRecipe:
        usual = FillTrain.model_fields["span"].default
        tokens = isinstance(self.model, ModelConfig) and self.model.architecture == "encoder"
        if self.train is not None and self.train.span != usual and (self.model is None or tokens):
            raise ValueError("train.span is for an encoder-decoder: set model.architecture to encoder-decoder")
        return self


RECIPES: dict[str, type[AnyRecipe]] = {
    "translate": Recipe,
    "classify": ClassifyRecipe,
    "tag": TagRecipe,
    "embed": EmbedRecipe,
    "answer": AnswerRecipe,
    "complete": CompleteRecipe,
    "fill": FillRecipe,
}
