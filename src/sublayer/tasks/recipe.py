"""What a recipe of task `translate` may say.

Sections that a recipe leaves out, and keys that say `auto`, are filled in from the data when training starts; the
run folder holds the whole of it.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from sublayer.models.config import ModelConfig
from sublayer.tasks import sections
from sublayer.tasks.search import Search
from sublayer.tasks.sections import AnyModel, AnyRecipe, Section, Side
from sublayer.tasks.taught import Taught


def _listed(value: object) -> object:
    if isinstance(value, list) and len(value) not in (1, 2):
        raise ValueError(f"one file of pairs, or a source file and a target file, not {len(value)} files")
    return [value] if isinstance(value, str) else value


Script = Literal[
    "arabic", "armenian", "bengali", "cjk", "cyrillic", "devanagari", "ethiopic", "georgian", "greek", "gujarati",
    "hangul", "hebrew", "hiragana", "kannada", "katakana", "khmer", "lao", "latin", "malayalam", "myanmar", "sinhala",
    "tamil", "telugu", "thai", "tibetan",
]  # fmt: skip
Files = Annotated[list[str], Field(min_length=1, max_length=2), BeforeValidator(_listed)]


class More(Section):
    """A further corpus."""

    train: Files
    weight: float = Field(1.0, gt=0, description="how often its pairs are drawn beside those of data.train")
    prefix: str = Field("", description="put before each of its sources; a word and a space are a tag: see text.tags")


class Filter(Section):
    """Which training pairs are left out, told with their lines."""

    longest: int = Field(0, ge=0, description="characters of either side; 0: any")
    ratio: float = Field(0.0, ge=0, description="of the longer side to the shorter, in characters; 0: any")
    repeated: bool = Field(False, description="leave out pairs that came before")
    scripts: tuple[Script, Script] | None = Field(None, description="of source and target: half the letters or more")


class Data(sections.Data):
    """Where the pairs are: one TSV or JSONL file (also .gz), or two parallel text files."""

    of_batches: ClassVar[tuple[str, ...]] = ("temperature", "more", "prefix")

    train: Files | None = Field(None, description="file, or [source file, target file]")
    valid: Files | None = Field(None, description="the same for validation")
    columns: tuple[int, int] | None = Field(None, description="columns of source and target in a TSV, from 1")
    prefix: str = Field("", description="of data.train, as of a further corpus; data.valid is read as it is")
    more: list[More] = Field(default_factory=list, description="further corpora beside data.train")
    temperature: float = Field(1.0, gt=0, description="above 1, small corpora are drawn more often than their share")
    filter: Filter = Filter()
    store: str | None = Field(None, description="folder that token ids are kept in, and not in memory")


class Noise(Section):
    """What happens to the sources that are learned from, anew in each epoch."""

    drop: float = Field(0.0, ge=0, lt=1, description="chance of a token to be left out")
    blank: float = Field(0.0, ge=0, lt=1, description="chance of a token to become the unknown one")
    mix: int = Field(0, ge=0, description="how many places a token moves at most")


class Subwords(Section):
    """Other ways to cut the texts that are learned from into tokens, anew in each epoch."""

    dropout: float = Field(0.0, ge=0, lt=1, description="of kind bpe: chance of a merge to be left out")
    alpha: float = Field(0.0, ge=0, description="of kind unigram: a cut is drawn as likely as p^alpha; 0: the best one")
    sides: Literal["source", "target", "both"] = "both"


class Text(Section):
    source: Side = Side()
    target: Side = Side()
    shared: bool = Field(False, description="one vocabulary for both sides, made by `source`")
    tags: list[Annotated[str, Field(pattern=r"^\S+$")]] = Field(
        default_factory=list, description="words that a source may begin with, such as its language: each is one token"
    )


class Train(Taught):
    """Training. Times are in updates."""

    of_batches: ClassVar[tuple[str, ...]] = (*Taught.of_batches, "noise", "subwords")

    stretch_positions: float = Field(
        0.0, ge=0, description="multiply positions by 1 to 1 + this, drawn a batch, to read longer texts than trained"
    )
    noise: Noise = Noise()
    subwords: Subwords = Subwords()
    validate_pairs: int = Field(500, ge=0, description="how many pairs are decoded at a validation; 0: all")


class Recipe(AnyRecipe):
    """A whole run."""

    architecture: ClassVar[str] = "encoder-decoder"

    task: Literal["translate"] = "translate"
    data: Data = Data()
    text: Text = Text()
    model: AnyModel | None = None
    train: Train | None = None
    search: Search = Search()

    @model_validator(mode="after")
    def _together(self) -> Recipe:
        if isinstance(self.model, ModelConfig):
            stretches = self.train is not None and self.train.stretch_positions > 0
            if stretches and self.model.position.kind not in ("sinusoidal", "rotary"):
                raise ValueError(
                    "train.stretch_positions needs model.position sinusoidal or rotary, "
                    f"not {self.model.position.kind!r}"
                )
            if self.model.tie == "all" and not self.text.shared:
                raise ValueError("model.tie 'all' needs one vocabulary: set text.shared to true, or tie to 'target'")
        return self
