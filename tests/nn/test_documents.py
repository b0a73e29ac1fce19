import torch

from sublayer.nn.documents import Run, numbered, restarts, runs


def test_numbers_of_documents_of_these_lengths():
    assert numbered([3, 1, 2]).tolist() == [[0, 0, 0, 1, 2, 2]]
    assert numbered([4]).tolist() == [[0, 0, 0, 0]]


def test_each_document_is_counted_from_its_first_position():
    assert restarts(torch.tensor([[7, 7, 7, 3, 3, 9], [1, 1, 2, 2, 2, 2]])).tolist() == [
        [0, 1, 2, 0, 1, 0],
        [0, 1, 0, 1, 2, 3],
    ]


def test_equally_long_documents_that_follow_each_other_are_a_run():
    alone = numbered([2, 2, 2, 1, 3, 3, 2])
    assert runs(alone, alone) == [Run(3, 2, 2), Run(1, 1, 1), Run(2, 3, 3), Run(1, 2, 2)]


def test_a_run_needs_the_same_length_on_both_sides():
    assert runs(numbered([1, 1, 2, 2]), numbered([3, 3, 3, 4])) == [Run(2, 1, 3), Run(1, 2, 3), Run(1, 2, 4)]


def test_rows_stand_end_to_end_and_no_document_goes_on_in_the_next():
    documents = torch.tensor([[0, 0, 1], [1, 1, 1], [5, 6, 6]])
    assert runs(documents, documents) == [Run(1, 2, 2), Run(1, 1, 1), Run(1, 3, 3), Run(1, 1, 1), Run(1, 2, 2)]


def test_documents_that_are_not_alike_on_both_sides_have_no_runs():
    torn = torch.tensor([[0, 0, 1, 0]])
    assert runs(torn, torn) is None
    assert runs(numbered([1, 2]), torch.tensor([[1, 1, 0]])) is None  # another order
    assert runs(numbered([1, 2]), numbered([2])) is None  # a document that has no keys
    assert runs(numbered([2]), numbered([1, 1])) is None  # one that nobody reads
    assert runs(numbered([2]), torch.zeros(2, 2, dtype=torch.long)) is None  # another number of rows
