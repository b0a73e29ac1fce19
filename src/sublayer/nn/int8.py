"""A linear map with 8-bit weights."""

import torch
from torch import Tensor, nn

from sublayer.errors import ConfigError

STEPS = 127
SMALLEST = torch.finfo(torch.float32).tiny  # what a row of equal numbers is divided by


class Int8Linear(nn.Module):
    """y = W x + b where W and each x are whole numbers in steps of their own. Jacob et al. 2018, section 2.1.

        W_o ≈ s_o Q_o         Q_o from -127 to 127, s_o = max |W_o| / 127, for each output o
        x   ≈ min x + r q     q from 0 to 127, r = (max x - min x) / 127, for each row x
        y   = r s (Q q) + min x s (Q 1) + b

    A row's result does not depend on the rows beside it. Q q is exact on every CPU: those without VNNI add products in
    pairs in 16 bits, where 2 · 127 · 127 has room and an 8-bit q would have none.

    linear  where weights and bias come from

    forward: (…, in) -> (…, out), in the type of the input. ConfigError where there is no CPU with oneDNN.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        if linear.weight.device.type != "cpu" or not torch.backends.mkldnn.is_available():
            raise ConfigError(
                f"int8 needs a CPU and a torch that has oneDNN, and the weights are on {linear.weight.device}. "
                "Move the model with .cpu() first, or leave quantize out."
            )
        weight = linear.weight.detach().float()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.step = (weight.abs().amax(1) / STEPS).clamp(min=SMALLEST)
        numbers = (weight / self.step[:, None]).round().to(torch.int8)
        self.sums = self.step * numbers.sum(1)
        self.bias = torch.zeros(self.out_features) if linear.bias is None else linear.bias.detach().float()
        self.zeros = torch.zeros(self.out_features, dtype=torch.int32)
        self.numbers = torch.ops.onednn.qlinear_prepack(numbers, None)

    def forward(self, x: Tensor) -> Tensor:
        rows = x.float()
        least = rows.amin(-1, keepdim=True)
        step = ((rows.amax(-1, keepdim=True) - least) / STEPS).clamp(min=SMALLEST)
        q = ((rows - least) / step).round_().to(torch.uint8)
        y = torch.ops.onednn.qlinear_pointwise(
            q, 1.0, 0, self.numbers, self.step, self.zeros, None, 1.0, 0, torch.float32, "none", [], ""
        )
        return torch.addcmul(self.bias, y, step, out=y).addcmul_(least, self.sums).to(x.dtype)
