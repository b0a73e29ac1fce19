"""Models as search sees them: tokens in, log-probabilities of the next token out, rows that can be chosen."""

import torch
from torch import Tensor

from sublayer.models.decoder import CausalLM
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.nn import Mask


class TranslationDecoding:
    """An encoder-decoder that has read its source (B, S) and writes one token a step, B rows at a time."""

    def __init__(self, model: EncoderDecoder, source: Tensor, source_mask: Mask | None) -> None:
        self.model = model
        self.memory: Tensor | None = model.encode(source, source_mask)
        self.mask = source_mask
        self.cache = model.decoder.new_cache()
        self.source_of = torch.arange(len(source), device=source.device)  # the source that each row reads
        self.read = self.source_of  # the source of each row of memory: the hypotheses of a beam share one

    def step(self, tokens: Tensor) -> Tensor:
        """(N, n) new tokens -> (N, V) log-probabilities of what follows, in fp32."""
        x = self.model.decode(tokens, self.memory, None, self.mask, self.cache)
        if self.memory is not None:
            # The cross-attention caches hold all that is needed of the memory from here on, padding zeroed. As numbers
            # the mask goes to every layer of every step as it is.
            self.memory = None
            self.mask = None if self.mask is None else self.mask.as_bias(x.dtype)
        return torch.log_softmax(self.model.project(x[:, -1]).float(), -1)

    def select(self, rows: Tensor) -> None:
        before, self.source_of = self.source_of, self.source_of[rows]
        read, shares = self.source_of.unique_consecutive(return_counts=True)
        if (shares != shares[0]).any():
            read = self.source_of
        if len(rows) == len(before) and torch.equal(read, self.read):  # hypotheses of a beam have changed places
            self.cache.reorder(rows)
            return
        held = (self.read == read[:, None]).int().argmax(1)
        self.read = read
        self.cache.select(rows, held)
        self.mask = None if self.mask is None else self.mask.select(held)
        self.memory = None if self.memory is None else self.memory.index_select(0, held)


class ContinuationDecoding:
    """A language model that continues prompts. keep (B, n) tells real prompt tokens from padding on the left."""

    def __init__(self, model: CausalLM, keep: Tensor | None = None) -> None:
        self.model = model
        self.keep = keep
        self.cache = model.decoder.new_cache()

    def step(self, tokens: Tensor) -> Tensor:
        """(N, n) new tokens -> (N, V) log-probabilities of what follows, in fp32."""
        if self.keep is not None and self.cache.length:
            self.keep = torch.cat((self.keep, torch.ones_like(tokens, dtype=torch.bool)), 1)
        mask = None if self.keep is None else Mask.padding(self.keep)
        logits = self.model(tokens, mask, self.cache)[:, -1]
        return torch.log_softmax(logits.float(), -1)

    def select(self, rows: Tensor) -> None:
        self.cache.select(rows)
        self.keep = None if self.keep is None else self.keep.index_select(0, rows)


class WindowedDecoding:
    """A language model that continues prompts of one length, looking back `context` tokens at most.

    One that was trained on windows has never stood beyond their end. Where the window is full it goes on from the last
    half of it, read afresh, so that a step costs on average no more than two.
    """

    def __init__(self, model: CausalLM, context: int) -> None:
        self.model = model
        self.context = context
        self.cache = model.decoder.new_cache()
        self.seen: Tensor | None = None

    def step(self, tokens: Tensor) -> Tensor:
        """(N, n) new tokens -> (N, V) log-probabilities of what follows, in fp32."""
        self.seen = tokens if self.seen is None else torch.cat((self.seen, tokens), 1)[:, -self.context :]
        if self.cache.length + tokens.size(1) > self.context:
            self.cache = self.model.decoder.new_cache()
            tokens = self.seen[:, -max(1, self.context // 2) :]
        logits = self.model(tokens, None, self.cache)[:, -1]
        return torch.log_softmax(logits.float(), -1)

    def select(self, rows: Tensor) -> None:
        self.cache.select(rows)
        self.seen = None if self.seen is None else self.seen.index_select(0, rows)
