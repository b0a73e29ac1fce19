"""Norms. Any factory `norm(d_model) -> module` fits wherever one of these is passed."""

from collections.abc import Callable

from torch import nn

LayerNorm = nn.LayerNorm
"""(x - mean) / sqrt(var + eps) * weight + bias over the last axis. Ba et al. 2016, section 3."""

RMSNorm = nn.RMSNorm
"""x / sqrt(mean(x²) + eps) * weight over the last axis. Zhang and Sennrich 2019, section 4."""

NormFactory = Callable[[int], nn.Module]
