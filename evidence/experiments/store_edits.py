"""What durability costs: edits of a store against the same edits in memory and one bare fsync."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared.data import SEED
from gramian import KernelDiscriminant
from gramian.store import Store

FEATURES, RIDGE, THREADS, EDITS, BLOCK = 20, 1e-1, 1, 60, 4096
TIMES = ("fsync", "forget", "learn", "store forget", "store learn")


def cases(quick: bool) -> list[Parameters]:
    return [{"n": 300}] if quick else [{"n": 2000}, {"n": 4000}]


def run(n: int) -> dict[str, Any]:
    """Median seconds of each call, one after the other in turn, so that all see the same disk."""
    X = np.random.default_rng(SEED).standard_normal((n + EDITS, FEATURES))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    with threadpool_limits(limits=THREADS), TemporaryDirectory() as folder:
        model = KernelDiscriminant(gamma=1.0 / FEATURES, ridge=RIDGE).fit(X[:n], y[:n])
        with Store.create(Path(folder) / "a.store", model) as store:
            store.forget(n - 1)  # builds the factor
            return _times(model, store, X, y, n, Path(folder) / "bare")


def _times(model: Any, store: Store, X: Any, y: Any, n: int, file: Path) -> dict[str, Any]:
    seconds: dict[str, list[float]] = {name: [] for name in TIMES}
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def timed(name: str, call: Callable[[], Any]) -> None:
        start = perf_counter()
        call()
        seconds[name].append(perf_counter() - start)

    def append() -> None:
        os.write(descriptor, os.urandom(BLOCK))
        os.fsync(descriptor)

    for i in range(EDITS):
        row = X[n + i : n + i + 1], y[n + i : n + i + 1]
        timed("fsync", append)
        timed("forget", lambda i=i: model.forget(i).settle())
        timed("store forget", lambda i=i: store.forget(i))
        timed("learn", lambda row=row: model.partial_fit(*row))
        timed("store learn", lambda row=row: store.learn(*row))
    os.close(descriptor)
    return {name: statistics.median(found) for name, found in seconds.items()}


def report(records: list[Record]) -> list[Part]:
    rows = [
        [
            record["n"],
            *(1e3 * record[name] for name in TIMES),
            record["store forget"] / (record["fsync"] + record["forget"]),
            record["store learn"] / (record["fsync"] + record["learn"]),
        ]
        for record in sorted(records, key=lambda record: record["n"])
    ]
    ratios = [f"store {edit} / (fsync + {edit})" for edit in ("forget", "learn")]
    return [
        Text(
            f"`KernelDiscriminant`, {FEATURES} features, {THREADS} BLAS thread; medians of "
            f"{EDITS} calls of each kind, in turn. `fsync` writes {BLOCK} bytes to the end of a "
            "file and forces them to disk; `forget` and `learn` are those of the model in memory, "
            "with `settle` after `forget`, as in a store; "
            "those of the store return when edit and receipt are on disk and, for `forget`, when "
            "the row is erased from it."
        ),
        Table(["n", *(f"{name} (ms)" for name in TIMES), *ratios], rows),
    ]


EXPERIMENTS = (benchmark("store", "Durable edits", cases, run, report),)
