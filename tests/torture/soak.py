"""A window of samples for a long time: flat memory, steady latency, no drift."""

from __future__ import annotations

import gc
import time
from pathlib import Path

import numpy as np

import gramian
from tests.torture.common import distance, permuted, values

N = 1_000
PAGE = 4096


def resident():
    """Bytes of memory that the process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def main(seed=0, seconds=60.0, report=None):
    """Learn one, forget the oldest, predict, for so many seconds; the edits, and failures."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((N, 8)), np.arange(N) % 3
    model = gramian.KernelDiscriminant(gamma=0.1, ridge=1e-3).fit(X, y, ids=np.arange(N))
    latencies, memory, edits, end = [], [], 0, time.monotonic() + seconds
    while time.monotonic() < end:
        x = rng.standard_normal((1, 8))
        began = time.perf_counter()
        model.partial_fit(x, [edits % 3], ids=[N + edits])
        model.forget(edits)
        model.predict(x)
        latencies.append(time.perf_counter() - began)
        edits += 1
        if edits % 500 == 0:
            gc.collect()
            memory.append(resident())
    held = model.X_fit_
    off = distance(values(model, held), values(model.refitted(), held))
    other = values(permuted(model, rng.permutation(N)), held)
    allowed = 100 * distance(values(model.refitted(), held), other) + 1e-9
    failures = []
    if not off <= allowed:
        failures.append(f"soak: {off:.1e} off a refit after {edits} edits")
    half = memory[len(memory) // 4 :]
    growth = (half[-1] - half[0]) if len(half) > 1 else 0
    if growth > 8 * 2**20:
        failures.append(f"soak: memory grew by {growth / 2**20:.1f} MiB in {edits} edits")
    if len(model.rebuilds_) > edits / N:
        failures.append(f"soak: rebuilt {len(model.rebuilds_)} times in {edits} edits")
    p50, p99 = np.percentile(latencies, [50, 99])
    if report is not None:
        report["soak"] = (
            f"learn, forget and predict at n = {N}: p50 {1e3 * p50:.2f} ms, p99 {1e3 * p99:.2f} ms,"
            f" max {1e3 * max(latencies):.1f} ms; memory {growth / 2**20:+.1f} MiB; "
            f"{off:.1e} off a refit, {model.drift():.1e} residual; "
            f"{len(model.rebuilds_)} rebuilds"
        )
    return 2 * edits, failures
