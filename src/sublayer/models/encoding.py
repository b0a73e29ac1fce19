"""Texts of any lengths through an encoder, without padding."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from sublayer.errors import ShapeError
from sublayer.models.encoder import EncoderModel
from sublayer.nn import Mask


def real_states(x: Tensor, mask: Mask | None) -> tuple[Tensor, Tensor]:
    """Of hidden states (B, T, D) those of the real tokens alone (N, D), text after text, and the lengths (B,) of the
    texts.

    The texts are the rows, without what the mask says is padding, or the documents of packed rows. ShapeError for a
    mask that does not say which tokens are real, and for rows without one.
    """
    if mask is not None and mask.documents is not None:
        lengths = torch.unique_consecutive(mask.documents, return_counts=True)[1]
        return x.flatten(0, 1), lengths
    if mask is None or mask.keep is None:
        return x.flatten(0, 1), torch.full((len(x),), x.size(1), device=x.device)
    if mask.keep.size(1) > 1 or mask.keep.size(2) > 1:
        raise ShapeError(
            f"the mask has keep {tuple(mask.keep.shape)}, and to read texts from their states it must tell real tokens "
            "from padding, (batch, tokens), and nothing else."
        )
    keep = mask.keep[:, 0, 0].expand(x.shape[:2])
    lengths = keep.sum(1)
    if empty := (lengths == 0).nonzero().flatten().tolist():
        raise ShapeError(f"rows {', '.join(map(str, empty))} (counted from 0) have no real token: leave them out.")
    return x[keep], lengths


@torch.inference_mode()
def encode_texts(model: EncoderModel, texts: Sequence[Sequence[int]], *, batch_tokens: int = 2048) -> list[Tensor]:
    """Of each text of n token ids its hidden states (n, D), in the order given, the model in eval mode.

    Texts are sorted by length and packed into rows of at most `batch_tokens`; a longer one is a row of its own. What a
    text gets does not depend on its neighbours. ShapeError naming every text without a token.
    """
    if empty := [number for number, text in enumerate(texts) if not len(text)]:
        raise ShapeError(
            f"texts {', '.join(map(str, empty))} (counted from 0) have no token, and an encoder needs one to stand on. "
            "Leave them out, or give each text its specials."
        )
    model.eval()
    device = next(model.parameters()).device
    states: dict[int, Tensor] = {}
    for rows in _cut([len(text) for text in texts], batch_tokens):
        lengths = [len(texts[row]) for row in rows]
        ids = torch.tensor([[token for row in rows for token in texts[row]]], device=device)
        mask = None if len(rows) == 1 else Mask.packed(lengths, device)  # one text needs no telling apart
        hidden = model(ids, mask)[0]
        states.update(zip(rows, hidden.split(lengths), strict=True))
    return [states[row] for row in range(len(texts))]


def _cut(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    rows: list[int] = []
    held = 0
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if rows and held + lengths[row] > batch_tokens:
            yield rows
            rows, held = [], 0
        rows.append(row)
        held += lengths[row]
    if rows:
        yield rows
