"""Measurements for Prometheus."""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)


class Metrics:
    """Counters and gauges of one application."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "gramian_requests", "Requests.", ["path", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "gramian_request_seconds",
            "Time to answer.",
            ["path"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._edits = Counter("gramian_edits", "Edits.", ["edit"], registry=self.registry)
        self._blocks = Counter(
            "gramian_edit_blocks", "Block updates that the edits took.", registry=self.registry
        )
        self._known: dict[tuple[str, int], tuple[Any, Any]] = {}

    def observe(self, path: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        known = self._known.get((path, status))
        if known is None:
            known = self._requests.labels(path, str(status)), self._seconds.labels(path)
            self._known[path, status] = known
        known[0].inc()
        known[1].observe(seconds)

    def edited(self, kind: str, requests: int) -> None:
        """Count edits that one block update answered."""
        self._edits.labels(kind).inc(requests)
        self._blocks.inc()

    def gauge(self, name: str, text: str, function: Any) -> None:
        """Add a value that is read when it is asked for."""
        Gauge(f"gramian_{name}", text, registry=self.registry).set_function(function)

    def text(self) -> bytes:
        """All of them, as Prometheus reads them."""
        return generate_latest(self.registry)
