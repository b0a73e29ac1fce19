"""From a file of pairs to exact answers, in seconds on one core."""

from tests.runs import command, reverse_run, reverse_task

from sublayer.data import read_pairs


def test_words_it_has_never_seen_are_all_turned_round():
    run = reverse_run()
    test = read_pairs(run.parent / "test.tsv")
    seen = {pair.source for name in ("train", "valid") for pair in read_pairs(run.parent / f"{name}.tsv")}
    assert len(test) == 100 and not seen & {pair.source for pair in test}
    (exact,) = reverse_task().evaluate(test.items, ["exact"])
    assert exact.value == 100.0


def test_the_same_from_the_command_line():
    run = reverse_run()
    said = command("evaluate", run, run.parent / "test.tsv", "--metric", "exact", "--bootstrap", 0)
    assert said == (
        0,
        "exact 100.00, 100 items, nrefs:1|ref:any\n",
        f"{run.parent / 'test.tsv'}: 100 pairs, 0 left out\n",
    )
