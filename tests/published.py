"""Small published folders, written by ours alone."""

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from sublayer.interop.bert import BERT
from sublayer.interop.gpt2 import GPT2
from sublayer.interop.pretrained import Pretrained
from sublayer.models.build import build
from sublayer.text import PretrainedTokenizer
from sublayer.text.published import read_tokenizer

MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SIZES = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32)


def write(family, architecture, folder, tokenizer, settings, perturb=lambda model: model):
    """A model with these settings of theirs; what it was, as a record."""
    head = family.head(architecture)
    config = family.config(settings, head)
    made = Pretrained(perturb(build(config)).eval(), config, tokenizer, family, head, {}, ())
    made.save_pretrained(folder)
    return made


def bert(folder, words, architecture="BertForMaskedLM", perturb=lambda model: model, **settings):
    """A BERT that knows these words, and parts of words with ## before them."""
    vocabulary = [*MARKS, *words]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in vocabulary), encoding="utf-8")
    settings = {"vocab_size": len(vocabulary), "max_position_embeddings": 24} | SIZES | settings
    made = write(BERT, architecture, folder, read_tokenizer(folder), settings, perturb)
    (folder / "vocab.txt").unlink()
    return made


def gpt2(folder, perturb=lambda model: model, **settings):
    """A GPT-2 that knows every byte."""
    settings = {"vocab_size": 257, "n_positions": 64, "n_embd": 16, "n_layer": 2, "n_head": 2} | settings
    return write(GPT2, "GPT2LMHeadModel", folder, byte_level(), settings, perturb)


def byte_level():
    """Bytes, and `<|endoftext|>` before them, as GPT-2 spells them."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE({token: i for i, token in enumerate(["<|endoftext|>", *letters])}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens(["<|endoftext|>"])
    return PretrainedTokenizer(backend, specials=dict.fromkeys(("unk", "bos", "eos"), "<|endoftext|>"))
