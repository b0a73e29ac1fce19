"""What a recipe may say. Reading one needs no torch.

Sections that a recipe leaves out, and keys that say `auto`, are filled in from the data when training starts; the
run folder holds the whole of it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from sublayer.evaluate import METRICS
from sublayer.models.config import ModelConfig
from sublayer.tasks.search import Search

Kind = Literal["auto", "char", "backward", "word", "split", "features", "bpe", "unigram", "wordpiece"]


def _listed(value: object) -> object:
    if isinstance(value, list) and len(value) not in (1, 2):
        raise ValueError(f"one file of pairs, or a source file and a target file, not {len(value)} files")
    return [value] if isinstance(value, str) else value


Files = Annotated[list[str], Field(min_length=1, max_length=2), BeforeValidator(_listed)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_default=True)


class Data(_Section):
    """Where the pairs are: one TSV or JSONL file (also .gz), or two parallel text files."""

    train: Files | None = Field(None, description="file, or [source file, target file]")
    valid: Files | None = Field(None, description="the same for validation")
    columns: tuple[int, int] | None = Field(None, description="columns of source and target in a TSV, from 1")
    skip_bad: bool = Field(False, description="leave out lines that cannot be read, count and list them")


class Side(_Section):
    """How one side becomes tokens."""

    kind: Kind = "auto"
    vocab_size: int = Field(8000, ge=1, description="for bpe, unigram, wordpiece and word")
    min_count: int = Field(1, ge=1, description="rarer tokens are unknown (char, word, split, features)")
    separator: str = Field(" ", min_length=1, description="between the tokens of kind split")
    normalization: Literal["none", "nfc", "nfd", "nfkc", "nfkd"] = "nfc"


class Text(_Section):
    source: Side = Side()
    target: Side = Side()
    shared: bool = Field(False, description="one vocabulary for both sides, made by `source`")


class Train(_Section):
    """Training. Times are in updates."""

    steps: int = Field(3000, ge=1)
    minutes: float = Field(0.0, ge=0, description="end by the clock too, with the rate come down; 0: no limit")
    batch_tokens: int = Field(4096, ge=1, description="rows × longest side of a batch")
    accumulate: int = Field(1, ge=1, description="batches an update")
    optimizer: Literal["adam", "adamw"] = "adamw"
    learning_rate: float = Field(1e-3, gt=0, description="at its peak")
    schedule: Literal["constant", "cosine", "inverse_sqrt", "linear"] = "cosine"
    warmup: int = Field(200, ge=0)
    betas: tuple[float, float] = (0.9, 0.98)
    eps: float = Field(1e-9, gt=0)
    weight_decay: float = Field(0.0, ge=0)
    label_smoothing: float = Field(0.1, ge=0, lt=1)
    stretch_positions: float = Field(
        0.0, ge=0, description="multiply positions by 1 to 1 + this, drawn a batch, to read longer texts than trained"
    )
    clip: float = Field(1.0, ge=0, description="largest norm of the gradient; 0: any")
    seed: int = Field(1, ge=0)
    log_every: int = Field(50, ge=1)
    validate_every: int = Field(500, ge=1)
    validate_metrics: list[str] = Field(default_factory=list, description="scores of decoded text; loss comes anyway")
    validate_pairs: int = Field(500, ge=0, description="how many pairs are decoded at a validation; 0: all")
    metric: str = Field("loss", description="what decides which weights are best")
    patience: int = Field(0, ge=0, description="validations without a better one that end the run; 0: none do")
    save_every: int = Field(500, ge=1)
    keep: int = Field(1, ge=1, description="checkpoints kept")
    tensorboard: bool = False
    device: str = Field("auto", description="auto, cpu, cuda, …")

    @model_validator(mode="after")
    def _known_metrics(self) -> Train:
        from sublayer.errors import nearest

        for name in (*self.validate_metrics, self.metric):
            if name not in METRICS:
                raise ValueError(f"metric {name!r} is unknown. {nearest(name, METRICS)}")
        if self.metric not in ("loss", "perplexity", *self.validate_metrics):
            raise ValueError(f"metric {self.metric!r} is not measured: add it to train.validate_metrics")
        return self


class Recipe(_Section):
    """A whole run."""

    task: Literal["translate"] = "translate"
    data: Data = Data()
    text: Text = Text()
    model: ModelConfig | None = None
    train: Train | None = None
    search: Search = Search()

    @model_validator(mode="after")
    def _together(self) -> Recipe:
        if self.model is not None:
            if self.model.architecture != "encoder-decoder":
                raise ValueError(
                    f"task translate needs an encoder-decoder, not model.architecture {self.model.architecture!r}"
                )
            stretches = self.train is not None and self.train.stretch_positions > 0
            if stretches and self.model.position.kind not in ("sinusoidal", "rotary"):
                raise ValueError(
                    "train.stretch_positions needs model.position sinusoidal or rotary, "
                    f"not {self.model.position.kind!r}"
                )
            if self.model.tie == "all" and not self.text.shared:
                raise ValueError("model.tie 'all' needs one vocabulary: set text.shared to true, or tie to 'target'")
        return self
