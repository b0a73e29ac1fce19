"""A layer that also reads each position's neighbours."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sublayer.errors import ConfigError
from sublayer.nn.dropout import Dropout
from sublayer.nn.feedforward import activation as named
from sublayer.nn.layer import EncoderLayer
from sublayer.nn.mask import Mask
from sublayer.nn.norm import LayerNorm, NormFactory


class ConvolvedLayer(EncoderLayer):
    """Norm(layer(x) + act(Dropout(Conv(x)))): what `layer` is, and a convolution beside it. He et al. 2021, section 5.3
    has n-grams by one after the first layer (DeBERTa v2).

    Beyond the ends of a text, in padded and in packed rows, stand zeros.

    layer  a layer whose parts it takes over
    width  of the window, odd

    forward: x (B, T, D) -> (B, T, D).
    """

    def __init__(
        self,
        d_model: int,
        layer: EncoderLayer,
        dropout: float = 0.1,
        *,
        width: int = 3,
        groups: int = 1,
        activation: str = "tanh",
        norm: NormFactory = LayerNorm,
    ) -> None:
        nn.Module.__init__(self)
        if width < 1 or width % 2 == 0 or d_model % groups:
            raise ConfigError(
                f"width={width} and groups={groups}: a window around each position is 1, 3, 5 … wide, and groups "
                f"divide d_model={d_model}."
            )
        self.self_attn, self.ffn = layer.self_attn, layer.ffn
        self.sublayer_attn, self.sublayer_ffn = layer.sublayer_attn, layer.sublayer_ffn
        self.conv = nn.Conv1d(d_model, d_model, width, padding=width // 2, groups=groups)
        self.norm = norm(d_model)
        self.act = named(activation)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, mask: Mask | Tensor | None = None) -> Tensor:
        mask = Mask.of(mask)
        near = self.act(self.dropout(self.convolve(x, mask)))
        return self.norm(super().forward(x, mask) + near)

    def convolve(self, x: Tensor, mask: Mask | None) -> Tensor:
        """(B, T, D): the convolution of each text."""
        if mask is None:
            return self.conv(x.mT).mT
        x, gap = mask.clean(x), self.conv.kernel_size[0] // 2
        if mask.documents is None:
            return self.conv(x.mT).mT
        # Zeros between the documents, as many as a window reaches.
        number = F.pad(mask.documents.diff(dim=1) != 0, (1, 0)).cumsum(1)
        place = (torch.arange(x.size(1), device=x.device) + gap * number)[..., None].expand_as(x)
        spaced = x.new_zeros(x.size(0), int(place.max()) + 1, x.size(2)).scatter(1, place, x)
        return self.conv(spaced.mT).mT.gather(1, place)
