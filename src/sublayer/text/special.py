"""The four special tokens. They are ids, never spellings: nothing that stands in a text becomes one."""

PAD, UNK, BOS, EOS = SPECIALS = ("<pad>", "<unk>", "<s>", "</s>")
"""They hold the ids 0, 1, 2 and 3 of every vocabulary trained here."""

UNKNOWN = "\ufffd"
"""What an unknown token reads as: U+FFFD, the character Unicode has for what cannot be shown."""

FEATURE, PART = "\x1f", "\x1e"
"""What a feature token begins with inside a vocabulary: U+001F, the unit separator, or U+001E after a plus."""
