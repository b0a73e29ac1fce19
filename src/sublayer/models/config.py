"""The one record that describes a model. `build` is its only reader."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from sublayer.errors import ConfigError, listing, nearest
from sublayer.models.sections import (
    NEEDED,
    Activation,
    AttentionConfig,
    Convolution,
    Distances,
    EmbeddingConfig,
    LocalLayers,
)

KINDS = {
    "ffn": ("feedforward", "glu", "geglu", "swiglu"),
    "norm": ("layernorm", "rmsnorm"),
    "position": (
        *("sinusoidal", "fairseq", "learned", "rotary", "rotary-linear", "rotary-llama3"),
        *("relative", "layer-relative", "alibi", "disentangled", "none"),
    ),
    "kernel": ("fused", "eager", "local", "linear"),
    "head": ("none", "masked-lm", "replaced", "pooler", "classes", "token-classes", "span", "sentence"),
}
"""The names that `build` knows, said here too because reading a config needs no torch."""


class Part(BaseModel):
    """A part by name: a registered one, or `package.module:Class` for your own. Other keys go to its constructor."""

    model_config = ConfigDict(frozen=True, extra="allow")

    kind: str

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.__pydantic_extra__ or {})


def _part(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


NamedPart = Annotated[Part, BeforeValidator(_part, json_schema_input_type=str | Part)]


class ModelConfig(BaseModel):
    """Sizes and parts of a model. All that is wrong is told at once, as one ConfigError."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    architecture: Literal["encoder-decoder", "encoder", "decoder"] = "encoder-decoder"
    source_vocab: int | None = Field(None, ge=1, description="size of the source vocabulary; set from the data")
    target_vocab: int | None = Field(None, ge=1, description="size of the target vocabulary; set from the data")
    d_model: int = Field(256, ge=1, description="width of the stream")
    num_heads: int = Field(4, ge=1, description="attention heads")
    num_kv_heads: int | None = Field(None, ge=1, description="heads that share keys and values; num_heads by default")
    encoder_layers: int = Field(4, ge=1)
    decoder_layers: int = Field(4, ge=1)
    d_ff: int | None = Field(None, ge=1, description="hidden width of the feed-forward network; 4 · d_model")
    dropout: float = Field(0.1, ge=0, lt=1, description="on sublayers, embeddings and the feed-forward network")
    attention_dropout: float = Field(0.0, ge=0, lt=1, description="on attention weights; slower where it is not 0")
    layer_drop: float = Field(
        0.0, ge=0, lt=1, description="chance in training that a row skips a sublayer of the last layer, less below"
    )
    activation: Activation = Field("relu", description="of the feed-forward network")
    ffn: NamedPart = Field(Part(kind="feedforward"), description="feedforward, glu, geglu, swiglu")
    norm: NamedPart = Field(Part(kind="layernorm"), description="layernorm, rmsnorm")
    norm_first: bool = Field(True, description="pre-norm; false for post-norm, the original")
    position: NamedPart = Field(
        Part(kind="sinusoidal"),
        description="sinusoidal, fairseq, learned, rotary, rotary-linear, rotary-llama3, relative, layer-relative, "
        "alibi, disentangled, none",
    )
    kernel: NamedPart = Field(
        Part(kind="fused"), description="fused, eager; of self-attention alone: local (window), linear"
    )
    attention: AttentionConfig = AttentionConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    local_layers: LocalLayers | None = Field(None, description="of an encoder with rotary positions; none by default")
    convolution: Convolution = Convolution()
    first_norm: bool = Field(True, description="whether a pre-norm encoder's first attention has a norm before it")
    max_len: int = Field(512, ge=1, description="longest sequence where positions are learned")
    bias: bool = Field(True, description="in the linear maps of attention and feed-forward network")
    output_bias: bool | None = Field(None, description="in the output map; where it is not tied by default")
    output_scaled: bool = Field(False, description="states are divided by √d_model before the output map")
    tie: Literal["none", "target", "all", "inputs"] = Field(
        "target", description="target: target embedding = output map; all: source embedding too; inputs: the embeddings"
    )
    bags: bool = Field(False, description="a token is a bag of ids, a word and its n-grams; set from the text")
    first_feature: int | None = Field(None, ge=0, description="source ids from here up have no position")
    head: NamedPart = Field(
        Part(kind="none"),
        description="of an encoder: masked-lm, replaced, pooler, classes, token-classes, span, sentence",
    )

    @property
    def longest(self) -> float:
        """How many positions a sequence can have: infinitely many where they are not learned."""
        absolute = self.position.kind == "disentangled" and self.position.options.get("absolute")
        return self.max_len if absolute or self.position.kind == "learned" else math.inf

    @model_validator(mode="after")
    def _possible(self) -> ModelConfig:
        if problems := self.problems():
            raise ValueError("; ".join(problems))
        return self

    def problems(self) -> list[str]:
        """Combinations that cannot be, each with its cure."""
        found = self._unknown()
        width = self.d_model // self.num_heads if self.attention.width is None else self.attention.width
        if self.d_model % self.num_heads and self.attention.width is None:
            choices = [h for h in range(1, self.d_model + 1) if self.d_model % h == 0]
            found.append(
                f"d_model={self.d_model} does not divide into num_heads={self.num_heads} equal heads: "
                f"choose num_heads from {', '.join(map(str, choices))}"
            )
        elif self.position.kind.startswith("rotary") and width % 2:
            found.append(
                f"rotary positions turn pairs, and a head is {width} wide: "
                "choose num_heads so that d_model / num_heads is even"
            )
        if lacking := [name for name in NEEDED.get(self.position.kind, ()) if name not in self.position.options]:
            found.append(f"position {self.position.kind!r} needs {', '.join(lacking)}")
        if self.num_kv_heads is not None and self.num_heads % self.num_kv_heads:
            found.append(f"num_heads={self.num_heads} is no multiple of num_kv_heads={self.num_kv_heads}")
        shared = self.tie in ("all", "inputs") and self.architecture == "encoder-decoder"
        if shared and self.source_vocab != self.target_vocab:
            found.append(
                f"tie={self.tie!r} needs one vocabulary, and source_vocab={self.source_vocab}, "
                f"target_vocab={self.target_vocab}: set text.shared to true, or tie to 'target'"
            )
        if self.first_feature is not None and self.position.kind not in ("sinusoidal", "learned"):
            found.append(
                f"features without a position need position 'sinusoidal' or 'learned', not {self.position.kind!r}"
            )
        if self.head.kind != "none" and self.architecture != "encoder":
            found.append(
                f"head {self.head.kind!r} is for an encoder, and the architecture is {self.architecture!r}: "
                "set head to 'none'"
            )
        if self.local_layers is not None and (self.position.kind != "rotary" or self.architecture != "encoder"):
            found.append(
                "local_layers are those of an encoder with rotary positions, and architecture is "
                f"{self.architecture!r}, position {self.position.kind!r}: leave them out"
            )
        if self.position.kind == "disentangled":
            found += self._disentangled()
        if self.kernel.kind == "linear":
            found += self._against_linear()
        return found

    def _disentangled(self) -> list[str]:
        found = []
        if self.architecture != "encoder":
            found.append(f"position 'disentangled' is for an encoder, and the architecture is {self.architecture!r}")
        try:
            Distances(**self.position.options)
        except ValidationError as error:
            found += [
                f"position.{'.'.join(map(str, e['loc']))}: {e['msg']}, not {e['input']!r}" for e in error.errors()
            ]
        return found

    def _against_linear(self) -> list[str]:
        found = []
        if self.position.kind in ("relative", "layer-relative", "alibi", "disentangled"):
            found.append(
                f"position {self.position.kind!r} adds to scores, and kernel 'linear' computes none: "
                "choose 'sinusoidal', 'learned', 'rotary' or 'none', or kernel 'local'"
            )
        if self.attention_dropout:
            found.append(
                f"attention_dropout={self.attention_dropout} drops weights, and kernel 'linear' has none: set it to 0"
            )
        return found

    def _unknown(self) -> list[str]:
        kinds = {part: getattr(self, part).kind for part in KINDS}
        return [
            f"{part}: kind {kind!r} is unknown. {nearest(kind, KINDS[part])} For your own: package.module:Class"
            for part, kind in kinds.items()
            if kind not in KINDS[part] and ":" not in kind
        ]

    @classmethod
    def read(cls, fields: dict[str, Any]) -> ModelConfig:
        """From plain values; ConfigError with every problem at once."""
        unknown = [key for key in fields if key not in cls.model_fields]
        problems = [f"{key} is no setting of a model. {nearest(key, cls.model_fields)}" for key in unknown]
        try:
            made = cls(**{key: value for key, value in fields.items() if key not in unknown})
        except ValidationError as error:
            for e in error.errors():
                place = ".".join(map(str, e["loc"]))
                alone = f"{place}: {e['msg']}, not {e['input']!r}"
                problems += str(e["ctx"]["error"]).split("; ") if e["type"] == "value_error" else [alone]
        if problems:
            raise ConfigError(listing("The model cannot be built:", problems))
        return made
