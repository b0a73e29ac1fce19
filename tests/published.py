"""Small published folders, written by ours alone."""

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

from sublayer.interop.bart import BART, M2M100
from sublayer.interop.bert import BERT
from sublayer.interop.gpt2 import GPT2
from sublayer.interop.modernbert import MODERNBERT
from sublayer.interop.pretrained import Pretrained
from sublayer.interop.t5 import T5
from sublayer.models.build import build
from sublayer.text import PretrainedTokenizer
from sublayer.text.published import read_tokenizer

MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SIZES = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32)


def write(family, architecture, folder, tokenizer, settings, perturb=lambda model: model):
    """A model with these settings of theirs; what it was, as a record."""
    head = family.head(architecture)
    config = family.config(settings, head)
    theirs = settings | {"model_type": family.model_type}
    made = Pretrained(perturb(build(config)).eval(), config, tokenizer, family, head, theirs, ())
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


def modernbert(folder, words, architecture="ModernBertForMaskedLM", perturb=lambda model: model, **settings):
    """A ModernBERT with a vocabulary as `bert` has it."""
    tokenizer = bert(folder, words).tokenizer
    own = {"vocab_size": len(tokenizer), "global_attn_every_n_layers": 2, "local_attention": 4, "pad_token_id": 0}
    return write(MODERNBERT, architecture, folder, tokenizer, SIZES | own | settings, perturb)


def gpt2(folder, perturb=lambda model: model, **settings):
    """A GPT-2 that knows every byte."""
    settings = {"vocab_size": 257, "n_positions": 64, "n_embd": 16, "n_layer": 2, "n_head": 2} | settings
    return write(GPT2, "GPT2LMHeadModel", folder, byte_level(), settings, perturb)


def bart(folder, perturb=lambda model: model, **settings):
    """A BART that knows every byte."""
    tokenizer = byte_level(("<s>", "<pad>", "</s>", "<unk>"), "<s> $A </s>")
    return write(BART, "BartForConditionalGeneration", folder, tokenizer, PAIR | settings, perturb)


def t5(folder, perturb=lambda model: model, **settings):
    """A T5 that knows every byte."""
    tokenizer = byte_level(("<pad>", "</s>", "<unk>"), "$A </s>")
    sizes = dict(vocab_size=259, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_decoder_layers=1, num_heads=2)
    return write(T5, "T5ForConditionalGeneration", folder, tokenizer, sizes | settings, perturb)


def m2m100(folder, perturb=lambda model: model, **settings):
    """A model for two languages that knows every byte."""
    tokenizer = byte_level(("<s>", "<pad>", "</s>", "<unk>", "xx", "yy"), "xx $A </s>")
    sizes = PAIR | {"vocab_size": 262, "decoder_start_token_id": 2}
    return write(M2M100, "M2M100ForConditionalGeneration", folder, tokenizer, sizes | settings, perturb)


PAIR = dict(
    vocab_size=260,
    d_model=16,
    encoder_layers=1,
    decoder_layers=1,
    encoder_attention_heads=2,
    decoder_attention_heads=2,
    encoder_ffn_dim=32,
    decoder_ffn_dim=32,
    max_position_embeddings=40,
)
NAMES = {"<s>": ("bos", "cls"), "<pad>": ("pad",), "</s>": ("eos", "sep"), "<unk>": ("unk",)}


def byte_level(specials=("<|endoftext|>",), template=None):
    """Bytes, spelled as GPT-2 spells them, behind special tokens."""
    vocabulary = [*specials, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    ids = {token: i for i, token in enumerate(vocabulary)}
    backend = Tokenizer(models.BPE(ids, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens(list(specials))
    if template is None:
        return PretrainedTokenizer(backend, specials=dict.fromkeys(("unk", "bos", "eos"), specials[0]))
    backend.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=[(token, ids[token]) for token in specials]
    )
    roles = {role: token for token in specials for role in NAMES.get(token, ())}
    return PretrainedTokenizer(backend, specials=roles)
