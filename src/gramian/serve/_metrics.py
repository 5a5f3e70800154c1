"""Measurements for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)

Reading = dict[str, tuple[str, float]]
"""Values by name, each with a sentence that says what it is."""


class Metrics:
    """Counters of one application, and gauges of its models."""

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
        self._edits = Counter("gramian_edits", "Edits.", ["model", "edit"], registry=self.registry)
        self._blocks = Counter(
            "gramian_edit_blocks",
            "Block updates that the edits took.",
            ["model"],
            registry=self.registry,
        )

    def observe(self, path: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._requests.labels(path, status).inc()
        self._seconds.labels(path).observe(seconds)

    def edited(self, model: str, kind: str, requests: int) -> None:
        """Count edits that one block update answered."""
        self._edits.labels(model, kind).inc(requests)
        self._blocks.labels(model).inc()

    def add_models(self, readings: Callable[[], dict[str, Reading]]) -> None:
        """Add values of every model, which are read when they are asked for."""
        self.registry.register(_Models(readings))

    def text(self) -> bytes:
        """All of them, as Prometheus reads them."""
        return generate_latest(self.registry)


class _Models(Collector):
    """The readings of each model, as gauges with its name."""

    def __init__(self, readings: Callable[[], dict[str, Reading]]) -> None:
        self._readings = readings

    def describe(self) -> Iterable[Metric]:
        """Nothing is computed to register it."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """One gauge for each value, with the models that have it."""
        gauges: dict[str, GaugeMetricFamily] = {}
        for model, reading in self._readings().items():
            for name, (text, value) in reading.items():
                if name not in gauges:
                    gauges[name] = GaugeMetricFamily(f"gramian_{name}", text, labels=["model"])
                gauges[name].add_metric([model], value)
        return gauges.values()
