"""A language model: a decoder that reads nothing but its own past."""

from torch import Tensor, nn

from sublayer.models.encoder import positions
from sublayer.models.inference import ForInference
from sublayer.nn import Decoder, DecoderCache, Mask


class CausalLM(ForInference):
    """project(decoder(embed(ids))): ids (B, T) -> logits (B, T, V). Radford et al. 2019 is one of these.

    mask   which of the S = cache.length + T positions are real; the past is all that is ever seen
    cache  what has been decoded; ids then holds the new tokens only
    """

    def __init__(self, embed: nn.Module, decoder: Decoder, project: nn.Module) -> None:
        super().__init__()
        self.embed = embed
        self.decoder = decoder
        self.project = project

    def forward(self, ids: Tensor, mask: Mask | Tensor | None = None, cache: DecoderCache | None = None) -> Tensor:
        return self.project(self.states(ids, mask, cache))

    def states(self, ids: Tensor, mask: Mask | Tensor | None = None, cache: DecoderCache | None = None) -> Tensor:
        """(B, T, D): what the output map reads."""
        mask = Mask(causal=True) & Mask.of(mask)
        start = 0 if cache is None else cache.length
        x = self.embed(ids, start, index=positions(mask, ids))
        return self.decoder(x, mask=mask, cache=cache)
