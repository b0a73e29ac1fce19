"""Feed-forward networks: each position by itself, none sees another."""

from collections.abc import Callable
from functools import partial

import torch.nn.functional as F
from torch import Tensor, nn

from sublayer.errors import ConfigError, nearest
from sublayer.nn.dropout import Dropout

Activation = Callable[[Tensor], Tensor]

ACTIVATIONS: dict[str, Activation] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "silu": F.silu,
    "sigmoid": F.sigmoid,
    "tanh": F.tanh,
}


def activation(name: str | Activation) -> Activation:
    """A function by its name, or the function itself."""
    if not isinstance(name, str):
        return name
    if name not in ACTIVATIONS:
        raise ConfigError(f"activation {name!r} is unknown. {nearest(name, ACTIVATIONS)}")
    return ACTIVATIONS[name]


class FeedForward(nn.Module):
    """W_down Dropout(act(W_up x)). Vaswani et al. 2017, section 3.3. (B, T, D) -> (B, T, D)."""

    def __init__(
        self,
        d_model: int,
        d_ff: int | None = None,
        dropout: float = 0.1,
        *,
        activation: str | Activation = "relu",
        bias: bool = True,
    ) -> None:
        super().__init__()
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.up = nn.Linear(d_model, d_ff, bias=bias)
        self.down = nn.Linear(d_ff, d_model, bias=bias)
        self.act = _named(activation)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.dropout(self.act(self.up(x))))


class GatedFeedForward(nn.Module):
    """W_down Dropout(act(W_gate x) * W_up x). Shazeer 2020, section 2. (B, T, D) -> (B, T, D).

    GLU, GEGLU and SwiGLU are this one with sigmoid, gelu and silu.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int | None = None,
        dropout: float = 0.1,
        *,
        activation: str | Activation = "silu",
        bias: bool = True,
    ) -> None:
        super().__init__()
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.gate = nn.Linear(d_model, d_ff, bias=bias)
        self.up = nn.Linear(d_model, d_ff, bias=bias)
        self.down = nn.Linear(d_ff, d_model, bias=bias)
        self.act = _named(activation)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.dropout(self.act(self.gate(x)) * self.up(x)))


_named = activation  # the argument of the same name hides the function above

GLU = partial(GatedFeedForward, activation="sigmoid")
GEGLU = partial(GatedFeedForward, activation="gelu")
SwiGLU = partial(GatedFeedForward, activation="silu")
