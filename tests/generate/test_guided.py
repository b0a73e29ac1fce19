"""The laws that hold for every rule: against enumeration, whatever stands in the batch, in every search."""

import pytest
import torch
from tests.toy import EOS, Markov, everything, random_tables, teacher_forced

from sublayer.errors import ShapeError
from sublayer.generate import (
    Forbidden,
    ForcedPrefix,
    Guided,
    MinLength,
    NoRepeat,
    Power,
    RepetitionPenalty,
    StopStrings,
    beam_search,
    greedy,
    sample,
)

ROWS, LIMIT = 5, 4
LEAST = [1, 2, 3, 4, 9]
PREFIXES = [[], [3], [1, 1], [2, 3, 1], [1, 2, 3, 3]]


def letters(tokens):
    return "".join(" aab"[token] if token < 4 else "?" for token in tokens)


def only(rows, given):
    return [given[row] for row in rows]


# What makes the rule for some rows of the batch, and whether a row may hold a text (with its EOS, if it has one).
FORBIDDING = {
    "MinLength": (
        lambda rows: MinLength(torch.tensor(only(rows, LEAST)), EOS),
        lambda row, text: EOS not in text or len(text) >= LEAST[row],
    ),
    "one MinLength": (lambda rows: MinLength(3, EOS), lambda row, text: EOS not in text or len(text) >= 3),
    "NoRepeat(1)": (lambda rows: NoRepeat(1), lambda row, text: len(set(text)) == len(text)),
    "NoRepeat(2)": (lambda rows: NoRepeat(2), lambda row, text: len(set(pairs(text))) == len(pairs(text))),
    "Forbidden": (
        lambda rows: Forbidden([[3], [1, 2], [2, 2], [2, 1, 1]]),
        lambda row, text: not any(phrase in letter(text) for phrase in ("3", "12", "22", "211")),
    ),
    "ForcedPrefix": (
        lambda rows: ForcedPrefix(only(rows, PREFIXES)),
        lambda row, text: list(text[: len(PREFIXES[row])]) == PREFIXES[row],
    ),
}
RULES = {name: make for name, (make, _) in FORBIDDING.items()} | {
    "RepetitionPenalty": lambda rows: RepetitionPenalty(1.5),
    "StopStrings": lambda rows: StopStrings(letters, ["ab", "bb"], EOS),
}
every_rule = pytest.mark.parametrize("make", RULES.values(), ids=RULES.keys())


def pairs(text):
    return list(zip(text, text[1:], strict=False))


def letter(text):
    return "".join(map(str, text))


def written(hypothesis):
    return hypothesis.tokens + (EOS,) * hypothesis.finished


def complete(tables, *rules):
    """All texts, the likeliest first: there are 121."""
    decoding = Markov(tables)
    options = dict(eos=EOS, beam=121, nbest=121, max_len=LIMIT, length=Power(0))
    return beam_search(Guided(decoding, *rules), decoding.start, **options)


@pytest.mark.parametrize("make, allowed", FORBIDDING.values(), ids=FORBIDDING.keys())
def test_all_texts_that_are_allowed_and_no_others_with_the_models_scores(make, allowed):
    tables = random_tables(ROWS, 5, seed=0)
    for row, found in enumerate(complete(tables, make(range(ROWS)))):
        texts = [(logp, tokens + (EOS,) * ended) for tokens, logp, ended in everything(tables[row], LIMIT)]
        expected = sorted(text for text in texts if allowed(row, text[1]))[::-1]
        assert [written(h) for h in found] == [text for _, text in expected]
        for h in found:
            assert h.token_logps == pytest.approx(teacher_forced(tables[row], written(h)), abs=1e-6)


def searches(tables, rule, keys):
    """Greedy, sampled and n-best hypotheses of each row."""
    start, options = Markov(tables).start, dict(eos=EOS, max_len=6)
    return zip(
        greedy(Guided(Markov(tables), rule), start, **options),
        sample(Guided(Markov(tables), rule), start, **options, seed=3, n=3, keys=keys, top_p=0.9),
        beam_search(Guided(Markov(tables), rule), start, **options, beam=3, nbest=3),
        strict=True,
    )


@every_rule
def test_a_row_depends_on_nothing_else_in_the_batch(make):
    tables = random_tables(ROWS, 5, seed=1)
    together = list(searches(tables, make(range(ROWS)), range(ROWS)))
    for rows in ([4, 2, 0, 3, 1], [3], [1, 1, 4]):
        assert list(searches(tables[rows], make(rows), rows)) == [together[row] for row in rows]


@every_rule
def test_each_rule_changes_something(make):
    tables = random_tables(ROWS, 5, seed=1)
    free = list(searches(tables, lambda logps, written, row: logps, range(ROWS)))
    assert list(searches(tables, make(range(ROWS)), range(ROWS))) != free


@every_rule
def test_it_follows_rows_that_are_left_out_reordered_and_repeated(make):
    tables = random_tables(ROWS, 5, seed=2)
    chosen = torch.tensor([3, 0, 3, 1])
    decoding = Guided(Markov(tables), make(range(ROWS)))
    decoding.step(decoding.decoding.start)
    decoding.step(torch.tensor([[1], [3], [3], [1], [2]]))
    decoding.select(chosen)
    got = decoding.step(torch.tensor([[2], [1], [1], [2]]))
    for i, text in enumerate([(1, 2), (1, 1), (1, 1), (3, 2)]):
        alone = Guided(Markov(tables[chosen[i], None]), make([int(chosen[i])]))
        for token in (tables.size(1) - 1, *text):
            expected = alone.step(torch.tensor([[token]]))
        assert torch.equal(got[i], expected[0])


@every_rule
def test_the_prefix_is_not_counted(make):
    tables = random_tables(1, 5, seed=3)
    tables = tables[:, :1, :1].expand_as(tables)  # what comes next depends on nothing
    short, long = (Guided(Markov(tables), make([2])) for _ in range(2))
    assert torch.equal(short.step(torch.tensor([[4]])), long.step(torch.tensor([[4, 1, 3, 1, 2, 2]])))
    assert torch.equal(short.step(torch.tensor([[1]])), long.step(torch.tensor([[1]])))


def test_rules_together_are_rules_around_each_other_in_their_order():
    tables = random_tables(ROWS, 5, seed=4)
    start, options = Markov(tables).start, dict(eos=EOS, max_len=6, beam=3, nbest=3)
    rules = MinLength(3, EOS), RepetitionPenalty(1.3), NoRepeat(2)
    nested = Guided(Guided(Guided(Markov(tables), rules[0]), rules[1]), rules[2])
    together = Guided(Markov(tables), *rules)
    assert beam_search(together, start, **options) == beam_search(nested, start, **options)


def test_rows_chosen_before_the_first_step_are_those_it_begins_with():
    tables = random_tables(ROWS, 5, seed=5)
    decoding = Guided(Markov(tables), MinLength(torch.tensor([1, 2]), EOS))
    decoding.select(torch.tensor([4, 2]))
    logps = decoding.step(torch.full((2, 1), 4))
    assert logps[:, EOS].tolist() == [pytest.approx(tables[4, 4, 4, EOS].item()), -torch.inf]


def test_contradicting_rules_cut_a_text_and_empty_a_beam():
    tables = random_tables(1, 5, seed=0)
    rules = MinLength(6, EOS), NoRepeat(1)
    (cut,) = greedy(Guided(Markov(tables), *rules), Markov(tables).start, eos=EOS, max_len=9)
    assert sorted(cut.tokens) == [1, 2, 3] and not cut.finished
    assert cut.token_logps == pytest.approx(teacher_forced(tables[0], cut.tokens), abs=1e-6)
    assert beam_search(Guided(Markov(tables), *rules), Markov(tables).start, eos=EOS, max_len=9, beam=3) == [[]]


def test_numbers_for_other_rows_are_refused():
    tables = random_tables(3, 5, seed=0)
    for rule, what in ((MinLength(torch.tensor([1, 2]), EOS), "lengths"), (ForcedPrefix([[1], [2]]), "tokens")):
        with pytest.raises(ShapeError, match=rf"has {what} for 2 rows, but there are 3 rows .* Give one a row"):
            greedy(Guided(Markov(tables), rule), Markov(tables).start, eos=EOS, max_len=3)
