"""An encoder with its embeddings."""

from torch import Tensor, nn

from sublayer.nn import Mask


class EncoderModel(nn.Module):
    """encoder(embed(ids)): ids (B, T) -> (B, T, D). Devlin et al. 2019 is one of these."""

    def __init__(self, embed: nn.Module, encoder: nn.Module) -> None:
        super().__init__()
        self.embed = embed
        self.encoder = encoder

    def forward(self, ids: Tensor, mask: Mask | Tensor | None = None) -> Tensor:
        mask = Mask.of(mask)
        return self.encoder(self.embed(ids, index=positions(mask, ids)), mask)


def positions(mask: Mask | None, ids: Tensor) -> Tensor | None:
    """Where each id stands, when the mask says more than 0, 1, 2, …"""
    return None if mask is None else mask.positions(ids.size(1))
