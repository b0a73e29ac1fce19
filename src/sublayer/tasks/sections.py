"""The sections that recipes are made of, whatever the task. Reading one needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from sublayer.errors import nearest
from sublayer.evaluate import METRICS, Metric
from sublayer.models.config import ModelConfig

Kind = Literal["auto", "char", "backward", "word", "split", "features", "bpe", "unigram", "wordpiece"]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_default=True)


def listed(value: object) -> object:
    """One file may be written as it is."""
    return [value] if isinstance(value, str) else value


OneFile = Annotated[list[str], Field(min_length=1, max_length=1), BeforeValidator(listed)]
Columns = Annotated[list[int], Field(min_length=2, max_length=3)]


class Data(Section):
    """Where the examples are. Each file may end in .gz."""

    of_batches: ClassVar[tuple[str, ...]] = ()  # what the batches depend on, besides the examples

    train: list[str] | None = None
    valid: list[str] | None = None
    skip_bad: bool = Field(False, description="leave out lines that cannot be read, count and list them")


class Side(Section):
    """How a text becomes tokens."""

    kind: Kind = "auto"
    vocab_size: int = Field(8000, ge=1, description="for bpe, unigram, wordpiece and word")
    min_count: int = Field(1, ge=1, description="rarer tokens are unknown (char, word, split, features)")
    separator: str = Field(" ", min_length=1, description="between the tokens of kind split")
    normalization: Literal["none", "nfc", "nfd", "nfkc", "nfkd"] = "nfc"


class Words(Side):
    """How the texts that an encoder reads become tokens."""

    kind: Literal["auto", "ngrams", "char", "word", "split", "bpe", "unigram", "wordpiece"] = "auto"  # type: ignore[assignment]
    min_count: int = Field(1, ge=1, description="rarer tokens are unknown (ngrams, char, word, split)")


class Lora(Section):
    """Adapters of low rank in the place of weights that learn. They are merged into the model that is kept."""

    rank: int = Field(8, ge=1)
    alpha: float = Field(16.0, gt=0, description="adapters are multiplied by alpha / rank")
    where: list[str] = Field(["*.q_proj", "*.v_proj"], min_length=1, description="names of linear maps, with *")


class Train(Section):
    """Training. Times are in updates."""

    measures: ClassVar[Mapping[str, Metric]] = METRICS
    always: ClassVar[tuple[str, ...]] = ("loss", "perplexity")
    of_batches: ClassVar[tuple[str, ...]] = ("batch_tokens", "seed")  # what the batches depend on, besides the data

    steps: int = Field(3000, ge=1)
    minutes: float = Field(0.0, ge=0, description="end by the clock too, with the rate come down; 0: no limit")
    batch_tokens: int = Field(4096, ge=1, description="rows × longest side of a batch")
    accumulate: int = Field(1, ge=1, description="batches an update")
    optimizer: Literal["adam", "adamw", "adafactor", "muon"] = "adamw"
    learning_rate: float = Field(1e-3, gt=0, description="at its peak")
    schedule: Literal["constant", "cosine", "inverse_sqrt", "linear"] = "cosine"
    warmup: int = Field(200, ge=0)
    betas: tuple[float, float] = (0.9, 0.98)
    eps: float = Field(1e-9, gt=0)
    weight_decay: float = Field(0.0, ge=0)
    label_smoothing: float = Field(0.1, ge=0, lt=1)
    precision: Literal["fp32", "bf16"] = Field("fp32", description="of matrix products; all else stays fp32")
    ema: float = Field(0.0, ge=0, lt=1, description="decay of a mean of the weights, which is kept; 0: the weights")
    recompute: bool = Field(False, description="keep nothing inside a layer for its gradients: memory for time")
    loss_chunk: int = Field(0, ge=0, description="target tokens scored at a time, for large vocabularies; 0: all")
    clip: float = Field(1.0, ge=0, description="largest norm of the gradient; 0: any")
    rise: float = Field(0.0, ge=0, description="nats a token above the lowest loss so far that end a run; 0: none do")
    seed: int = Field(1, ge=0)
    log_every: int = Field(50, ge=1)
    validate_every: int = Field(500, ge=1)
    validate_metrics: list[str] = Field(default_factory=list, description="scores of answers; loss comes anyway")
    metric: str = Field("loss", description="what decides which weights are best")
    patience: int = Field(0, ge=0, description="validations without a better one that end the run; 0: none do")
    save_every: int = Field(500, ge=1)
    keep: int = Field(1, ge=1, description="checkpoints kept")
    samples: int = Field(0, ge=0, description="answers of each validation that are told and kept, beside the newest")
    tensorboard: bool = False
    wandb: str | None = Field(None, min_length=1, description="project to log to, with the extra wandb")
    trackio: str | None = Field(None, min_length=1, description="project to log to, with the extra trackio")
    freeze: list[str] = Field(
        default_factory=list, description="what does not learn: embeddings, layers:K (the first K), or names with *"
    )
    layer_decay: float = Field(1.0, gt=0, le=1, description="of the rate, from each layer to the one below it")
    lora: Lora | None = Field(None, description="learn adapters of low rank, and a new head, alone")
    device: str = Field("auto", description="auto, cpu, cuda, …")
    parallel: Literal["ddp", "fsdp"] = Field(
        "ddp",
        description="of several processes, each of which takes `accumulate` batches an update: whether each "
        "holds the whole model or a part of it",
    )

    @model_validator(mode="after")
    def _known_metrics(self) -> Train:
        for name in (*self.validate_metrics, self.metric):
            if name not in self.measures:
                raise ValueError(f"metric {name!r} is unknown. {nearest(name, self.measures)}")
        if self.parallel == "fsdp" and self.optimizer in ("adafactor", "muon"):
            raise ValueError(f"optimizer {self.optimizer!r} needs whole matrices: choose adamw, or parallel ddp")
        if self.metric not in (*self.always, *self.validate_metrics):
            raise ValueError(f"metric {self.metric!r} is not measured: add it to train.validate_metrics")
        return self


class Published(Section):
    """The model of a published checkpoint, whose sizes, parts and vocabulary are its own."""

    model_config = ConfigDict(extra="forbid", validate_by_name=True, serialize_by_alias=True)

    source: str = Field(alias="from", min_length=1, description="folder of a published checkpoint, or its name")
    revision: str | None = Field(None, description="branch, tag or commit, of a name")
    languages: tuple[str, str] | None = Field(
        None, description="what source and target are in, of a model for several languages: eng_Latn, fra_Latn"
    )
    dropout: float | None = Field(None, ge=0, lt=1, description="as it was published by default")
    attention_dropout: float | None = Field(None, ge=0, lt=1, description="as it was published by default")

    @property
    def changes(self) -> dict[str, float]:
        """What differs from the model as it was published."""
        return self.model_dump(include={"dropout", "attention_dropout"}, exclude_none=True)


SIZES, PUBLISHED = "(sizes)", "(published)"
"""Which of the two a section `model` is. They stand in pydantic's messages, and are in none of ours."""


def _which(model: Any) -> str:
    return PUBLISHED if isinstance(model, Published) or (isinstance(model, dict) and "from" in model) else SIZES


AnyModel = Annotated[Annotated[ModelConfig, Tag(SIZES)] | Annotated[Published, Tag(PUBLISHED)], Discriminator(_which)]


class AnyRecipe(Section):
    """What every recipe says. `model` and `train` may be left open, to be filled in from the data.

    architecture  of the model, where nothing is said
    others        that may be asked for
    """

    architecture: ClassVar[str]
    others: ClassVar[tuple[str, ...]] = ()

    task: str
    data: Data
    model: AnyModel | None = None
    train: Train | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_this_task(cls, values: Any) -> Any:
        """The architecture need not be said: the task knows it."""
        model = values.get("model") if isinstance(values, dict) else None
        if not isinstance(model, dict) or "from" in model:
            return values
        return values | {"model": {"architecture": cls.architecture} | model}

    @model_validator(mode="after")
    def _fits(self) -> AnyRecipe:
        if isinstance(self.model, Published):
            text = dict(self).get("text")
            if text is not None and text != type(text)():
                raise ValueError("text: the checkpoint of model.from brings its own vocabulary: leave text out")
            return self
        possible = (self.architecture, *self.others)
        if self.model is not None and self.model.architecture not in possible:
            needed = " or an ".join(possible)
            raise ValueError(f"task {self.task} needs an {needed}, not model.architecture {self.model.architecture!r}")
        if self.model is not None and self.model.head.kind != "none":
            raise ValueError(f"task {self.task} brings its own head: leave model.head out")
        return self
