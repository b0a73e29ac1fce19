"""One small task of each kind that has learned nothing, and texts for it: for what does not depend on its answers."""

import torch
from tests.serve.small import small_task

from sublayer.models import ModelConfig
from sublayer.models.build import build
from sublayer.models.config import Part
from sublayer.models.heads import Classes, EncoderWithHead, SentenceVector, Span, TokenClasses
from sublayer.tasks.answer import Answer, Rules
from sublayer.tasks.classify import Classify, LabelSet
from sublayer.tasks.complete import Complete
from sublayer.tasks.embed import Embed, Vectors
from sublayer.tasks.fill import Fill
from sublayer.tasks.search import Search
from sublayer.tasks.tag import Tag
from sublayer.text import NGrams, train_tokenizer

SIZES = dict(d_model=16, num_heads=2, d_ff=24, dropout=0.0)
LETTERS = ["abcd dcba abcd ab", "abc cb\n"]


def _moved(model):
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn(parameter.shape)
    return model.eval()


def classify(several=False):
    words = NGrams.train([text.split() for text in ("a cat , a dog", "the hammer , the drill")], vocab_size=40)
    config = ModelConfig(architecture="encoder", source_vocab=len(words), bags=True, encoder_layers=2, **SIZES)
    labels = LabelSet(("animal", "tool", "other"), 1, several, "|")
    return Classify(_moved(EncoderWithHead(build(config), Classes(16, classes=3))), config, words, labels, "mean")


def tag():
    pieces = train_tokenizer("bpe", LETTERS, vocab_size=264)
    config = ModelConfig(architecture="encoder", source_vocab=len(pieces), encoder_layers=2, **SIZES)
    tags = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
    model = _moved(EncoderWithHead(build(config), TokenClasses(16, classes=5)))
    model.head.classes.bias.data[0] = -9  # so that spans are marked
    return Tag(model, config, pieces, tags)


def complete(**search):
    letters = train_tokenizer("char", LETTERS)
    config = ModelConfig(architecture="decoder", target_vocab=len(letters), decoder_layers=2, **SIZES)
    return Complete(_moved(build(config)), config, letters, 12, Search(**{"max_ratio": 0, "max_extra": 6, **search}))


def embed():
    pieces = train_tokenizer("bpe", LETTERS, vocab_size=264)
    config = ModelConfig(architecture="encoder", source_vocab=len(pieces), encoder_layers=2, **SIZES)
    return Embed(_moved(EncoderWithHead(build(config), SentenceVector(16, normalize=True))), config, pieces, Vectors())


def answer():
    letters = train_tokenizer("word", ["who ? when a table for eve on monday"])
    config = ModelConfig(architecture="encoder", source_vocab=len(letters), encoder_layers=2, **SIZES)
    return Answer(_moved(EncoderWithHead(build(config), Span(16))), config, letters, Rules(longest=3))


def fill():
    letters = train_tokenizer("char", LETTERS)
    config = ModelConfig(architecture="encoder", source_vocab=len(letters) + 1, encoder_layers=2, **SIZES)
    model = build(config.model_copy(update={"head": Part(kind="masked-lm")}))  # its output map is the embedding
    return Fill(_moved(model), config, letters)


SMALL = {
    "translate": (small_task, ["abc", "a b", "h"]),
    "classify": (classify, ["a cat, a dog", "hammer", "nothing that is known"]),
    "tag": (tag, ["abcd dcba abcd", "ab"]),
    "complete": (complete, ["ab", "", "abcd dcba abcd ab abc"]),
    "embed": (embed, ["abcd dcba", "ab"]),
    "answer": (answer, ["who ?\ta table for eve", "when ?\ta table on monday for eve"]),
    "fill": (fill, ["ab[MASK] d[MASK]ba", "abc"]),
}


def small(kind):
    """A task of this kind, the same each time, and texts."""
    torch.manual_seed(1)
    make, texts = SMALL[kind]
    return make(), texts
