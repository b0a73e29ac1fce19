"""What a recipe may say about a second opinion in training. Reading it needs no torch."""

from __future__ import annotations

from pydantic import Field, model_validator

from sublayer.tasks.sections import Section, Train


class Teacher(Section):
    """A run whose model this one learns from, beside the data."""

    run: str = Field(min_length=1, description="its folder")
    weight: float = Field(0.5, gt=0, le=1, description="of the distance to what it says; the rest is the usual loss")
    temperature: float = Field(1.0, gt=0, description="above 1, what it holds for unlikely counts for more")


class Taught(Train):
    """Training of a model that tells classes apart: tokens, labels or tags."""

    teacher: Teacher | None = None
    r_drop: float = Field(0.0, ge=0, description="weight of the distance of two passes with other dropout; 0: one pass")

    @model_validator(mode="after")
    def _one_of_them(self) -> Taught:
        if self.teacher is not None and self.r_drop:
            raise ValueError("teacher and r_drop are two losses: leave one of them out")
        if self.loss_chunk and (self.teacher is not None or self.r_drop):
            raise ValueError("teacher and r_drop compare all scores of a batch at once: leave loss_chunk out")
        return self
