"""How fast numbers of threads are, on an idle computer and with all cores busy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from joblib import cpu_count

from evidence._compare import grouped
from evidence._environment import machine as facts
from evidence._experiment import Cell, Parameters, Part, Record, Table, Text, benchmark
from evidence.experiments.default_times import samples
from evidence.experiments.service import MODEL, infer, served
from gramian import LeastSquaresSVC, StackedKernelClassifier

CORES, COUNTS = (2, 4, 16), (1, 2, 4, 16)
"""Cores that a process may use, and threads."""
SIZES, EDITS, REQUESTS = (300, 1000, 3000), 20, 50
REPEATS, ENOUGH = 3, 5.0
"""Repetitions, and seconds after which there are no more of them."""
LIMITS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
TASKS = {"fit": "fit (s)", "stack": "stack (s)", "edit": "edit (ms)", "infer": "infer (ms)"}
MOST = {"idle": 1.2, "busy": 1.5}
"""Times the best number of threads, that the default may take."""


def cases(quick: bool) -> list[Parameters]:
    return [
        {
            "cores": cores,
            "n": n,
            "load": load,
            "threads": threads,
            "repeats": 1 if quick else REPEATS,
        }
        for cores in (CORES[:1] if quick else _available())
        for n in ((60,) if quick else SIZES)
        for load in MOST
        for threads in (*(str(k) for k in COUNTS if k <= cores), "default")
    ]


def _available() -> list[int]:
    """Numbers of cores that this computer has."""
    return [cores for cores in CORES if cores <= cpu_count()] or [cpu_count()]


def run(cores: int, n: int, load: str, threads: str, repeats: int) -> dict[str, Any]:
    """Seconds of each task, the least of some repetitions, in a process of its own."""
    limits = {} if threads == "default" else dict.fromkeys(LIMITS, threads)
    environment = {name: value for name, value in os.environ.items() if name not in LIMITS}
    words = [sys.executable, "-m", "evidence.experiments.threads", str(n), str(repeats)]
    before, all_cores = os.getloadavg()[0], os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(all_cores)[:cores])  # processes that it starts have the same
    try:
        with _spinning(cores if load == "busy" else 0):
            done = subprocess.run(
                words, env={**environment, **limits}, capture_output=True, text=True, check=True
            )
    finally:
        os.sched_setaffinity(0, all_cores)
    return {
        "seconds": json.loads(done.stdout),
        "before": before,
        "processor": facts()["processor"],
    }


@contextmanager
def _spinning(count: int) -> Iterator[None]:
    """So many processes that do nothing, as fast as they can."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def measure(n: int, repeats: int) -> dict[str, float | None]:
    """Seconds of a tuned fit, of one of a stack, of an edit, and of a row over HTTP."""
    X, y = samples(n + EDITS, classes=True)
    LeastSquaresSVC().fit(X[:60], y[:60])  # what is loaded on first use
    model = LeastSquaresSVC(gamma=0.05, C=10.0).fit(X[:n], y[:n])

    def edit() -> None:
        for row in range(n, n + EDITS):
            model.partial_fit(X[[row]], y[[row]], ids=[row])
            model.forget([row])

    def least(task: Callable[[], object], most: int) -> float:
        took = []
        for _ in range(most):
            start = perf_counter()
            task()
            took.append(perf_counter() - start)
            if sum(took) > ENOUGH:
                break
        return min(took)

    return {
        "fit": least(lambda: LeastSquaresSVC().fit(X[:n], y[:n]), repeats),
        "stack": least(lambda: StackedKernelClassifier().fit(X[:n], y[:n]), repeats),
        "edit": least(edit, 3 * repeats) / EDITS,
        "infer": _infer(n, 3 * repeats) if find_spec("starlette") else None,
    }


def _infer(n: int, repeats: int) -> float:
    """Seconds of a request on one connection: the median of some, the least of such medians."""
    body, found = json.dumps(infer(np.zeros((1, 20)))), []
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), n) as (_, port):
        line = HTTPConnection("127.0.0.1", port)
        for _ in range(repeats):
            took = []
            for _ in range(REQUESTS):
                start = perf_counter()
                line.request("POST", f"{MODEL}/infer", body)
                line.getresponse().read()
                took.append(perf_counter() - start)
            found.append(float(np.median(took)))
        line.close()
    return min(found)


def report(records: list[Record]) -> list[Part]:
    rows: list[list[Any]] = []
    gains: list[list[Any]] = []
    for (cores, n, load), some in grouped(records, "cores", "n", "load").items():
        for record in some:
            cells = [_cell(record, some, task) for task in TASKS]
            rows.append([cores, n, load, record["threads"], *cells, record["before"]])
        if load == "idle":
            gains.append([cores, n, *_gains(some)])
    repeats = " or ".join(str(count) for count in grouped(records, "repeats"))
    on = "; ".join(
        f"{', '.join(str(cores) for cores in grouped(some, 'cores'))} cores: {processor}"
        for processor, some in grouped(records, "processor").items()
    )
    return [
        Text(
            "A tuned fit of `LeastSquaresSVC` and of `StackedKernelClassifier` with their "
            "default parameters on n samples with 20 features, one sample learned and "
            f"forgotten again, and one row predicted over HTTP. The least of {repeats} "
            f"repetitions of a fit, three times as many of the others, fewer once they have "
            f"taken {ENOUGH:g} s. Each number of threads is set by `OPENBLAS_NUM_THREADS` in a "
            "separate process; by default nothing is set. The process may use the given "
            "number of cores. Busy: another process for each of these cores runs a busy loop. "
            "In brackets: the time of the default over that of the best number of threads; on "
            "two cores, two threads are the default, and any difference between them is "
            f"noise. Processors: {on}."
        ),
        Table(["cores", "n", "load", "threads", *TASKS.values(), "load before"], rows),
        Text("Idle: the time with one thread over the default."),
        Table(["cores", "n", *TASKS], gains),
    ]


def _gains(some: list[Record]) -> list[float | None]:
    """Seconds of each task with one thread over those by default, where both are known."""
    known = {record["threads"]: record["seconds"] for record in some}
    one, default = (known.get(threads, {}) for threads in ("1", "default"))
    return [
        one[task] / default[task] if one.get(task) and default.get(task) else None for task in TASKS
    ]


def _cell(record: Record, some: list[Record], task: str) -> Any:
    seconds = record["seconds"][task]
    if seconds is None:
        return None
    value = seconds if TASKS[task].endswith("(s)") else 1e3 * seconds
    if record["threads"] != "default":
        return value
    ratio = seconds / min(other["seconds"][task] for other in some)
    return Cell(f"{value:.3g}", f"{ratio:.2f} × the best", ratio > MOST[record["load"]])


EXPERIMENTS = (benchmark("threads", "Threads, idle and busy", cases, run, report),)

if __name__ == "__main__":
    print(json.dumps(measure(*map(int, sys.argv[1:]))))
