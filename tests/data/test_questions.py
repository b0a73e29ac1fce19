import json

import pytest

from sublayer.data.questions import Stretch, read_questions
from sublayer.errors import ConfigError, DataError


def test_columns(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("who?\tthe cat sat\tcat\t4\nwhen?\tthe cat sat\t\t-1\n\t\t\t\n\nx?\t \t\t-1\n", encoding="utf-8")
    found = read_questions(path)
    assert [item.answers for item in found] == [(Stretch(4, 7),), ()] and found[0].texts == ["cat"]
    assert found.summary().endswith("2 questions, 3 left out")
    assert found.skipped == [(3, "empty line"), (4, "empty line"), (5, "empty context")]
    path.write_text("1\tcat\tthe cat\t4\tq?\n", encoding="utf-8")
    assert read_questions(path, columns=[5, 3, 2, 4])[0].texts == ["cat"]


def test_json_lines_in_the_form_of_squad(tmp_path):
    path = tmp_path / "a.jsonl"
    records = [
        {"question": "q", "context": "a b a", "answers": {"text": ["a", "a", "a b"], "answer_start": [0, 0, 0]}},
        {"question": "q", "context": "a b a", "answers": {"text": [], "answer_start": []}, "id": 1},
    ]
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    assert [item.answers for item in read_questions(path)] == [((0, 1), (0, 3)), ()]


@pytest.mark.parametrize(("line", "words"), [
    ("q\tc", "2 columns, expected 4: question, context, answer, start"),
    ("q\tthe cat\tcat\t3", "the answer 'cat' does not stand at character 3 of the context: it stands at 4"),
    ("q\tthe cat\tdog\t3", "the answer 'dog' does not stand at character 3 of the context: the context does not"),
    ("q\tthe cat\tcat\tx", "start is 'x', expected a number"),
    ("q\tthe cat\t\t2", "answer '' with start 2: no answer is an empty one with start -1"),
])  # fmt: skip
def test_bad_lines_are_named_together(tmp_path, line, words):
    path = tmp_path / "a.tsv"
    path.write_text(f"who?\tthe cat\tcat\t4\n{line}\n{line}\n", encoding="utf-8")
    with pytest.raises(DataError, match="2 of 3 lines cannot be read") as error:
        read_questions(path)
    assert f"line 2: {words}" in str(error.value) and f"line 3: {words}" in str(error.value)
    assert len(read_questions(path, skip_bad=True).skipped) == 2


def test_bad_json_and_bad_columns(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"question": "q"}\n{"question": "q", "context": 1, "answers": {"text": [], "answer_start": []}}\n',
        encoding="utf-8",
    )
    with pytest.raises(
        DataError, match="line 1: expected .*KeyError.*\n.*line 2: question, context and answers are str"
    ):
        read_questions(path)
    with pytest.raises(ConfigError, match=r"columns=\[1, 2\]: name 4 columns"):
        read_questions(path, columns=[1, 2])
