"""A prompt continues otherwise when it is padded on the left for the sake of a neighbour."""

import torch

from sublayer.models.decoding import ContinuationDecoding


def greedy(model, prompt, keep, steps=8):
    decoding, tokens, scores = ContinuationDecoding(model, keep), prompt, []
    for _ in range(steps):
        scores.append(decoding.step(tokens))
        tokens = scores[-1].argmax(-1, keepdim=True)
    scores = torch.stack(scores, 1)
    return scores.argmax(-1), scores


def test_prompts_of_two_and_seven_tokens(tiny, position, ragged):
    model, keep, prompts = tiny("decoder", position=position), ragged([2, 7], left=True), torch.randint(11, (2, 7))
    for dtype in (torch.float32, torch.float64):
        model.to(dtype)
        tokens, scores = greedy(model, prompts, keep)
        for row in range(2):
            alone, alone_scores = greedy(model, prompts[row][keep[row]][None], None)
            torch.testing.assert_close(scores[row], alone_scores[0], atol=1e-5, rtol=0)
            assert dtype == torch.float32 or tokens[row].equal(alone[0])
