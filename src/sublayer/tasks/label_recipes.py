"""The recipes of the tasks that give labels: `classify` and `tag`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from sublayer.evaluate import LABEL_METRICS, LOSS, TAG_METRICS, Metric
from sublayer.tasks import sections
from sublayer.tasks.sections import AnyModel, AnyRecipe, Columns, OneFile, Section, Words
from sublayer.tasks.taught import Taught


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


class LabelTrain(Taught):
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

    @model_validator(mode="after")
    def _one_label(self) -> ClassifyRecipe:
        if self.labels.several and self.train is not None and (self.train.teacher is not None or self.train.r_drop):
            raise ValueError("train.teacher and train.r_drop are for one label a text: leave labels.several out")
        return self


class TaggedData(sections.Data):
    """Where the sentences are: a file (also .gz) of word and tag a line, a blank line between sentences."""

    train: OneFile | None = Field(None, description="file")
    valid: OneFile | None = Field(None, description="the same for validation")
    columns: tuple[int, int] | None = Field(None, description="columns of word and tag, from 1")


class TagTrain(Taught):
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
