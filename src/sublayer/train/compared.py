"""Losses that hold what a model says against what else has been said: by a teacher, or by itself a second time."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sublayer.train.loss import Loss, cross_entropy

Scores = Callable[[Any, Any], tuple[Tensor, Tensor]]
"""Called with a model and a batch: logits (N, C), and which class is right in each row (N,)."""


class Distilled:
    """(1 - w) · cross-entropy + w · T² · KL(teacher ‖ model), both distributions softened by the temperature T.

    Hinton et al. 2015, section 2; T² keeps the gradients of both parts in proportion. For tokens: Kim and Rush 2016,
    section 3.1.
    """

    def __init__(
        self, scores: Scores, teacher: nn.Module, weight: float, temperature: float, smoothing: float = 0.0
    ) -> None:
        self.scores, self.teacher = scores, teacher
        self.weight, self.temperature, self.smoothing = weight, temperature, smoothing

    def __call__(self, model: nn.Module, batch: Any) -> Loss:
        logits, right = self.scores(model, batch)
        with torch.no_grad():
            taught, _ = self.scores(self.teacher, batch)
        usual = cross_entropy(logits, right, self.smoothing)
        soft = self.temperature**2 * _divergence(_logp(taught / self.temperature), _logp(logits / self.temperature))
        return Loss((1 - self.weight) * usual.total + self.weight * soft, usual.nll, usual.count)


class Twice:
    """½ (CE₁ + CE₂) + α/4 · (KL(p₁ ‖ p₂) + KL(p₂ ‖ p₁)) for two passes with other dropout: half of R-Drop's loss, so
    that it stays that of one token. Liang et al. 2021, equation 4."""

    def __init__(self, scores: Scores, alpha: float, smoothing: float = 0.0) -> None:
        self.scores, self.alpha, self.smoothing = scores, alpha, smoothing

    def __call__(self, model: nn.Module, batch: Any) -> Loss:
        (one, right), (other, _) = self.scores(model, batch), self.scores(model, batch)
        usual = cross_entropy(one, right, self.smoothing) + cross_entropy(other, right, self.smoothing)
        p, q = _logp(one), _logp(other)
        apart = _divergence(p, q) + _divergence(q, p)
        return Loss(usual.total / 2 + self.alpha / 4 * apart, usual.nll / 2, len(right))


def _logp(logits: Tensor) -> Tensor:
    return logits.float().log_softmax(-1)


def _divergence(p: Tensor, q: Tensor) -> Tensor:
    """Σ KL(p ‖ q) over rows of log-probabilities."""
    return F.kl_div(q, p, reduction="sum", log_target=True)
