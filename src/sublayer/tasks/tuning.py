"""What of a task's model learns."""

from torch import nn

from sublayer.models.heads import EncoderWithHead
from sublayer.nn import adapt
from sublayer.tasks.sections import Train
from sublayer.train.tuning import freeze


def tune(model: nn.Module, train: Train) -> None:
    """As `train.freeze` and `train.lora` say; with adapters nothing else of the body learns."""
    if train.lora is not None:
        (model.body if isinstance(model, EncoderWithHead) else model).requires_grad_(False)
        adapt(model, train.lora.rank, train.lora.alpha, train.lora.where)
    freeze(model, train.freeze)
