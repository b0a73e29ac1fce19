import re

from sublayer.tasks.describe import describe


def test_shapes_of_a_real_pass_with_parameters_and_what_is_tied(task):
    told = describe(task, "abc")
    assert told.startswith("source: char, 9 tokens, normalization nfc\ntarget: char, 9 tokens, normalization nfc\n")
    assert re.search(r"encoder\.layers\.0\.self_attn +scores +1 × 2 × 4 × 4\n", told)  # a b c </s>, 2 heads
    assert re.search(r"decoder\.layers\.0\.cross_attn +scores +1 × 2 × 4 × 4\n", told)  # <s> c b a
    assert re.search(r"EncoderDecoder +output +1 × 4 × 9\n", told)
    total = sum(p.numel() for p in task.model.parameters())
    assert f"parameters: {total:,} ({total / 256:.1f} KiB in fp32)" in told
    assert "tied: target_embed.tokens.weight = project.weight\n" in told
    assert re.search(r"operations in this pass: [\d,]+\npacking: training batches that would be .*$", told)


def test_the_parts_add_up_and_a_tied_matrix_counts_once(task):
    told = describe(task)
    total, parts = re.search(r"parameters: ([\d,]+) .*\n((?:  .*\n)+)", told).groups()
    numbers = [int(line.rpartition(" ")[2].replace(",", "")) for line in parts.splitlines()]
    assert sum(numbers) == int(total.replace(",", ""))


def test_without_a_text_a_few_tokens_of_each_vocabulary_go_through(task):
    assert re.search(r"source_embed +embedding +1 × 6 × 48\n", describe(task))  # 5 letters and </s>
