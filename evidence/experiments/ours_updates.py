"""What one sample costs to learn and to forget, against a refit and against memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from threadpoolctl import threadpool_limits

from evidence._drawing import draw_times
from evidence._experiment import Experiment, Figure, Parameters, Part, Record, Table, Text
from evidence.shared.data import SEED
from evidence.shared.learning import best_time, edit_times
from gramian import KernelDiscriminant

FEATURES, RIDGE, CALLS, THREADS = 20, 1e-2, 128, 2
GAMMA = 1.0 / FEATURES
SIZES = (250, 500, 1000, 2000, 4000, 8000)
TIMES = {
    "refit": "KernelRidge.fit (ms)",
    "learn": "partial_fit (ms)",
    "forget": "forget (ms)",
    "memory": "memory pass (ms)",
}


def cases(quick: bool) -> list[Parameters]:
    return [{"n": n} for n in (SIZES[:2] if quick else SIZES)]


def run(n: int) -> dict[str, Any]:
    """Seconds of a refit, of learning and of forgetting a sample, and of a pass over memory."""
    X, y = samples(n + CALLS)
    with threadpool_limits(limits=THREADS):
        return _times(X, y, n)


def _times(X: np.ndarray, y: np.ndarray, n: int) -> dict[str, Any]:
    peer = KernelRidge(kernel="rbf", gamma=GAMMA, alpha=RIDGE)
    refit, _ = best_time(lambda: peer.fit(X[:n], y[:n].astype(float)))
    model = KernelDiscriminant(gamma=GAMMA, ridge=RIDGE).fit(X[:n], y[:n])
    return {"refit": refit, **edit_times(model, X, y, n), "memory": _memory_pass(n)}


def samples(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that no line separates."""
    X = np.random.default_rng(SEED).standard_normal((n, FEATURES))
    return X, np.where(X[:, 0] * X[:, 1] > 0, 1, -1)


def _memory_pass(n: int) -> float:
    """Seconds to read n²/2 numbers once."""
    block = np.ones(n * n // 2)
    return best_time(lambda: block @ block, repeat=30)[0]


def report(records: list[Record]) -> list[Part]:
    records = sorted(records, key=lambda record: record["n"])
    rows = [
        [
            record["n"],
            *(1e3 * record[name] for name in TIMES),
            record["refit"] / record["learn"],
            record["refit"] / record["forget"],
        ]
        for record in records
    ]
    lines = {
        label: [(record["n"], 1e3 * record[name]) for record in records]
        for name, label in (
            ("refit", "refit, KernelRidge"),
            ("learn", "partial_fit, one sample"),
            ("forget", "forget, one sample"),
            ("memory", "one pass over half the matrix"),
        )
    }
    return [
        Text(
            f"RBF kernel, {FEATURES} features, λ = {RIDGE:g}, two classes, {THREADS} BLAS "
            f"threads. `partial_fit` and `forget` are means over {CALLS} calls of one sample "
            "each, with pending updates applied at the end. The refit is scikit-learn's "
            "`KernelRidge` on the same samples, best of three. A pass over memory reads half "
            "of an n×n matrix once: no method that stores the inverse can learn a sample "
            "faster."
        ),
        Figure(draw_times(lines, "samples held", "milliseconds"), "Cost of one sample."),
        Table(["n", *TIMES.values(), "refit / partial_fit", "refit / forget"], rows),
    ]


EXPERIMENTS = (
    Experiment("ours-updates", "One sample in, one sample out", cases, run, report,
               timed=True, file="updates"),
)  # fmt: skip
