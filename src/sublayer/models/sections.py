"""The sections of a model's config."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Activation = Literal["relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"]


NEEDED = {"rotary-linear": ("factor",), "rotary-llama3": ("factor", "low", "high", "original")}
"""Options that these positions cannot do without."""


class EmbeddingConfig(BaseModel):
    """What stands between token ids and the stream, beside positions."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scale: float | None = Field(None, gt=0, description="what token vectors are multiplied by; √d_model by default")
    token_types: int = Field(0, ge=0, description="segment vectors, 0 for none")
    norm: bool = Field(False, description="a norm at the end")
    width: int | None = Field(None, ge=1, description="of the vectors, widened to d_model after the norm; d_model")
    widened_first: bool = Field(False, description="widened before the norm, without a bias")


class AttentionConfig(BaseModel):
    """How attention differs from d_model / num_heads numbers a head, scores / √d_k and one setting for all biases."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    width: int | None = Field(None, ge=1, description="of a head; d_model / num_heads by default")
    scale: float | None = Field(None, gt=0, description="what scores are multiplied by; 1 / √width by default")
    bias: bool | None = Field(None, description="in the maps to queries, keys and values; as the model's by default")
    key_bias: bool | None = Field(None, description="in the map to keys; as bias by default")
    out_bias: bool | None = Field(None, description="in the map after the heads; as the model's by default")


class LocalLayers(BaseModel):
    """Layers of an encoder that see only what is near: all but every n-th, counted from the first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    every: int = Field(3, ge=1, description="layers 0, every, 2 · every, … see the whole text")
    window: int = Field(64, ge=0, description="how many positions away the others see, on each side")
    theta: float = Field(10000.0, gt=0, description="of their rotary positions")


class Convolution(BaseModel):
    """Beside an encoder's first layer: each position's neighbours."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    width: int = Field(0, ge=0, description="of the window, odd; 0 for none")
    groups: int = Field(1, ge=1, description="of dimensions that are read apart")
    activation: Activation = "tanh"


class Distances(BaseModel):
    """The options of position 'disentangled'."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_distance: int | None = Field(None, ge=1, description="those further away are one; max_len by default")
    buckets: int | None = Field(None, ge=4, description="distances below half of it are exact; all by default")
    norm: bool = Field(False, description="a norm on the vectors of distances")
    terms: tuple[Literal["c2p", "p2c"], ...] = Field(("c2p", "p2c"), min_length=1, description="beside content alone")
    shared: bool = Field(False, description="vectors of distances go through the maps of content")
    absolute: bool = Field(False, description="learned positions are added to the embeddings too")
