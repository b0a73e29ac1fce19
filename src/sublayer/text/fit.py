"""How every trainer of the library is run."""

import json
from collections.abc import Iterable

from tokenizers import Tokenizer as Backend
from tokenizers import trainers


def fit(backend: Backend, texts: Iterable[str], trainer: trainers.Trainer) -> Backend:
    """Train, then forget the added tokens: the trainer makes the special ones findable in texts.

    They keep their ids in the vocabulary. The library has no way to take one out, so this goes through JSON.
    """
    backend.train_from_iterator(texts, trainer)
    content = json.loads(backend.to_str())
    content["added_tokens"] = []
    return Backend.from_str(json.dumps(content))
