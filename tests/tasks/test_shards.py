import json
from functools import partial

import pytest
from tests.runs import command, reverse_run

from sublayer.data import read_lines
from sublayer.errors import ConfigError, DataError
from sublayer.tasks import shards
from sublayer.tasks.shards import Output, Shard


@pytest.fixture
def file(tmp_path):
    (tmp_path / "in.txt").write_text("".join(f"{n}\n" for n in range(10)), encoding="utf-8")
    return tmp_path / "in.txt"


@pytest.mark.parametrize("of", [1, 2, 3, 7, 10, 12])
def test_the_parts_are_the_file_in_its_order(file, of):
    parts = [Shard(number, of).cut(partial(read_lines, file)) for number in range(1, of + 1)]
    lines = [list(part) for _, part in parts]
    assert [line for part in lines for line in part] == [str(n) for n in range(10)]
    assert max(map(len, lines)) - min(map(len, lines)) <= 1
    assert all(part[0] == str(first - 1) for (first, _), part in zip(parts, lines, strict=True) if part)


@pytest.mark.parametrize("text", ["", "0/4", "5/4", "1/0", "a/b", "1", "-1/2", "1/2/3"])
def test_what_is_no_part_is_refused(text):
    with pytest.raises(ConfigError, match=r"write i/n with i from 1 to n, for example 1/4 … 4/4"):
        Shard.read(text)


class Answers:
    """Two lines for each; ends the process's work where it comes to `dies`."""

    def __init__(self, dies=None):
        self.dies, self.asked = dies, []

    def __call__(self, lines, first):
        for number, line in enumerate(lines, first):
            self.asked.append(line)
            if line == self.dies:
                raise KeyboardInterrupt
            yield f"{number}\t{line}"
            yield f"{number}\tor {line}"


WHOLE = "".join(f"{n + 1}\t{n}\n{n + 1}\tor {n}\n" for n in range(10))


def lines():
    return (str(n) for n in range(10))


def test_stopped_it_goes_on_where_it_was_last_noted(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "AT_ONCE", 4)
    out, about = tmp_path / "out.txt", {"a": 1}
    with pytest.raises(KeyboardInterrupt):
        Output(out, about).write(lines(), Answers(dies="6"))
    assert not out.exists()
    with (tmp_path / "out.txt.part").open("a", encoding="utf-8") as file:
        file.write("half a li")
    again = Answers()
    Output(out, about).write(lines(), again)
    assert again.asked == ["4", "5", "6", "7", "8", "9"]
    assert out.read_text("utf-8") == WHOLE and list(tmp_path.iterdir()) == [out]
    with pytest.raises(ConfigError, match="out.txt is there already, and whole: remove it, or choose another --out"):
        Output(out, about)


def test_the_beginning_of_other_answers_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "AT_ONCE", 4)
    with pytest.raises(KeyboardInterrupt):
        Output(tmp_path / "o", {"beam": 1}).write(lines(), Answers(dies="6"))
    with pytest.raises(ConfigError, match="o.part is the beginning of other answers: .*'beam': 1.* are .*'beam': 2"):
        Output(tmp_path / "o", {"beam": 2})


def test_lines_without_an_answer_are_told_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "AT_ONCE", 4)

    def answers(some, first):
        yield from some
        if "5" in some:
            raise DataError(f"line {first + 1} is too long")

    with pytest.raises(DataError, match="Some lines have no answer:\n  - line 6 is too long"):
        Output(tmp_path / "o", {}).write(lines(), answers)
    assert (tmp_path / "o").read_text("utf-8") == "".join(f"{n}\n" for n in range(10))


def test_the_command_line(tmp_path):
    words = ["ab", "", "cde", "ba", "e"]
    file = tmp_path / "in.txt"
    file.write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    whole = command("predict", reverse_run(), file, "--json").out
    for number in (1, 2):
        out = tmp_path / f"{number}.jsonl"
        said = command("predict", reverse_run(), file, "--json", "--shard", f"{number}/2", "--out", out)
        assert said == (0, "", "")
    assert "".join((tmp_path / f"{n}.jsonl").read_text("utf-8") for n in (1, 2)) == whole
    assert [json.loads(line)["line"] for line in whole.splitlines()] == [1, 2, 3, 4, 5]
    said = command("predict", reverse_run(), "--shard", "1/2", stdin=b"ab\n")
    assert said.code == 2 and "--shard go by the lines of a file: name one, not standard input." in said.err
