"""Encoder-decoders against transformers: logits and cached greedy decoding, perturbed weights, padded sources."""

import pytest
import torch
import transformers
from tests.parity.published import batch, comes_back, loads, save

from sublayer.generate import greedy
from sublayer.models.decoding import TranslationDecoding
from sublayer.nn import Mask

T5 = dict(
    vocab_size=29,
    d_model=16,
    d_kv=6,
    d_ff=24,
    num_layers=3,
    num_decoder_layers=2,  # their generate has a cache for no more layers than the encoder has
    num_heads=4,
    relative_attention_num_buckets=8,
    relative_attention_max_distance=12,
    decoder_start_token_id=0,
    initializer_factor=0.7,
)
BART = dict(
    vocab_size=29,
    d_model=16,
    encoder_layers=2,
    decoder_layers=3,
    encoder_attention_heads=4,
    decoder_attention_heads=4,
    encoder_ffn_dim=24,
    decoder_ffn_dim=24,
    max_position_embeddings=40,
    init_std=0.2,
    bos_token_id=0,
    pad_token_id=1,
    eos_token_id=2,
    decoder_start_token_id=2,
    forced_eos_token_id=None,
    forced_bos_token_id=None,
)
MODELS = {
    "T5": ("T5ForConditionalGeneration", transformers.T5Config(**T5)),
    "T5 v1.1": (
        "T5ForConditionalGeneration",
        transformers.T5Config(**T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False),
    ),
    "mT5": ("MT5ForConditionalGeneration", transformers.MT5Config(**T5)),
    "UMT5": ("UMT5ForConditionalGeneration", transformers.UMT5Config(**T5)),
    "BART": ("BartForConditionalGeneration", transformers.BartConfig(**BART)),
    "mBART": ("MBartForConditionalGeneration", transformers.MBartConfig(**BART, scale_embedding=True)),
    "Marian": (
        "MarianMTModel",
        transformers.MarianConfig(**BART | {"activation_function": "swish", "scale_embedding": True}),
    ),
    "M2M100": ("M2M100ForConditionalGeneration", transformers.M2M100Config(**BART)),
}
models = pytest.mark.parametrize("name", MODELS)


def untied(architecture, config, folder, perturb):
    """A file whose output map is its own, as T5 v1.1 and mT5 were published."""
    theirs = save(architecture, config, folder, perturb)
    theirs.lm_head.weight = torch.nn.Parameter(theirs.lm_head.weight + 0.2 * torch.randn_like(theirs.lm_head.weight))
    theirs.save_pretrained(folder)
    return theirs


@models
def test_logits_and_greedy_decoding_on_a_padded_batch(name, tmp_path, perturb, ragged):
    architecture, config = MODELS[name]
    write = untied if name in ("T5 v1.1", "mT5", "UMT5") else save
    theirs = write(architecture, config, tmp_path / "theirs", perturb)
    with torch.no_grad():
        if "final_logits_bias" in dict(theirs.named_buffers()):  # a buffer: fresh it is 0
            theirs.final_logits_bias += torch.randn(1, 29)
            theirs.save_pretrained(tmp_path / "theirs")
    ours = comes_back(tmp_path / "theirs", tmp_path / "ours")
    source, keep = batch(29, ragged, pad=config.pad_token_id)
    target = torch.randint(3, 29, (3, 5))

    def logits(model):
        with torch.no_grad():
            return model(input_ids=source, attention_mask=keep.long(), decoder_input_ids=target).logits

    expected = logits(theirs)
    torch.testing.assert_close(ours.model(source, target, keep), expected, atol=1e-5, rtol=1e-5)
    assert expected.std() > 0.1

    start, eos = config.decoder_start_token_id, config.eos_token_id
    written = theirs.generate(source, attention_mask=keep.long(), max_new_tokens=9, do_sample=False, num_beams=1)
    decoding = TranslationDecoding(ours.model, source, Mask.padding(keep))
    texts = greedy(decoding, torch.full((3, 1), start), eos=eos, max_len=9)
    for row, text in zip(written[:, 1:].tolist(), texts, strict=True):
        assert list(text.tokens) == (row[: row.index(eos)] if eos in row else row)
    assert logits(loads(architecture, tmp_path / "ours")).equal(expected)
