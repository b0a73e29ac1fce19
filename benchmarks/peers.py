"""The models that are compared, each with one training update and one forced greedy decoding, as its users write them.

All have the same width, depth, heads and vocabulary, and dropout 0.1, in the feed-forward network's hidden layer too.
They differ in what their code fixes: where the norm stands, relu or gelu, what is tied, and dropout on attention
weights, which the tutorial and torch.nn.Transformer have.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from setting import BOS, EOS, PAD, Sizes
from sublayer.data.batch import PairBatch
from sublayer.export.ctranslate2 import export
from sublayer.generate import beam_search, greedy
from sublayer.models import ModelConfig
from sublayer.models.build import build
from sublayer.models.decoding import TranslationDecoding
from sublayer.nn import Mask
from sublayer.tasks.teaching import translation_loss
from sublayer.train.optim import clip, optimizer, scale_gradients
from tutorial import Positions, TutorialTransformer

RATE = 1e-4  # the same for all: nothing is learned from random ids, and nothing may diverge


class Peer(Protocol):
    """One of the models."""

    name: str
    model: nn.Module

    def update(self, batch: PairBatch) -> None:
        """Forward, backward, optimizer."""

    def generate(self, source: Tensor, length: int) -> Tensor | Sequence[Sequence[object]]:
        """Sources (B, S), 0 = padding -> `length` tokens a row, whatever the model thinks of EOS."""


class Sublayer:
    """The update is that of `sublayer.train.trainer`, the search that of `sublayer predict --beam 1`."""

    name = "sublayer"

    def __init__(self, sizes: Sizes) -> None:
        config = ModelConfig(
            source_vocab=sizes.vocab,
            target_vocab=sizes.vocab,
            d_model=sizes.d_model,
            num_heads=sizes.num_heads,
            encoder_layers=sizes.layers,
            decoder_layers=sizes.layers,
            d_ff=sizes.d_ff,
            dropout=0.1,
            tie="all",
        )
        self.config = config
        self.model = build(config)
        self.optimizer = optimizer(self.model, "adam")

    def update(self, batch: PairBatch) -> None:
        loss = translation_loss(self.model, batch)
        loss.total.backward()
        scale_gradients(self.model.parameters(), 1 / loss.count)
        clip(self.model.parameters(), 1.0)
        for settings in self.optimizer.param_groups:
            settings["lr"] = RATE
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def generate(self, source: Tensor, length: int) -> list[tuple[int, ...]]:
        start = torch.full((len(source), 1), BOS)
        return [h.tokens for h in greedy(self.decoding(source), start, eos=EOS, max_len=length, never=(EOS, PAD))]

    def search(self, source: Tensor, length: int, beam: int) -> list[tuple[int, ...]]:
        start, never = torch.full((len(source), 1), BOS), (EOS, PAD)
        found = beam_search(self.decoding(source), start, eos=EOS, beam=beam, max_len=length, never=never)
        return [hypotheses[0].tokens for hypotheses in found]

    def decoding(self, source: Tensor) -> TranslationDecoding:
        keep = source != PAD
        return TranslationDecoding(self.model, source, None if keep.all() else Mask.padding(keep))


class SublayerInt8(Sublayer):
    """The same weights, as `sublayer predict --int8` has them."""

    name = "sublayer int8"

    def __init__(self, ours: Sublayer) -> None:
        self.model = ours.model.for_inference(quantize="int8")


@dataclass(frozen=True)
class _Words:
    """What an export asks of a tokenizer, of ids without a text."""

    vocabulary: list[str]
    pad: int = PAD
    bos: int = BOS
    eos: int = EOS
    unk: int = 1


class CTranslate2:
    """The same weights in CTranslate2's format, as `sublayer export --to ctranslate2` writes them."""

    def __init__(self, ours: Sublayer, compute_type: str, threads: int) -> None:
        import ctranslate2

        self.name = f"CTranslate2 {compute_type}"
        self.model = ours.model
        words = _Words([str(i) for i in range(ours.config.target_vocab)])
        with TemporaryDirectory() as folder:
            export(SimpleNamespace(model=ours.model, config=ours.config, source=words, target=words), Path(folder))
            self.translator = ctranslate2.Translator(
                folder, "cpu", compute_type=compute_type, inter_threads=1, intra_threads=threads
            )

    def generate(self, source: Tensor, length: int) -> list[list[str]]:
        return self.search(source, length, beam=1)

    def search(self, source: Tensor, length: int, beam: int) -> list[list[str]]:
        found = self.translator.translate_batch(
            [[str(i) for i in row if i != PAD] for row in source.tolist()],
            beam_size=beam,
            min_decoding_length=length,
            max_decoding_length=length,
            suppress_sequences=[[str(PAD)]],
        )
        return [answer.hypotheses[0] for answer in found]


class _Plain:
    """An update as most scripts write it: a mean loss, backward, Adam as it comes."""

    model: nn.Module

    def start(self) -> None:
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=RATE, betas=(0.9, 0.98))

    def update(self, batch: PairBatch) -> None:
        self.optimizer.zero_grad()
        self.loss(batch).backward()
        self.optimizer.step()

    def loss(self, batch: PairBatch) -> Tensor:
        """The mean over real target tokens."""
        raise NotImplementedError


class Marian(_Plain):
    """transformers' MarianMTModel, which is also the shape of OPUS-MT."""

    name = "transformers MarianMT (sdpa)"

    def __init__(self, sizes: Sizes) -> None:
        from transformers import MarianConfig, MarianMTModel
        from transformers.utils import logging

        logging.set_verbosity_error()
        config = MarianConfig(
            vocab_size=sizes.vocab,
            d_model=sizes.d_model,
            encoder_layers=sizes.layers,
            decoder_layers=sizes.layers,
            encoder_attention_heads=sizes.num_heads,
            decoder_attention_heads=sizes.num_heads,
            encoder_ffn_dim=sizes.d_ff,
            decoder_ffn_dim=sizes.d_ff,
            max_position_embeddings=512,
            activation_function="relu",
            dropout=0.1,
            activation_dropout=0.1,
            scale_embedding=True,
            pad_token_id=PAD,
            eos_token_id=EOS,
            decoder_start_token_id=BOS,
            forced_eos_token_id=None,
            attn_implementation="sdpa",
        )
        self.model = MarianMTModel(config)
        self.start()

    def loss(self, batch: PairBatch) -> Tensor:
        labels = batch.target_out.masked_fill(~batch.target_keep, -100)
        return self.model(input_ids=batch.source, attention_mask=(batch.source != PAD).long(), labels=labels).loss

    def generate(self, source: Tensor, length: int) -> Tensor:
        written = self.model.generate(
            input_ids=source,
            attention_mask=(source != PAD).long(),
            num_beams=1,
            do_sample=False,
            min_new_tokens=length,
            max_new_tokens=length,
        )
        return written[:, 1:]


class XTransformers(_Plain):
    name = "x-transformers (flash)"

    def __init__(self, sizes: Sizes) -> None:
        from x_transformers import XTransformer

        side = {
            "num_tokens": sizes.vocab,
            "depth": sizes.layers,
            "heads": sizes.num_heads,
            "attn_dim_head": sizes.d_model // sizes.num_heads,
            "max_seq_len": 512,
            "attn_flash": True,
            "ff_dropout": 0.1,
            "emb_dropout": 0.1,
        }
        both = {f"{prefix}_{key}": value for prefix in ("enc", "dec") for key, value in side.items()}
        self.model = XTransformer(dim=sizes.d_model, tie_token_emb=True, ignore_index=PAD, pad_value=PAD, **both)
        self.start()

    def loss(self, batch: PairBatch) -> Tensor:
        return self.model(batch.source, batch.target, mask=batch.source != PAD)

    def generate(self, source: Tensor, length: int) -> Tensor:
        start = torch.full((len(source), 1), BOS)
        return self.model.generate(source, start, length, mask=source != PAD, temperature=0.0)


class TorchTransformer(nn.Module):
    """torch.nn.Transformer with the embeddings, positions and output map that it leaves to its user."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.source = nn.Embedding(sizes.vocab, sizes.d_model)
        self.target = nn.Embedding(sizes.vocab, sizes.d_model)
        self.positions = Positions(sizes.d_model, dropout=0.1)
        self.transformer = nn.Transformer(
            sizes.d_model, sizes.num_heads, sizes.layers, sizes.layers, sizes.d_ff, dropout=0.1, batch_first=True
        )
        self.project = nn.Linear(sizes.d_model, sizes.vocab)

    def forward(self, src: Tensor, trg: Tensor) -> Tensor:
        hidden = src == PAD
        x = self.transformer(
            self.embed(self.source, src),
            self.embed(self.target, trg),
            tgt_mask=_future(trg),
            src_key_padding_mask=hidden,
            memory_key_padding_mask=hidden,
            tgt_key_padding_mask=trg == PAD,
        )
        return self.project(x)

    def embed(self, table: nn.Embedding, ids: Tensor) -> Tensor:
        x = table(ids) * math.sqrt(table.embedding_dim)
        return self.positions(x.transpose(0, 1)).transpose(0, 1)


class Torch(_Plain):
    name = "torch.nn.Transformer"

    def __init__(self, sizes: Sizes) -> None:
        warnings.filterwarnings("ignore", message="The PyTorch API of nested tensors")
        self.model = TorchTransformer(sizes)
        self.start()

    def loss(self, batch: PairBatch) -> Tensor:
        return _cross_entropy(self.model(batch.source, batch.target_in), batch)

    def generate(self, source: Tensor, length: int) -> Tensor:
        """The encoder once, the decoder over the whole target at each step: it has no cache."""
        model, hidden = self.model, source == PAD
        read = model.embed(model.source, source)
        memory = model.transformer.encoder(read, src_key_padding_mask=hidden)

        def logits_after(written: Tensor) -> Tensor:
            x = model.embed(model.target, written)
            x = model.transformer.decoder(x, memory, tgt_mask=_future(written), memory_key_padding_mask=hidden)
            return model.project(x[:, -1])

        return _write(logits_after, len(source), length)


def _future(trg: Tensor) -> Tensor:
    return torch.ones(trg.size(1), trg.size(1), dtype=torch.bool).triu(1)


class Tutorial(_Plain):
    name = "tutorial code"

    def __init__(self, sizes: Sizes) -> None:
        self.model = TutorialTransformer(sizes.vocab, sizes.d_model, sizes.layers, sizes.num_heads, sizes.d_ff)
        self.start()

    def loss(self, batch: PairBatch) -> Tensor:
        seen = (batch.source != PAD)[:, None, None]
        own = (batch.target_in != PAD)[:, None, None] * _past(batch.target_in)
        return _cross_entropy(self.model(batch.source, batch.target_in, seen, own, seen), batch)

    def generate(self, source: Tensor, length: int) -> Tensor:
        """By forward(), the one call that this code has: source and target are read anew at each step."""
        seen = (source != PAD)[:, None, None]
        return _write(lambda trg: self.model(source, trg, seen, _past(trg), seen)[:, -1], len(source), length)


class TutorialReadOnce(Tutorial):
    """The same, taken apart by its user: the encoder once, the output map at the last position only."""

    name = "tutorial code, source read once"

    def generate(self, source: Tensor, length: int) -> Tensor:
        seen, model = (source != PAD)[:, None, None], self.model
        memory = model.encoder(source, seen)
        return _write(
            lambda trg: model.fc_out(model.decoder(trg, _past(trg), memory, seen)[:, -1]), len(source), length
        )


def _past(trg: Tensor) -> Tensor:
    return torch.tril(torch.ones(1, 1, trg.size(1), trg.size(1)))


def _cross_entropy(logits: Tensor, batch: PairBatch) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), batch.target_out.flatten(), ignore_index=PAD)


def _write(logits_after: Callable[[Tensor], Tensor], rows: int, length: int) -> Tensor:
    """The likeliest token at each step, never EOS; without a cache."""
    written = torch.full((rows, 1), BOS)
    for _ in range(length):
        logits = logits_after(written)
        logits[:, EOS] = -math.inf
        written = torch.cat((written, logits.argmax(-1, keepdim=True)), 1)
    return written[:, 1:]


TRAINED = (Sublayer, Marian, XTransformers, Torch, Tutorial)
DECODED = (Sublayer, Marian, XTransformers, Torch, Tutorial, TutorialReadOnce)
