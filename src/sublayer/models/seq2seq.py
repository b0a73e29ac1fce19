"""Encoder and decoder together."""

from torch import Tensor, nn

from sublayer.models.encoder import positions
from sublayer.models.inference import ForInference
from sublayer.nn import (
    Decoder,
    DecoderCache,
    DecoderLayer,
    Embeddings,
    Encoder,
    EncoderLayer,
    FeedForward,
    Mask,
    MultiHeadAttention,
    Sinusoidal,
    SublayerConnection,
    init,
)


class EncoderDecoder(ForInference):
    """project(decoder(target_embed(trg), encoder(source_embed(src)))). Vaswani et al. 2017, figure 1.

    forward: src (B, S), trg (B, T) -> logits (B, T, V).

    trg_mask    None: a position sees itself and those before it. A mask that only tells real tokens from padding
                (B, T) keeps that; one that spells every pair (B, T, T) is taken at its word.
    cross_mask  None: what src_mask says of padding; where both sides are packed, what stands in the same document
    """

    def __init__(
        self,
        source_embed: nn.Module,
        encoder: nn.Module,
        target_embed: nn.Module,
        decoder: Decoder,
        project: nn.Module,
    ) -> None:
        super().__init__()
        self.source_embed = source_embed
        self.encoder = encoder
        self.target_embed = target_embed
        self.decoder = decoder
        self.project = project

    def forward(
        self,
        src: Tensor,
        trg: Tensor,
        src_mask: Mask | Tensor | None = None,
        trg_mask: Mask | Tensor | None = None,
        cross_mask: Mask | Tensor | None = None,
    ) -> Tensor:
        memory = self.encode(src, src_mask)
        cross_mask = _across(Mask.of(src_mask), Mask.of(trg_mask)) if cross_mask is None else cross_mask
        return self.project(self.decode(trg, memory, trg_mask, cross_mask))

    def encode(self, src: Tensor, src_mask: Mask | Tensor | None = None) -> Tensor:
        """(B, S) -> memory (B, S, D)."""
        mask = Mask.of(src_mask)
        return self.encoder(self.source_embed(src, index=positions(mask, src)), mask)

    def decode(
        self,
        trg: Tensor,
        memory: Tensor | None,
        trg_mask: Mask | Tensor | None = None,
        cross_mask: Mask | Tensor | None = None,
        cache: DecoderCache | None = None,
    ) -> Tensor:
        """(B, T) and memory (B, S, D) -> (B, T, D), before the output map. With a cache, trg holds the new tokens."""
        mask = _causal(Mask.of(trg_mask))
        start = 0 if cache is None else cache.length
        x = self.target_embed(trg, start, index=positions(mask, trg))
        return self.decoder(x, memory, mask, cross_mask, cache)


class Transformer(EncoderDecoder):
    """The tutorials' constructor: numbers in, the original post-norm model out, with GELU as they have it.

    Sinusoidal positions grow, so `max_len` bounds nothing; it is taken for the tutorials' sake.
    """

    def __init__(
        self,
        input_vocab_size: int,
        target_vocab_size: int,
        d_model: int = 512,
        num_layers: int = 10,
        num_heads: int = 8,
        d_ff: int = 2048,
        max_len: int = 5000,
        dropout: float = 0.1,
    ) -> None:
        def attend() -> MultiHeadAttention:
            return MultiHeadAttention(d_model, num_heads, dropout=dropout)

        def ffn() -> FeedForward:
            return FeedForward(d_model, d_ff, dropout, activation="gelu")

        def connect(width: int, rate: float) -> SublayerConnection:
            return SublayerConnection(width, rate, norm_first=False)

        def embed(vocab: int) -> Embeddings:
            return Embeddings(vocab, d_model, positions=Sinusoidal(d_model), dropout=dropout)

        layers = range(num_layers)
        encoder = Encoder(EncoderLayer(d_model, attend(), ffn(), dropout, connect=connect) for _ in layers)
        decoder = Decoder(
            DecoderLayer(d_model, attend(), ffn(), dropout, cross_attn=attend(), connect=connect) for _ in layers
        )
        project = nn.Linear(d_model, target_vocab_size)
        super().__init__(embed(input_vocab_size), encoder, embed(target_vocab_size), decoder, project)
        init.xavier(self)


def _causal(mask: Mask | None) -> Mask:
    spells_pairs = mask is not None and mask.keep is not None and mask.keep.size(2) > 1
    return mask if spells_pairs and mask is not None else Mask(causal=True) & mask


def _across(src: Mask | None, trg: Mask | None) -> Mask | None:
    packed = trg is not None and trg.documents is not None
    return (src or Mask()).seen_from(trg) if src is not None or packed else None
