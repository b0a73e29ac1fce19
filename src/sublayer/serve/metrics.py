"""What Prometheus reads of a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sublayer.errors import ConfigError


class Meters:
    """Counters of one server. ConfigError where prometheus-client is missing."""

    def __init__(self) -> None:
        try:
            import prometheus_client as prometheus
        except ImportError:
            raise ConfigError("Serving needs prometheus-client: pip install 'sublayer[serve]'.") from None
        self._registry = prometheus.CollectorRegistry()
        self._latest: Callable[[Any], bytes] = prometheus.generate_latest
        self.media_type: str = prometheus.CONTENT_TYPE_LATEST
        kept: dict[str, Any] = {"registry": self._registry}
        seconds = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
        self._requests = prometheus.Counter(
            "sublayer_requests", "Requests by path and status.", ["path", "status"], **kept
        )
        self._seconds = prometheus.Histogram(
            "sublayer_request_seconds", "From the head of a request to the end of its answer.", ["path"],
            buckets=seconds, **kept
        )  # fmt: skip
        self._batches = prometheus.Histogram(
            "sublayer_batch_texts", "Texts that a model answered together.", ["model"],
            buckets=(1, 2, 4, 8, 16, 32, 64), **kept
        )  # fmt: skip
        self._working = prometheus.Histogram(
            "sublayer_batch_seconds", "Time of a batch in the model.", ["model"], buckets=seconds, **kept
        )
        self._waiting = prometheus.Gauge("sublayer_waiting_texts", "Texts that wait for a model.", ["model"], **kept)

    def request(self, path: str, status: int, seconds: float) -> None:
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def batch(self, model: str, texts: int, seconds: float) -> None:
        self._batches.labels(model).observe(texts)
        self._working.labels(model).observe(seconds)

    def waiting(self, model: str, count: Callable[[], int]) -> None:
        self._waiting.labels(model).set_function(count)

    def text(self) -> bytes:
        return self._latest(self._registry)
