"""The feed-forward network: with and without, its activation, its gate, its width. Learned: pronunciation."""

from functools import partial

from torch import Generator

from sublayer.inspect import flops
from sublayer.lab.claim import Bench, Measured
from sublayer.lab.pronounce import learn_words, pronounce
from sublayer.lab.small import NoFeedForward
from sublayer.nn import FeedForward, GatedFeedForward


def without(seed: int, bench: Bench) -> Measured:
    """A layer has 4 d² parameters in attention and 8 d² in the feed-forward network: three without are one with.

    Three times the scores make them dearer, so that equal compute is fewer steps.
    """
    whole = learn_words(seed, bench, layers=2)
    left_out = learn_words(seed, bench, layers=2, ffn=NoFeedForward)
    replaced = learn_words(seed, bench, layers=6, ffn=NoFeedForward)
    batch = pronounce(held_out=True)(1, Generator())
    one, other = (flops(learned.model, batch.ids, batch.mask) for learned in (whole, replaced))
    cheaper = learn_words(seed, bench, layers=6, pace=one / other, ffn=NoFeedForward)
    losses = {
        "2 layers": whole.loss,
        "2 layers, no FFN": left_out.loss,
        "6 layers, no FFN: equal parameters": replaced.loss,
        "6 layers, no FFN: equal compute": cheaper.loss,
    }
    numbers = {
        "left out": left_out.loss - whole.loss,
        "equal parameters": replaced.loss - whole.loss,
        "equal compute": cheaper.loss - whole.loss,
    }
    return Measured(numbers, {"": [*losses.items()]})


def activations(seed: int, bench: Bench) -> Measured:
    """Gated networks have three matrices, so they get two thirds of the width."""
    third = bench.choose(16, 32, 64) * 8 // 3
    parts = {
        "ReLU": partial(FeedForward, dropout=0.0, activation="relu"),
        "GELU": partial(FeedForward, dropout=0.0, activation="gelu"),
        "SwiGLU": partial(GatedFeedForward, d_ff=third, dropout=0.0, activation="silu"),
        "GEGLU": partial(GatedFeedForward, d_ff=third, dropout=0.0, activation="gelu"),
    }
    losses = {name: learn_words(seed, bench, ffn=part).loss for name, part in parts.items()}
    gains = {name: losses["ReLU"] - loss for name, loss in losses.items() if name != "ReLU"}
    return Measured(gains, {"": [*losses.items()]})


def width(seed: int, bench: Bench) -> Measured:
    """(4 + 2 r) d² parameters a layer are the same for d² ∝ 1 / (4 + 2 r), in heads of four."""
    widths = bench.choose({1: 16, 4: 12}, {1: 44, 2: 40, 4: 32, 8: 24}, {1: 44, 2: 40, 4: 32, 8: 24})
    losses = {}
    for ratio, d_model in widths.items():
        inner = ratio * bench.choose(16, d_model, 2 * d_model)
        part = partial(FeedForward, d_ff=inner, dropout=0.0)
        losses[ratio] = learn_words(seed, bench, d_model=d_model, ffn=part).loss
    others = [loss for ratio, loss in losses.items() if ratio != 4]
    numbers = {"to the best": losses[4] - min(others), "to one": losses[1] - losses[4]}
    return Measured(numbers, {"": [*losses.items()]})
