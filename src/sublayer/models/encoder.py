"""An encoder with its embeddings."""

from torch import Tensor, nn

from sublayer.errors import ShapeError
from sublayer.models.inference import ForInference
from sublayer.nn import Mask


class EncoderModel(ForInference):
    """encoder(embed(ids)): ids (B, T), or bags of ids (B, T, K), -> (B, T, D). Devlin et al. 2019 is one of these.

    types  (B, T) which segment each id is of, for embeddings that tell them apart; None: all of the first
    """

    def __init__(self, embed: nn.Module, encoder: nn.Module) -> None:
        super().__init__()
        self.embed = embed
        self.encoder = encoder

    def forward(self, ids: Tensor, mask: Mask | Tensor | None = None, types: Tensor | None = None) -> Tensor:
        mask = Mask.of(mask)
        typed = {} if types is None else {"types": types}
        return self.encoder(self.embed(ids, index=positions(mask, ids), **typed), mask)


def positions(mask: Mask | None, ids: Tensor) -> Tensor | None:
    """Where each id stands, when the mask says more than 0, 1, 2, …"""
    index = None if mask is None else mask.positions(ids.size(1))
    if index is not None and index.shape != ids.shape[:2] and index.size(0) != 1:
        raise ShapeError(
            f"the mask tells of (batch, positions) {tuple(index.shape)} and the ids are {tuple(ids.shape)}. "
            "It needs one entry an id, and with a cache one for each position decoded before too."
        )
    return index
