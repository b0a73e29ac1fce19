"""Language models against transformers: logits and cached greedy decoding, perturbed weights, padded prompts."""

import pytest
import torch
import transformers
from tests.parity.published import LENGTHS, batch, comes_back, loads, save

from sublayer.generate import greedy
from sublayer.models.decoding import ContinuationDecoding

SIZES = dict(
    vocab_size=29,
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    intermediate_size=24,
    max_position_embeddings=40,
    initializer_range=0.2,
    bos_token_id=1,
    eos_token_id=2,
    pad_token_id=0,
)
MODELS = {
    "GPT2LMHeadModel": transformers.GPT2Config(
        vocab_size=29,
        n_embd=16,
        n_layer=2,
        n_head=4,
        n_positions=40,
        initializer_range=0.2,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
    ),
    "LlamaForCausalLM": transformers.LlamaConfig(**SIZES, attention_bias=True, head_dim=6),
    "MistralForCausalLM": transformers.MistralConfig(**SIZES, sliding_window=3),
    "Qwen2ForCausalLM": transformers.Qwen2Config(**SIZES, tie_word_embeddings=True),
}
models = pytest.mark.parametrize("architecture", MODELS)


@models
def test_logits_and_greedy_decoding_on_a_padded_batch(architecture, tmp_path, perturb, ragged):
    theirs = save(architecture, MODELS[architecture], tmp_path / "theirs", perturb)
    ours = comes_back(tmp_path / "theirs", tmp_path / "ours")
    ids, keep = batch(29, ragged)
    with torch.no_grad():
        expected = theirs(input_ids=ids, attention_mask=keep.long()).logits
    made = ours.model(ids, keep)
    torch.testing.assert_close(made[keep], expected[keep], atol=1e-5, rtol=1e-5)
    assert expected.std() > 0.1

    rows, left = [row[k] for row, k in zip(ids, keep, strict=True)], ragged(LENGTHS, left=True)
    prompts = torch.zeros_like(ids).masked_scatter(left, torch.cat(rows))
    continued = theirs.generate(prompts, attention_mask=left.long(), max_new_tokens=9, do_sample=False)[:, 7:]
    written = greedy(ContinuationDecoding(ours.model, left), prompts, eos=2, max_len=9)
    for row, text in zip(continued.tolist(), written, strict=True):
        assert list(text.tokens) == (row[: row.index(2)] if 2 in row else row)[: len(text.tokens)]
    again = loads(architecture, tmp_path / "ours")
    with torch.no_grad():
        assert again(input_ids=ids, attention_mask=keep.long()).logits.equal(expected)
