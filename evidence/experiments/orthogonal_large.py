"""Orthogonal least squares on many samples: seconds and memory."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from statistics import median
from typing import Any

import numpy as np

from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared.learning import all_times, best_time, resident
from gramian import OrthogonalKernelRegressor


def cases(quick: bool) -> list[Parameters]:
    sizes = ((2_000, 50),) if quick else ((10_000, 500), (100_000, 500))
    return [{"n": n, "most": m} for n, m in sizes]


def run(n: int, most: int) -> dict[str, Any]:
    """What `measure` says, in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        return alone.submit(measure, n, most).result()


def measure(n: int, most: int) -> dict[str, Any]:
    """Centres, seconds, and GiB beyond those of the data."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 10))
    y = np.sin(X[:, 0]) + np.cos(2 * X[:, 1] * X[:, 2]) + 0.1 * rng.standard_normal(n)
    model = OrthogonalKernelRegressor(gamma=0.1, max_basis=most)
    before = resident()
    seconds, _ = best_time(lambda: model.fit(X, y), repeat=1)
    memory = resident() - before
    others = iter(np.setdiff1d(model.ids_, model.basis_ids_))
    learn, _ = all_times(lambda: model.partial_fit(X[:1] + 0.1, y[:1]), repeat=9)
    forget, _ = all_times(lambda: model.forget(next(others)), repeat=9)
    return {
        "centres": model.n_basis_,
        "seconds": seconds,
        "memory": memory / 1024,
        "learn": 1e3 * median(learn),
        "forget": 1e3 * median(forget),
    }


COLUMNS = {
    "n": "n",
    "centres": "centres",
    "seconds": "fit (s)",
    "memory": "memory beyond data (GiB)",
    "learn": "learn one (ms)",
    "forget": "forget one (ms)",
}


def report(records: list[Record]) -> list[Part]:
    return [
        Text(
            "Regression in ten dimensions, RBF, gamma 0.1, in a separate process; memory is "
            "its largest resident size after the fit minus that before it. Bars: 2 GiB and "
            "minutes at 100,000 × 500."
        ),
        Table([*COLUMNS.values()], [[record[name] for name in COLUMNS] for record in records]),
    ]


EXPERIMENTS = (
    benchmark("orthogonal_large", "Orthogonal least squares on many samples", cases, run, report),
)
