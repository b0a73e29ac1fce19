import pytest
import torch

from sublayer.models.decoding import ContinuationDecoding, TranslationDecoding, WindowedDecoding
from sublayer.nn import Mask

kernels = pytest.mark.parametrize("kernel", ["fused", {"kind": "local", "window": 2}, "linear"], ids=str)


def test_translation_steps_are_the_teacher_forced_log_probabilities(tiny, ragged, position):
    model, keep = tiny(position=position).double(), ragged([6, 4])
    src, trg = torch.randint(13, (2, 6)), torch.randint(11, (2, 5))
    expected = model(src, trg, keep).log_softmax(-1)
    decoding = TranslationDecoding(model, src, Mask.padding(keep))
    for t, (start, end) in enumerate([(0, 1), (1, 2), (2, 4), (4, 5)]):
        step = decoding.step(trg[:, start:end])
        assert step.dtype == torch.float32 and step.shape == (2, 11), t
        torch.testing.assert_close(step.double(), expected[:, end - 1], atol=1e-5, rtol=0)


@kernels
@pytest.mark.parametrize("inference", [False, True])
def test_selected_translations_go_on_as_if_alone(tiny, ragged, kernel, inference):
    model, keep = tiny(kernel=kernel), ragged([6, 4, 5])
    src, trg = torch.randint(13, (3, 6)), torch.randint(11, (3, 4))
    decoding = TranslationDecoding(model.for_inference() if inference else model, src, Mask.padding(keep))
    decoding.select(torch.tensor([0, 2, 1]))
    src, trg, keep = (x[[0, 2, 1]] for x in (src, trg, keep))
    decoding.step(trg[:, :3])
    rows = torch.tensor([2, 0, 0, 1])
    decoding.select(rows)
    step = decoding.step(trg[rows, 3:])
    expected = model(src, trg, keep).log_softmax(-1)[rows, -1]
    torch.testing.assert_close(step, expected, atol=1e-5, rtol=0)


def test_a_beam_that_changes_places_reads_what_it_read(tiny, ragged):
    model, keep = tiny(), ragged([6, 4])
    src, trg = torch.randint(13, (2, 6)), torch.randint(11, (2, 4))
    decoding = TranslationDecoding(model, src, Mask.padding(keep))
    decoding.step(trg[:, :1])
    decoding.select(torch.tensor([0, 0, 1, 1]))
    texts = torch.cat((trg[[0, 0, 1, 1], :1], torch.tensor([[1], [2], [3], [4]])), 1)
    decoding.step(texts[:, 1:])
    held = decoding.cache.layers[0].cross_attn.kv.key
    rows = torch.tensor([1, 1, 3, 2])
    decoding.select(rows)
    assert decoding.cache.layers[0].cross_attn.kv.key is held
    step = decoding.step(trg[[0, 0, 1, 1], 3:])
    texts = torch.cat((texts[rows], trg[[0, 0, 1, 1], 3:]), 1)
    expected = model(src[[0, 0, 1, 1]], texts, keep[[0, 0, 1, 1]]).log_softmax(-1)[:, -1]
    torch.testing.assert_close(step, expected, atol=1e-5, rtol=0)
    decoding.select(torch.tensor([2, 3]))
    assert len(decoding.cache.layers[0].cross_attn.kv.key) == 1


@pytest.mark.parametrize("masked", [True, False])
def test_rows_of_one_source_share_its_keys_while_all_have_as_many(tiny, ragged, masked):
    model, keep = tiny(), ragged([6, 4, 5]) if masked else torch.ones(3, 6, dtype=torch.bool)
    src, trg = torch.randint(13, (3, 6)), torch.randint(1, 11, (9, 6))
    decoding = TranslationDecoding(model, src, Mask.padding(keep) if masked else None)
    decoding.select(torch.tensor([0, 0, 1, 1, 2, 2]))  # before the first step
    source, texts = torch.tensor([0, 0, 1, 1, 2, 2]), torch.empty(6, 0, dtype=torch.long)
    steps = [  # rows that go on, and rows of keys for them
        ([1, 0, 2, 2, 5, 4], 3),
        ([0, 1, 4, 5], 2),
        ([0, 1, 1, 2, 3, 3], 2),
        ([0, 3, 4, 5], 4),  # one of the first source, three of the last
        ([0, 1, 2, 3], 4),
        ([1, 3], 1),
    ]
    for t, (rows, held) in enumerate(steps):
        new = trg[: len(source), t : t + 1]
        texts = torch.cat((texts, new), 1)
        expected = model(src[source], texts, keep[source]).log_softmax(-1)[:, -1]
        torch.testing.assert_close(decoding.step(new), expected, atol=1e-5, rtol=0)
        rows = torch.tensor(rows)
        decoding.select(rows)
        source, texts = source[rows], texts[rows]
        assert len(decoding.cache.layers[0].cross_attn.kv.key) == held
    expected = model(src[source], torch.cat((texts, trg[:2, :1]), 1), keep[source]).log_softmax(-1)[:, -1]
    torch.testing.assert_close(decoding.step(trg[:2, :1]), expected, atol=1e-5, rtol=0)


def test_continuation_with_padding_on_the_left(tiny, ragged, position):
    model, keep = tiny("decoder", position=position), ragged([2, 5], left=True)
    prompt, more = torch.randint(11, (2, 5)), torch.randint(11, (2, 3))
    decoding = ContinuationDecoding(model, keep)
    steps = [decoding.step(prompt)] + [decoding.step(more[:, t : t + 1]) for t in range(3)]
    for row, length in enumerate([2, 5]):
        alone = model(torch.cat((prompt[row, 5 - length :], more[row]))[None])[0].log_softmax(-1)
        got = torch.stack([step[row] for step in steps])
        torch.testing.assert_close(got, alone[length - 1 :], atol=1e-5, rtol=0)


@kernels
def test_selected_continuations_go_on_as_if_alone(tiny, ragged, kernel):
    model, keep = tiny("decoder", kernel=kernel), ragged([2, 4], left=True)
    prompt, more = torch.randint(11, (2, 4)), torch.randint(11, (3, 2))
    decoding = ContinuationDecoding(model, keep)
    decoding.step(prompt)
    rows = torch.tensor([1, 0, 0])
    decoding.select(rows)
    decoding.step(more[:, :1])
    step = decoding.step(more[:, 1:])
    for i, row in enumerate(rows):
        text = torch.cat((prompt[row][keep[row]], more[i]))[None]
        expected = model(text)[0, -1].log_softmax(-1)
        torch.testing.assert_close(step[i], expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("prompt", [1, 5, 9, 30])
def test_a_windowed_decoding_looks_back_no_further_than_its_window(tiny, prompt):
    model, ids = tiny("decoder", position="learned", max_len=8), torch.randint(11, (2, prompt + 20))
    decoding = WindowedDecoding(model, 8)
    held = 0  # how many tokens the window holds, by the rule: full, it goes on from the last half
    for end in range(prompt, prompt + 20):
        new = ids[:, :end] if end == prompt else ids[:, end - 1 : end]
        held = held + new.size(1) if held + new.size(1) <= 8 else 4
        step = decoding.step(new)
        expected = model(ids[:, end - held : end])[:, -1].log_softmax(-1)
        torch.testing.assert_close(step, expected, atol=1e-5, rtol=0)


def test_rows_of_a_windowed_decoding_can_be_chosen(tiny):
    model, ids = tiny("decoder"), torch.randint(11, (3, 12))
    decoding = WindowedDecoding(model, 8)
    decoding.step(ids[:, :6])
    decoding.select(torch.tensor([2, 0]))
    for t in range(6, 12):
        step = decoding.step(ids[[2, 0], t : t + 1])
    alone = WindowedDecoding(model, 8)
    alone.step(ids[2:, :6])
    for t in range(6, 12):
        expected = alone.step(ids[2:, t : t + 1])
    torch.testing.assert_close(step[:1], expected, atol=1e-5, rtol=0)
