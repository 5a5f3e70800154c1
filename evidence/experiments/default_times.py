"""What a default fit of each estimator takes, hyper-parameters and all, on one core."""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from threadpoolctl import threadpool_limits

from evidence._compare import grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared.data import SEED
from gramian.core.gram import factorize
from gramian.estimators import ESTIMATORS

FEATURES, SIZES = 20, (1000, 5000)
PROBE = 600
"""Samples of the Gram matrix that is factored with each fit, to measure the computer's speed."""


def cases(quick: bool) -> list[Parameters]:
    sizes = (100,) if quick else SIZES
    return [{"estimator": name, "n": n} for n in sizes for name in ESTIMATORS]


def run(estimator: str, n: int) -> dict[str, Any]:
    """Seconds of CPU of a fit, and of one Cholesky factor; the error on fresh samples."""
    model = ESTIMATORS[estimator]()
    X, y = samples(2 * n, classes=is_classifier(model))
    with threadpool_limits(limits=1):
        yardstick = min(_factor() for _ in range(5))
        start = process_time()
        model.fit(X[:n], y[:n])
        seconds = process_time() - start
    return {"seconds": seconds, "yardstick": yardstick, "score": model.score(X[n:], y[n:])}


def samples(n: int, classes: bool) -> tuple[np.ndarray, np.ndarray]:
    """A smooth function of a few of the features, with noise; its sign for classes."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, FEATURES))
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n)
    return X, (f > 0).astype(int) if classes else f


def _factor() -> float:
    A = np.eye(PROBE) + 1.0
    start = process_time()
    factorize(A.diagonal().copy(), lambda rows, columns: A[rows, columns], "cholesky")
    return process_time() - start


def report(records: list[Record]) -> list[Part]:
    sizes = sorted({r["n"] for r in records})
    rows = []
    for name, found in grouped(records, "estimator").items():
        by_size = {r["n"]: r for r in found}
        seconds = [by_size[n]["seconds"] if n in by_size else None for n in sizes]
        ratios = [
            by_size[n]["seconds"] / by_size[n]["yardstick"] if n in by_size else None for n in sizes
        ]
        rows.append([name, *seconds, *ratios, 100 * found[-1]["score"]])
    return [
        Text(
            "CPU seconds of `fit` with default parameters, including the choice of "
            f"hyper-parameters; {FEATURES} features, of which three matter, one thread. The "
            f"ratio is to one Cholesky factor of {PROBE} samples in the same run. Score: "
            "accuracy or R² in percent on as many fresh samples, of the largest fit."
        ),
        Table(
            ["estimator", *(f"{n:,} samples (s)" for n in sizes),
             *(f"{n:,} (ratio)" for n in sizes), "score"],
            rows,
        ),
    ]  # fmt: skip


EXPERIMENTS = (
    benchmark("default_times", "Default fits of all estimators", cases, run, report),
)  # fmt: skip
