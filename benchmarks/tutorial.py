"""The Transformer that tutorials write: post-norm, scores spelled out, -1e9 where hidden, no cache.

Re-typed for the comparison with the structure that such code has: projections called one by one, attention that
hands back its weights, positions added sequence first between two transposes, masks that compare equal to 0.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Positions(nn.Module):
    def __init__(self, d_model: int, dropout: float, max_len: int = 5000) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        angles = torch.arange(max_len)[:, None] * 10000 ** (-torch.arange(0, d_model, 2) / d_model)
        table = torch.empty(max_len, 1, d_model)
        table[:, 0, 0::2], table[:, 0, 1::2] = angles.sin(), angles.cos()
        self.register_buffer("table", table)

    def forward(self, x: Tensor) -> Tensor:
        return self.dropout(x + self.table[: x.size(0)])  # (T, B, D)


class Attention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.num_heads, self.d_k = num_heads, d_model // num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
        self.dropout = nn.Dropout(dropout)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = self.heads(self.w_q(query)), self.heads(self.w_k(key)), self.heads(self.w_v(value))
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)
        weights = self.dropout(F.softmax(scores.masked_fill(mask == 0, -1e9), dim=-1))
        together = torch.matmul(weights, v).transpose(1, 2).contiguous()
        return self.w_o(together.view(*query.shape)), weights

    def heads(self, x: Tensor) -> Tensor:
        return x.view(x.size(0), -1, self.num_heads, self.d_k).transpose(1, 2)


class Step(nn.Module):
    """Norm(x + Dropout(y))."""

    def __init__(self, d_model: int, dropout: float) -> None:
        super().__init__()
        self.norm, self.dropout = nn.LayerNorm(d_model), nn.Dropout(dropout)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.norm(x + self.dropout(y))


class Layer(nn.Module):
    """Of the encoder; of the decoder where `cross`."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float, *, cross: bool) -> None:
        super().__init__()
        self.self_attn = Attention(d_model, num_heads, dropout)
        self.cross_attn = Attention(d_model, num_heads, dropout) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model))
        self.steps = nn.ModuleList(Step(d_model, dropout) for _ in range(3 if cross else 2))

    def forward(
        self, x: Tensor, mask: Tensor, memory: Tensor | None = None, memory_mask: Tensor | None = None
    ) -> Tensor:
        x = self.steps[0](x, self.self_attn(x, x, x, mask)[0])
        if self.cross_attn is not None:
            x = self.steps[1](x, self.cross_attn(x, memory, memory, memory_mask)[0])
        return self.steps[-1](x, self.ffn(x))


class Stack(nn.Module):
    def __init__(
        self, vocab: int, d_model: int, layers: int, num_heads: int, d_ff: int, dropout: float, *, cross: bool
    ) -> None:
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab, d_model)
        self.positions = Positions(d_model, dropout)
        self.layers = nn.ModuleList(Layer(d_model, num_heads, d_ff, dropout, cross=cross) for _ in range(layers))

    def forward(self, ids: Tensor, mask: Tensor, *read: Tensor) -> Tensor:
        x = self.embedding(ids) * math.sqrt(self.d_model)
        x = self.positions(x.transpose(0, 1)).transpose(0, 1)
        for layer in self.layers:
            x = layer(x, mask, *read)
        return x


class TutorialTransformer(nn.Module):
    """src (B, S), trg (B, T), masks that broadcast to (B, H, T, S), 0 = hidden -> logits (B, T, V)."""

    def __init__(self, vocab: int, d_model: int, layers: int, num_heads: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = Stack(vocab, d_model, layers, num_heads, d_ff, dropout, cross=False)
        self.decoder = Stack(vocab, d_model, layers, num_heads, d_ff, dropout, cross=True)
        self.fc_out = nn.Linear(d_model, vocab)
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.xavier_uniform_(weight)

    def forward(self, src: Tensor, trg: Tensor, src_mask: Tensor, trg_mask: Tensor, cross_mask: Tensor) -> Tensor:
        return self.fc_out(self.decoder(trg, trg_mask, self.encoder(src, src_mask), cross_mask))
