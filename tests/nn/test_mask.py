import pytest
import torch

from sublayer.errors import ShapeError
from sublayer.nn import Mask, MultiHeadAttention, attention


def seen(mask, queries, keys):
    return mask.visible(queries, keys).expand(-1, -1, queries, keys).int().squeeze().tolist()


# -- reading what the tutorials pass ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape, keep", [((2, 5), (2, 1, 1, 5)), ((2, 4, 5), (2, 1, 4, 5)), ((2, 3, 4, 5), (2, 3, 4, 5))]
)
def test_one_rule_a_rank(shape, keep):
    mask = torch.rand(shape) < 0.5
    assert Mask.of(mask).keep.shape == keep
    assert Mask.of(mask).keep.equal(mask.view(keep))


@pytest.mark.parametrize("shape", [(5,), (1, 1, 2, 4, 5), ()])
def test_any_other_rank_is_refused_naming_the_expected_ones(shape):
    words = r"mask has shape .*2-D mask is read as \(batch, keys\), a 3-D one as \(batch, queries, keys\), a 4-D"
    with pytest.raises(ShapeError, match=words):
        Mask.of(torch.ones(shape, dtype=torch.bool))


def test_nothing_and_a_mask_pass_through_untouched():
    mask = Mask(causal=True)
    assert Mask.of(mask) is mask
    assert Mask.of(None) is None


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
def test_whole_numbers_0_and_1_are_read_as_bool(dtype):
    keep = torch.tensor([[True, False, True]])
    assert Mask.of(keep.to(dtype)).keep.equal(Mask.of(keep).keep)


def test_other_whole_numbers_are_refused():
    with pytest.raises(ShapeError, match=r"int64 .*other than 0 and 1\. Write mask\.bool\(\)"):
        Mask.of(torch.tensor([[2, 0, 1]]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_floats_of_zero_and_minus_infinity_are_read_as_keep(dtype):
    mask = torch.tensor([[0.0, -torch.inf, 0.0]], dtype=dtype)
    assert Mask.of(mask).keep.flatten().tolist() == [True, False, True]
    assert Mask.of(torch.full((1, 3), -torch.inf)).keep.flatten().tolist() == [False] * 3


@pytest.mark.parametrize("mask", [torch.ones(1, 3), torch.zeros(1, 3), torch.tensor([[1.0, 0.0, 1.0]])])
def test_floats_of_zero_and_one_are_refused_with_what_to_write(mask):
    words = r"holding only 0 and 1.*Write mask\.bool\(\) if 1 means 'may be seen', or mask == 0 if it was to be added"
    with pytest.raises(ShapeError, match=words):
        Mask.of(mask)


@pytest.mark.parametrize("value", [-1e9, -1e4, 0.5, torch.inf, torch.nan])
def test_other_floats_are_refused_with_what_to_write(value):
    with pytest.raises(ShapeError, match=r"other than 0 and -inf\..*Mask\(bias=mask\); to hide, pass bool"):
        Mask.of(torch.tensor([[0.0, value]]))


def test_a_keep_that_is_no_four_dimensional_bool_is_refused():
    words = r"got bool of shape \(2, 5\), expected bool of shape .*Mask\.padding\(keep\)"
    with pytest.raises(ShapeError, match=words):
        Mask(keep=torch.ones(2, 5, dtype=torch.bool))
    with pytest.raises(ShapeError, match=r"got float32 of shape \(1, 1, 1, 5\)"):
        Mask(keep=torch.ones(1, 1, 1, 5))


def test_a_negative_window_is_refused():
    with pytest.raises(ShapeError, match=r"window=-1\) is negative: write how many positions away"):
        Mask(window=-1)


# -- what may be seen --------------------------------------------------------------------------------------------


def test_lengths_count_from_the_left():
    mask = Mask.lengths(torch.tensor([2, 0, 3]))
    assert mask.keep[:, 0, 0].int().tolist() == [[1, 1, 0], [0, 0, 0], [1, 1, 1]]
    assert Mask.lengths(torch.tensor([2]), longest=4).keep[:, 0, 0].int().tolist() == [[1, 1, 0, 0]]


def test_causal_over_equal_lengths():
    assert seen(Mask(causal=True), 3, 3) == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]


def test_the_last_query_lines_up_with_the_last_key():
    assert seen(Mask(causal=True), 2, 4) == [[1, 1, 1, 0], [1, 1, 1, 1]]
    assert Mask(causal=True).visible(1, 4) is None
    assert seen(Mask(causal=True), 4, 2) == [[0, 0], [0, 0], [1, 0], [1, 1]]


def test_a_window_counts_positions_away():
    assert seen(Mask(window=1), 3, 4) == [[1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]
    assert seen(Mask(window=0), 3, 3) == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert seen(Mask(causal=True, window=1), 1, 4) == [0, 0, 1, 1]


def test_documents_see_themselves_only():
    mask = Mask(documents=torch.tensor([[0, 0, 1]]), causal=True)
    assert seen(mask, 3, 3) == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    assert seen(mask, 1, 3) == [0, 0, 1]


def test_queries_of_another_row_see_the_keys_of_their_own_document():
    mask = Mask(documents=torch.tensor([[4, 4, 7]]), query_documents=torch.tensor([[7, 4, 5]]))
    assert seen(mask, 3, 3) == [[0, 0, 1], [1, 1, 0], [0, 0, 0]]


def test_packed_is_one_row_of_documents():
    assert seen(Mask.packed([2, 1]), 3, 3) == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    "more", [dict(documents=None), dict(causal=True), dict(window=2)], ids=["no keys", "causal", "window"]
)
def test_documents_of_queries_elsewhere_know_no_order(more):
    documents = torch.zeros(1, 3)
    words = r"query_documents=…\) is for queries that read another row.*needs documents=… and takes no causal or window"
    with pytest.raises(ShapeError, match=words):
        Mask(**(dict(documents=documents, query_documents=documents) | more))


def test_nothing_said_is_nothing_hidden():
    assert Mask().visible(3, 3) is None


# -- verbs -------------------------------------------------------------------------------------------------------


def test_and_is_what_both_allow():
    left = Mask.padding(torch.tensor([[1, 1, 1, 0]]))
    right = Mask(causal=True, window=1)
    assert seen(left & right, 4, 4) == [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0]]
    assert seen(right & left, 4, 4) == seen(left & right, 4, 4)
    assert (left & None) is left


def test_and_keeps_the_smaller_window_and_adds_biases_up():
    bias = torch.randn(1, 2, 3, 3)
    both = Mask(window=3, bias=bias) & Mask(window=1, bias=2 * bias)
    assert both.window == 1
    torch.testing.assert_close(both.bias, 3 * bias)
    assert (Mask(bias=bias) & Mask(causal=True)).bias is bias
    assert (Mask(causal=True) & Mask(bias=bias)).bias is bias


def test_documents_of_both_are_refused():
    packed = Mask(documents=torch.zeros(1, 3))
    assert (Mask(causal=True) & packed).documents is packed.documents
    with pytest.raises(ShapeError, match="Both masks carry documents: give them to one of the two"):
        packed & packed


def test_and_keeps_the_documents_of_both_sides():
    packed = Mask(documents=torch.zeros(1, 3), query_documents=torch.zeros(1, 2))
    for both in (packed & Mask(bias=torch.zeros(1, 1, 2, 3)), Mask(bias=torch.zeros(1, 1, 2, 3)) & packed):
        assert both.documents is packed.documents and both.query_documents is packed.query_documents


def test_a_mask_seen_from_another_row_keeps_what_is_real_and_the_documents():
    source, target = Mask.packed([2, 1]), Mask.packed([1, 3]) & Mask(causal=True)
    assert seen(source.seen_from(target), 4, 3) == [[1, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1]]
    padded = Mask.padding(torch.tensor([[1, 1, 0]])) & Mask(causal=True, window=1)
    assert seen(padded.seen_from(Mask(causal=True)), 1, 3) == [1, 1, 0]


def test_one_side_packed_and_the_other_not_is_refused():
    packed = Mask.packed([2, 1])
    with pytest.raises(ShapeError, match="The target is not packed and the other side is: give both masks documents"):
        packed.seen_from(Mask(causal=True))
    with pytest.raises(ShapeError, match="The source is not packed and the other side is"):
        Mask(causal=True).seen_from(packed)


def test_runs_are_those_of_a_mask_that_says_nothing_but_documents():
    packed = Mask.packed([2, 2, 1])
    assert [tuple(run) for run in (packed & Mask(causal=True, window=3)).runs] == [(2, 2, 2), (1, 1, 1)]
    assert [tuple(run) for run in packed.seen_from(Mask.packed([1, 1, 4])).runs] == [(2, 1, 2), (1, 4, 1)]
    for other in (Mask.padding(torch.ones(1, 5)), Mask(bias=torch.zeros(1, 1, 5, 5))):
        assert (packed & other).runs is None
    assert Mask(causal=True).runs is None


def test_select_takes_rows_of_every_part_that_has_them():
    keep, documents = torch.rand(3, 5) < 0.5, torch.randint(3, (3, 5))
    shared, own = torch.randn(1, 2, 4, 5), torch.randn(3, 2, 4, 5)
    rows = torch.tensor([2, 0, 0, 1])
    mask = (Mask.padding(keep) & Mask(causal=True, window=2, documents=documents, bias=own)).select(rows)
    assert mask.keep[:, 0, 0].equal(keep[rows])
    assert mask.documents.equal(documents[rows])
    assert mask.bias.equal(own[rows])
    assert mask.causal and mask.window == 2
    assert Mask(bias=shared).select(rows).bias is shared
    across = Mask(documents=documents, query_documents=documents + 1).select(rows)
    assert across.query_documents.equal(documents[rows] + 1)


# -- positions ---------------------------------------------------------------------------------------------------


def test_positions_count_real_tokens_whatever_the_side():
    left = Mask.padding(torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]))
    assert left.positions(5).tolist() == [[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]]
    assert left.positions(2).tolist() == [[1, 2], [3, 4]]
    right = Mask.padding(torch.tensor([[1, 1, 0]]))
    assert right.positions(3)[0, :2].tolist() == [0, 1]


def test_positions_restart_with_each_document():
    packed = Mask(documents=torch.tensor([[7, 7, 7, 3, 3, 9], [1, 1, 2, 2, 2, 2]]), causal=True)
    assert packed.positions(6).tolist() == [[0, 1, 2, 0, 1, 0], [0, 1, 0, 1, 2, 3]]
    assert packed.positions(2).tolist() == [[1, 0], [2, 3]]


def test_positions_are_plain_where_the_mask_says_no_more():
    assert Mask(causal=True).positions(3) is None
    assert Mask(keep=torch.ones(2, 1, 3, 3, dtype=torch.bool)).positions(3) is None


# -- which masks fit ---------------------------------------------------------------------------------------------


def test_the_tutorials_mask_a_head_is_refused_with_what_to_write():
    words = (
        r"mask has shape \(8, 1, 4, 4\) and the scores are \(2, 8, 4, 4\) = \(batch, heads, queries, keys\)\."
        r".*3-D one as \(batch, queries, keys\).*for one mask a head write Mask\(keep=mask\[None\]\)"
    )
    heads, x = torch.randn(2, 8, 4, 8), torch.randn(2, 4, 64)
    mask = torch.zeros(8, 4, 4, dtype=torch.bool)
    with pytest.raises(ShapeError, match=words):
        attention(heads, heads, heads, mask)
    with pytest.raises(ShapeError, match=words):
        MultiHeadAttention(64, 8)(x, x, x, mask)
    assert MultiHeadAttention(64, 8)(x, x, x, Mask(keep=mask[None])).shape == x.shape


def test_a_causal_matrix_passed_as_two_dimensional_is_refused_with_what_to_write():
    x = torch.randn(2, 4, 16)
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    with pytest.raises(ShapeError, match=r"causal \(queries, keys\) mask write Mask\(causal=True\) or mask\[None\]"):
        MultiHeadAttention(16, 2)(x, x, x, causal)
    attend = MultiHeadAttention(16, 2).eval()
    torch.testing.assert_close(attend(x, x, x, causal[None]), attend(x, x, x, Mask(causal=True)))


@pytest.mark.parametrize(
    "mask",
    [
        Mask.padding(torch.ones(3, 5)),
        Mask.padding(torch.ones(2, 4)),
        Mask.padding(torch.ones(2, 1)),
        Mask(bias=torch.zeros(1, 3, 4, 5)),
        Mask(bias=torch.zeros(1, 2, 1, 1)),
        Mask(documents=torch.zeros(3, 5)),
        Mask(documents=torch.zeros(2, 4)),
        Mask(documents=torch.zeros(2, 5), query_documents=torch.zeros(2, 5)),
        Mask(documents=torch.zeros(2, 5), query_documents=torch.zeros(2, 1)),
        Mask(documents=torch.zeros(2, 5), query_documents=torch.zeros(3, 4)),
    ],
)
def test_a_part_that_does_not_fit_is_refused(mask):
    with pytest.raises(ShapeError, match=r"the scores are \(2, 2, 4, 5\)"):
        mask.check(2, 2, 4, 5)


def test_parts_that_broadcast_fit():
    keep = torch.ones(1, 5)
    (Mask.padding(keep) & Mask(bias=torch.zeros(1, 2, 4, 5), documents=keep)).check(2, 2, 4, 5)
    Mask(documents=keep, query_documents=torch.ones(2, 4)).check(2, 2, 4, 5)


# -- cleaning ----------------------------------------------------------------------------------------------------


def test_the_same_in_numbers():
    mask = Mask.lengths(torch.tensor([3, 2])).as_bias(torch.float32)
    assert mask.keep is None
    assert mask.bias.tolist() == [[[[0.0, 0.0, 0.0]]], [[[0.0, 0.0, -torch.inf]]]]
    assert mask.as_bias(torch.float32) is mask


def test_clean_zeroes_what_no_query_may_see():
    x = torch.ones(1, 3, 2)
    x[0, 1] = torch.nan
    pairs = torch.tensor([[[1, 0, 0], [1, 0, 1], [1, 0, 1]]])
    for mask in (Mask.of(torch.tensor([[1, 0, 1]])), Mask.of(pairs)):
        assert mask.clean(x).tolist() == [[[1, 1], [0, 0], [1, 1]]]
    assert Mask(causal=True).clean(x) is x


def test_clean_takes_the_last_keys_when_only_new_ones_come():
    mask = Mask.padding(torch.tensor([[0, 1, 1, 0]]))
    assert mask.clean(torch.ones(1, 2, 1)).flatten().tolist() == [1, 0]
