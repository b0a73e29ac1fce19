import pytest

from sublayer.data.conll import Sentence, read_conll
from sublayer.errors import ConfigError, DataError


@pytest.fixture
def file(tmp_path):
    def file(content):
        path = tmp_path / "x.conll"
        path.write_text(content, encoding="utf-8", newline="")
        return path

    return file


def test_sentences_end_at_blank_lines_and_comments_are_passed_over(file):
    found = read_conll(file("# text = a b\na\tX\nb\tY\r\n\n\n#\tSYM\nd e\tZ"))
    assert found.items == [Sentence(("a", "b"), ("X", "Y"), 2), Sentence(("#", "d e"), ("SYM", "Z"), 6)]
    assert found.summary() == f"{found.name}: 2 sentences, 0 left out"


def test_every_bad_line_is_told_or_its_sentence_left_out(file):
    path = file("a\tX\nb\nc\tZ\n\nd\tX\te\n\nf\tX\n\n\tX\n")
    with pytest.raises(DataError) as error:
        read_conll(path)
    assert str(error.value).split("\n")[1:] == [
        "  - line 2: 1 column, expected 2 (tab-separated).",
        "  - line 5: 3 columns, expected 2 (tab-separated). Name two of them (columns) to read a file of more.",
        "  - line 9: empty word or tag",
    ]
    found = read_conll(path, skip_bad=True)
    assert [item.words for item in found] == [("f",)] and [line for line, _ in found.skipped] == [2, 5, 9]


def test_named_columns(file):
    path = file("1\tthe\tDET\n2\tcat\tNOUN\n")
    assert read_conll(path, columns=(2, 3)).items == [Sentence(("the", "cat"), ("DET", "NOUN"), 1)]
    with pytest.raises(DataError, match="3 columns, expected 4"):
        read_conll(path, columns=(2, 4))
    with pytest.raises(ConfigError, match="columns are counted from 1"):
        read_conll(path, columns=(0, 1))


def test_no_sentence_is_refused(file):
    with pytest.raises(DataError, match="no sentence is left of 1 lines"):
        read_conll(file("\n"))
