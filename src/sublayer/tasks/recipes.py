"""The recipes by task. Reading one needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from sublayer.evaluate import LABEL_METRICS, LOSS, Metric
from sublayer.models.config import ModelConfig
from sublayer.tasks import sections
from sublayer.tasks.recipe import Recipe
from sublayer.tasks.sections import AnyRecipe, OneFile, Section, Words

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
    model: ModelConfig | None = None
    head: Head = Head()
    train: LabelTrain | None = None


RECIPES: dict[str, type[AnyRecipe]] = {
    "translate": Recipe,
    "classify": ClassifyRecipe,
}
