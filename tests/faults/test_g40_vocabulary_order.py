"""G40: vocabulary order must not differ between runs."""

import os
import subprocess
import sys

import pytest

from sublayer.text import KINDS, train_tokenizer

# Words that tie in count, parts that tie in likelihood: two of the library's trainers walk over hash tables.
CORPUS = [a + b + c + " " + c + a for a in "abcde" for b in "bcdé你" for c in "acf#;"] * 2
SCRIPT = """
import random, sys
from sublayer.text import KINDS, train_tokenizer
corpus = sys.stdin.buffer.read().decode("utf-8").split("\\n")
random.Random(int(sys.argv[1])).shuffle(corpus)
for kind in KINDS:
    sys.stdout.buffer.write(train_tokenizer(kind, corpus, vocab_size=320).to_json().encode("utf-8"))
"""


def test_files_are_byte_identical_for_every_hash_seed_line_order_and_thread_count():
    def run(seed, parallel):
        env = os.environ | {"PYTHONHASHSEED": str(seed), "TOKENIZERS_PARALLELISM": parallel}
        text = "\n".join(CORPUS).encode("utf-8")
        return subprocess.run(
            [sys.executable, "-c", SCRIPT, str(seed)], input=text, env=env, check=True, capture_output=True
        ).stdout

    here = "".join(train_tokenizer(kind, CORPUS, vocab_size=320).to_json() for kind in KINDS)
    assert run(0, "true") == run(1, "false") == here.encode("utf-8")


def test_ties_go_by_code_point():
    tokenizer = train_tokenizer("word", ["a b b a c"])
    assert [tokenizer.piece(i) for i in range(4, len(tokenizer))] == ["a", "b", "c"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_lines_in_another_order_give_the_same_file(kind):
    turned = train_tokenizer(kind, reversed(CORPUS), vocab_size=320)
    assert turned.to_json() == train_tokenizer(kind, CORPUS, vocab_size=320).to_json()
