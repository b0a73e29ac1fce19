import pytest
import torch
from tests.toy import EOS, A, B, Markov, random_tables, t4, teacher_forced

from sublayer.errors import ConfigError
from sublayer.generate import GNMT, Power, beam_search, diverse_beam_search, early


def search(tables, **options):
    decoding = Markov(tables)
    return diverse_beam_search(decoding, decoding.start, **dict(eos=EOS, max_len=6) | options)


def written(hypothesis):
    return hypothesis.tokens + (EOS,) * hypothesis.finished


def plain(table, beam, groups, diversity, max_len, length):
    """The rule as the docstring tells it, for one sentence, in lists: the ended hypotheses of each group."""
    start = table.size(0) - 1
    running, ended = [[(0.0, (start, start))] for _ in range(groups)], [[] for _ in range(groups)]
    for n in range(1, max_len + 1):
        now = []
        for group in range(groups):
            continued = [
                (total + (logp - diversity * now.count(token)), -parent, -token, total + logp, (*text, token))
                for parent, (total, text) in enumerate(running[group])
                for token, logp in enumerate(table[text[-2], text[-1]].float().tolist())
                if logp > -torch.inf
            ]
            best = [c[-2:] for c in sorted(continued, reverse=True)]
            ended[group] += [
                (length(total, n), text[2:]) for total, text in best[:beam] if text[-1] == EOS or n == max_len
            ]
            running[group] = [c for c in best if c[1][-1] != EOS][:beam]
            reach = length.bound(max([total for total, _ in running[group]], default=-torch.inf), n, max_len)
            if max(ended[group], default=(-torch.inf,))[0] >= reach:
                running[group] = []
            now += [text[-1] for _, text in running[group]]
    return ended


def test_t4_by_hand():
    # The first group takes A at ln 0.5. For the second A costs 5, so EOS at ln 0.4 comes first, which is its best.
    first, second = search(t4(), beam=1, groups=2, diversity=5.0, length=Power(1), max_len=6)[0]
    assert first.tokens == (A, B) and first.score == pytest.approx(-0.536479, abs=1e-6)
    assert second.tokens == () and second.score == pytest.approx(-0.916291, abs=1e-6)
    # Never ending: A B A B against B A B A, as each group must leave what the other has just taken.
    found = search(t4(), beam=1, groups=2, diversity=50.0, never=(EOS,), max_len=4)[0]
    assert {h.tokens for h in found} == {(A, B, A, B), (B, A, B, A)}


@pytest.mark.parametrize("length", [GNMT(0.6), Power(1)], ids=str)
@pytest.mark.parametrize("diversity", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("beam, groups, vocab", [(1, 3, 7), (2, 2, 7), (3, 4, 7), (4, 3, 4)])
def test_it_does_what_the_docstring_says(beam, groups, vocab, diversity, length):
    tables = random_tables(6, vocab, seed=beam)
    found = search(tables, beam=beam, groups=groups, diversity=diversity, length=length, max_len=5)
    for table, hypotheses in zip(tables, found, strict=True):
        best = {max(ended) for ended in plain(table, beam, groups, diversity, 5, length)}
        assert [written(h) for h in hypotheses] == [text for _, text in sorted(best, reverse=True)]
        assert [h.score for h in hypotheses] == pytest.approx([score for score, _ in sorted(best, reverse=True)])


def test_one_group_and_no_diversity_are_a_plain_beam_search():
    tables = random_tables(6, 6, seed=0)
    expected = beam_search(Markov(tables), Markov(tables).start, eos=EOS, max_len=6, beam=3)
    assert search(tables, beam=3, groups=1, diversity=2.0) == expected
    assert search(tables, beam=3, groups=4, diversity=0.0) == expected


def test_more_diversity_gives_more_texts():
    tables = random_tables(30, 6, seed=0)
    numbers = [
        sum(map(len, search(tables, beam=2, groups=4, diversity=diversity))) for diversity in (0.0, 0.2, 1.0, 5.0)
    ]
    assert numbers[0] == 30 and numbers == sorted(numbers) and numbers[-1] > 70


@pytest.mark.parametrize("stop", [None, early])
def test_a_sentence_depends_on_nothing_else_in_the_batch(stop):
    tables, limits = random_tables(7, 6, seed=2), torch.tensor([1, 2, 3, 5, 8, 13, 21])
    options = dict(beam=2, groups=3, diversity=0.8) | ({"stop": stop} if stop else {})
    together = search(tables, max_len=limits, **options)
    for order in ([6, 3, 0, 5], [2], [4, 4, 1]):
        assert search(tables[order], max_len=limits[order], **options) == [together[row] for row in order]


def test_texts_are_distinct_and_sorted_and_scores_are_those_of_the_model():
    tables = random_tables(8, 6, seed=3)
    for table, hypotheses in zip(tables, search(tables, beam=2, groups=5, diversity=0.3, never=(B,)), strict=True):
        assert len({written(h) for h in hypotheses}) == len(hypotheses)
        assert [h.score for h in hypotheses] == sorted((h.score for h in hypotheses), reverse=True)
        for h in hypotheses:
            assert B not in h.tokens
            assert h.token_logps == pytest.approx(teacher_forced(table, written(h)), abs=1e-6)
            assert h.logp == sum(h.token_logps) and h.score == GNMT()(h.logp, len(h.token_logps))


def test_the_prefix_is_read_once_a_sentence_and_sentences_that_are_done_leave():
    tables = random_tables(3, 6, seed=0)
    decoding = Markov(tables)
    limits = torch.tensor([2, 1, 4])
    diverse_beam_search(
        decoding, decoding.start, eos=EOS, beam=2, groups=3, diversity=1.0, max_len=limits, never=(EOS,)
    )
    assert decoding.rows == [3, 12, 6, 6]


def test_no_sentences_no_hypotheses():
    start = torch.empty(0, 1, dtype=torch.long)
    options = dict(eos=EOS, beam=2, groups=2, diversity=1.0, max_len=3)
    assert diverse_beam_search(Markov(t4()), start, **options) == []


def test_numbers_that_cannot_be_are_all_named():
    with pytest.raises(ConfigError, match=r"(?s)beam=0: each group .*groups=0: there must .*diversity=-1: must be at"):
        search(t4(), beam=0, groups=0, diversity=-1)
    with pytest.raises(ConfigError, match="row 0 has max_len=0"):
        search(t4(), beam=1, groups=1, diversity=1.0, max_len=0)
