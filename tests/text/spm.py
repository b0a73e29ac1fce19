"""Small SentencePiece files, trained here."""

import io
import random
from functools import cache

import sentencepiece

TEXTS = (
    "The quick brown fox — jumps, over 13 lazy dogs!",
    "Привет, мир! Ёлка и съезд 1,000.50 $ % ^& *()",
    "你好，世界。今日は良い天気ですね。한국어 텍스트",
    "🦊 emoji 👩‍👩‍👧 flag 🇫🇷 ok",
    "  leading   and  trailing  ",
    "tab\tand\nnewline\u00a0nbsp\u3000wide \u200b zero",
    "ＦＵＬＬ ｗｉｄｔｈ ﬁne ½ ① Ünïcödé é e\u0301 ñ",
    "",
    " ",
    "▁under ▁▁x",
    "<s> </s> <unk> a<s>b <0x41> <pad> < s>",
    "<sep>mid<sep> dle <sep>",
    "unseen: ₿ 𓀀 ꙮ zqzqjx",
)


@cache
def trained(**settings):
    """The bytes of a file, trained on words of the texts in random order, so that no two scores are the same."""
    rng, words = random.Random(0), [*" ".join(TEXTS[:-3]).split(), "<", "a<b>", "0x41>", "/s>", "unk>"]
    lines = [" ".join(rng.sample(words, 12)) for _ in range(300)]
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
        **settings,
    )
    return written.getvalue()
