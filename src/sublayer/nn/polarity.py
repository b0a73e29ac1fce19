"""Bool from what the tutorials pass as a mask: True = may be seen. What could mean either is refused."""

import torch
from torch import Tensor

from sublayer.errors import ShapeError


def kind_of(x: Tensor) -> str:
    return f"{str(x.dtype).removeprefix('torch.')} of shape {tuple(x.shape)}"


def as_bool(mask: Tensor) -> Tensor:
    """Bool as it is, whole numbers 0 and 1, floats 0 (seen) and -inf (hidden). ShapeError for all others."""
    if mask.dtype == torch.bool:
        return mask
    if not mask.is_floating_point():
        if ((mask == 0) | (mask == 1)).all():
            return mask == 1
        raise ShapeError(
            f"mask is {kind_of(mask)} with values other than 0 and 1. Write mask.bool(), True = may be seen."
        )
    hidden = torch.isneginf(mask)
    if hidden.any() and (hidden | (mask == 0)).all():
        return ~hidden
    if ((mask == 0) | (mask == 1)).all():
        raise ShapeError(
            f"mask is {kind_of(mask)} holding only 0 and 1: is 0 'hidden' or 'nothing added'? "
            "Write mask.bool() if 1 means 'may be seen', or mask == 0 if it was to be added to the scores."
        )
    raise ShapeError(
        f"mask is {kind_of(mask)} with values other than 0 and -inf. "
        "To add numbers to the scores write Mask(bias=mask); to hide, pass bool with True = may be seen."
    )
