"""What one step of a sliding window takes, against a refit and against River's linear models."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared.data import SEED
from gramian import KernelDiscriminant, LeastSquaresSVC, LeastSquaresSVR
from gramian.stream import SlidingWindow

ESTIMATORS = {
    "KernelDiscriminant": KernelDiscriminant(gamma=0.1, ridge=0.1),
    "LeastSquaresSVC": LeastSquaresSVC(gamma=0.1, C=10.0),
    "LeastSquaresSVR": LeastSquaresSVR(gamma=0.1, C=10.0),
}
FEATURES, CHUNK, CHUNKS = 10, 64, 30


def cases(quick: bool) -> list[Parameters]:
    windows = (100,) if quick else (100, 500)
    return [{"estimator": name, "window": n} for name in ESTIMATORS for n in windows]


def run(estimator: str, window: int) -> dict[str, Any]:
    """Seconds of CPU of a step, of a refit to the window, and of River's linear model."""
    rng, model = np.random.default_rng(SEED), ESTIMATORS[estimator]
    X = rng.standard_normal((window + CHUNK * CHUNKS, FEATURES))
    y = X[:, 0] + 0.3 * rng.standard_normal(len(X))
    numeric = estimator == "LeastSquaresSVR"
    y = y if numeric else (y > 0).astype(int)
    live = SlidingWindow(clone(model), max_samples=window).fit(X[:window], y[:window])

    def step(i: int) -> None:
        live.predict(X[i : i + 1])
        live.partial_fit(X[i : i + 1], y[i : i + 1])

    with threadpool_limits(limits=1):
        found = {"step": _fastest(step, window)}
        found["refit"] = _fastest(lambda i: clone(model).fit(live.X_, live.y_), 0, 3)
    return {**found, "river": _fastest(_river(numeric, X, y), window)}


def _fastest(step: Callable[[int], Any], start: int, chunk: int = CHUNK) -> float:
    """Seconds of CPU of one step: the mean of a chunk of them, the best of all chunks."""
    best = np.inf
    for first in range(start, start + chunk * CHUNKS, chunk):
        before = process_time()
        for i in range(first, first + chunk):
            step(i)
        best = min(best, (process_time() - before) / chunk)
    return best


def _river(numeric: bool, X: np.ndarray, y: np.ndarray) -> Callable[[int], Any]:
    from river import linear_model

    model = linear_model.LinearRegression() if numeric else linear_model.LogisticRegression()
    rows = [dict(enumerate(row)) for row in X.tolist()]
    targets = y.tolist()

    def step(i: int) -> None:
        model.predict_one(rows[i])
        model.learn_one(rows[i], targets[i])

    return step


def report(records: list[Record]) -> list[Part]:
    rows = [
        [r["estimator"], r["window"], 1e3 * r["step"], 1e3 * r["refit"], r["refit"] / r["step"],
         1e3 * r["river"]]
        for r in records
    ]  # fmt: skip
    return [
        Text(
            f"Milliseconds of CPU of one step of a `SlidingWindow`: predict one sample, learn it "
            f"and forget the oldest, {FEATURES} features, RBF kernel, one thread. The mean of "
            f"{CHUNK} steps, the best of {CHUNKS} such means. Refit: the same estimator with the "
            "same hyper-parameters fitted to the samples in the window, without a prediction. "
            "River: its linear model predicts and learns one sample, whatever the window."
        ),
        Table(
            ["estimator", "window", "step (ms)", "refit (ms)", "refit / step", "River (ms)"], rows
        ),
    ]


EXPERIMENTS = (
    benchmark("stream_steps", "A step of a sliding window, against a refit", cases, run, report),
)
