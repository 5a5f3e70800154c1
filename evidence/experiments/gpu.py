"""Estimators on one GPU: fits, edits, leave-one-out and streams of rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from evidence._drawing import draw_times
from evidence._experiment import (
    Figure,
    Parameters,
    Part,
    Record,
    Table,
    Text,
    UnavailableError,
    benchmark,
)
from evidence.shared.data import SEED
from gramian import (
    KernelDiscriminant,
    KernelFisherDiscriminant,
    LeastSquaresSVC,
    OrthogonalKernelClassifier,
)

D, GAMMA, C = 20, 0.05, 10.0
FORGOTTEN = 256


def torch() -> Any:
    """The package, on a computer with a GPU."""
    try:
        import torch as found
    except ModuleNotFoundError as error:
        raise UnavailableError('torch is not installed: pip install "gramian[gpu]"') from error
    if not found.cuda.is_available():
        raise UnavailableError("no GPU of CUDA here.")
    return found


def samples(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that no line separates."""
    X = np.random.default_rng(SEED).standard_normal((n, D))
    return X, np.where(X[:, 0] * X[:, 1] > 0, 1, -1)


def timed(call: Any) -> tuple[float, Any]:
    """Seconds until the GPU has done what a call asks for, and what the call returned."""
    sync = torch().cuda.synchronize
    sync()
    start = perf_counter()
    found = call()
    sync()
    return perf_counter() - start, found


# -- fits and edits -----------------------------------------------------------------------------


def cases(quick: bool) -> list[Parameters]:
    return [{"n": n} for n in ((2_000, 4_000) if quick else (20_000, 50_000, 100_000))]


def run(n: int) -> dict[str, Any]:
    """Seconds of a fit, of edits and of leave-one-out, and the memory taken."""
    cuda = torch().cuda
    X, y = samples(n + 200)
    LeastSquaresSVC(gamma=GAMMA, C=C, device="cuda").fit(X[:500], y[:500]).loo_score()  # warm up
    cuda.reset_peak_memory_stats()
    model = LeastSquaresSVC(gamma=GAMMA, C=C, device="cuda")
    fit, _ = timed(lambda: (model.fit(X[:n], y[:n]), model.loo_score()))
    memory = cuda.max_memory_allocated()
    one = [
        timed(lambda i=i: model.partial_fit(X[i : i + 1], y[i : i + 1])) for i in range(n, n + 16)
    ]
    many = timed(lambda: model.partial_fit(X[n + 100 : n + 164], y[n + 100 : n + 164]))
    model.forget(0)
    forget, _ = timed(lambda: [model.forget(i) for i in range(1, FORGOTTEN + 1)])
    left_out = []
    for i in range(FORGOTTEN + 1, FORGOTTEN + 9):
        model.forget(i)
        left_out.append(timed(model.loo_score)[0])
    return {
        "fit": fit,
        "bytes": memory,
        "learn": float(np.median([seconds for seconds, _ in one])),
        "learn_64": many[0],
        "forget": forget / FORGOTTEN,
        "loo": float(np.median(left_out)),
        "drift": model.drift(),
        "refit": refit(X[:n], y[:n]) if n <= 50_000 else None,
    }


def refit(X: np.ndarray, y: np.ndarray) -> float:
    """Seconds of what one would do without this package: Cholesky and inverse by torch."""
    found = torch()
    T = found.from_numpy(X).cuda()

    def solve() -> Any:
        K = found.exp(-GAMMA * found.cdist(T, T) ** 2)
        K.diagonal().add_(1.0 / C)
        P = found.cholesky_inverse(found.linalg.cholesky(K))
        return P @ found.from_numpy(y).to(T)[:, None], P.diagonal()

    solve()
    return timed(solve)[0]


def report(records: list[Record]) -> list[Part]:
    records = sorted(records, key=lambda record: record["n"])
    rows = [
        [
            record["n"],
            record["fit"],
            record["bytes"] / 1e9,
            record["refit"],
            1e3 * record["learn"],
            1e3 * record["learn_64"],
            1e3 * record["forget"],
            1e3 * record["loo"],
            f"{record['drift']:.0e}",
        ]
        for record in records
    ]
    lines = {
        label: [(record["n"], 1e3 * record[name]) for record in records]
        for name, label in (
            ("fit", "fit and loo_score"),
            ("learn", "partial_fit, one sample"),
            ("forget", "forget, one sample"),
        )
    }
    return [
        Text(
            f'`LeastSquaresSVC(device="cuda")` with an RBF kernel, {D} features, float64, given '
            f"width and C. The refit is `torch.linalg.cholesky` and `cholesky_inverse` with the "
            f"same kernel on the same GPU; at 100,000 samples its copies do not fit. `partial_fit` "
            f"and `loo_score` after an edit are medians, `forget` is a mean over {FORGOTTEN} "
            f"calls, each of one sample."
        ),
        Figure(draw_times(lines, "samples held", "milliseconds"), "On one GPU."),
        Table(
            [
                "n",
                "fit + loo_score (s)",
                "GPU memory (GB)",
                "refit by torch (s)",
                "partial_fit of 1 (ms)",
                "of 64 (ms)",
                "forget of 1 (ms)",
                "loo_score after an edit (ms)",
                "drift",
            ],
            rows,
        ),
    ]


# -- agreement ----------------------------------------------------------------------------------

MACHINES = {
    "LeastSquaresSVC": lambda **own: LeastSquaresSVC(gamma=GAMMA, C=C, **own),
    "KernelDiscriminant": lambda **own: KernelDiscriminant(gamma=GAMMA, ridge=1 / C, **own),
    "KernelFisherDiscriminant": lambda **own: KernelFisherDiscriminant(
        gamma=GAMMA, ridge=1 / C, **own
    ),
}


def agreement_cases(quick: bool) -> list[Parameters]:
    return [{"machine": name, "size": 500 if quick else 4_000} for name in MACHINES]


def agreement(machine: str, size: int) -> dict[str, Any]:
    """How far decision values and leave-one-out on a GPU are from those of the CPU."""
    torch()
    X, y = samples(size + 100)
    here, there = MACHINES[machine](), MACHINES[machine](device="cuda")
    for model in (here, there):
        model.fit(X[: size - 50], y[: size - 50])
        model.partial_fit(X[size - 50 : size], y[size - 50 : size]).forget(np.arange(0, 40))
        for i in range(40, 50):
            model.forget(i)
    decisions = np.abs(here.decision_function(X[size:]) - there.decision_function(X[size:])).max()
    left_out = np.abs(here.loo_decision_function() - there.loo_decision_function()).max()
    return {"decisions": float(decisions), "left_out": float(left_out)}


def agreement_report(records: list[Record]) -> list[Part]:
    rows = [
        [r["machine"], r["size"], f"{r['decisions']:.0e}", f"{r['left_out']:.0e}"] for r in records
    ]
    return [
        Text(
            "The largest differences between a model on the GPU and one on the CPU, after the same "
            "fit and the same 100 edits: decision values of 100 queries, leave-one-out of all."
        ),
        Table(["model", "n", "decision values", "leave-one-out"], rows),
    ]


# -- orthogonal estimators ----------------------------------------------------------------------

FEATURES, CLASSES, CHUNK = 16, 26, 100_000
CHOSEN_AMONG = 16_000


def letters(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """As many classes and features as in the data set letter: noisy points around centres."""
    means = np.random.default_rng(SEED).standard_normal((8 * CLASSES, FEATURES))
    rng = np.random.default_rng([SEED, seed])
    which = rng.integers(len(means), size=n)
    X = means[which]
    X += 0.7 * rng.standard_normal((n, FEATURES))
    return X, which % CLASSES


def chunks(n: int, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows of two classes, made one chunk at a time."""
    for number, start in enumerate(range(0, n, size)):
        X = np.random.default_rng([SEED, number]).standard_normal((min(size, n - start), FEATURES))
        yield X, (X[:, 0] * X[:, 1] > 0).astype(int)


def orthogonal_cases(quick: bool) -> list[Parameters]:
    """A choice of centres has no rows to learn."""
    if quick:
        return [{"centres": 100, "rows": 0}, {"centres": 200, "rows": 20_000}]
    streams = [{"centres": m, "rows": 10_000_000} for m in (4_096, 10_000)]
    return [{"centres": 3_652, "rows": 0}, *streams]


def orthogonal(centres: int, rows: int, device: str = "cuda") -> dict[str, Any]:
    """Seconds to choose centres, or to learn rows from a generator once there are centres."""
    cuda = torch().cuda
    rules = {"max_basis": centres, "stopping": "lambda", "tol": 0.0}  # no centre less
    model = OrthogonalKernelClassifier(gamma=0.1, **rules, device=device)
    if rows == 0:
        data = letters(CHOSEN_AMONG, 0)
        model.set_params(penalty="orthogonal", ridge="gcv")
    else:
        data = next(chunks(2 * centres, 2 * centres))
        model.set_params(selection="residual", ridge=1e-3)
    few = [part[:500] for part in data]
    clone(model).set_params(max_basis=50).fit(*few).learn_rows(*few)  # warm up
    cuda.reset_peak_memory_stats()
    seconds, _ = timed(lambda: model.fit(*data))
    found: dict[str, Any] = {"found": model.n_basis_, "choice": seconds}
    if rows:
        found["made"], _ = timed(lambda: deque(chunks(rows, CHUNK), maxlen=0))
        found["learned"], _ = timed(lambda: model.learn_rows(chunks(rows, CHUNK)))
    return {**found, "bytes": cuda.max_memory_allocated(), "drift": model.drift()}


def orthogonal_report(records: list[Record]) -> list[Part]:
    rows = [
        [
            record["found"],
            CHOSEN_AMONG if record["rows"] == 0 else 2 * record["centres"],
            record["choice"],
            record["rows"] or None,
            record.get("learned"),
            record.get("made"),
            record["bytes"] / 1e9,
            f"{record['drift']:.0e}",
        ]
        for record in sorted(records, key=lambda record: (record["rows"], record["centres"]))
    ]
    return [
        Text(
            f'`OrthogonalKernelClassifier(device="cuda")` with an RBF kernel, {FEATURES} '
            "features and float64. The first line is the time of `fit`, which chooses "
            f"centres, for {CLASSES} classes, as many as in the data set letter. In the others "
            f"`learn_rows` learns rows from a generator of chunks of {CHUNK:,}; the seconds of "
            "`learn_rows` include those of the generator."
        ),
        Table(
            [
                "centres",
                "chosen among",
                "fit (s)",
                "rows",
                "learn_rows (s)",
                "rows made (s)",
                "GPU memory (GB)",
                "drift",
            ],
            rows,
        ),
    ]


# -- a tuned fit --------------------------------------------------------------------------------


def tuned_cases(quick: bool) -> list[Parameters]:
    return [{"size": 2_000 if quick else 20_000}]


def tuned(size: int) -> dict[str, Any]:
    """Seconds of a fit that chooses its width and its C."""
    torch()
    X, y = samples(size)
    seconds, model = timed(lambda: LeastSquaresSVC(device="cuda").fit(X, y))
    return {"seconds": seconds, "gamma": model.gamma_, "C": model.C_, "loo": model.loo_score()}


def tuned_report(records: list[Record]) -> list[Part]:
    rows = [[r["size"], r["seconds"], r["gamma"], r["C"], r["loo"]] for r in records]
    return [
        Text(
            '`LeastSquaresSVC(device="cuda").fit(X, y)`: width and C are chosen by '
            "leave-one-out on larger and larger subsamples and finally on all samples, on the "
            "GPU."
        ),
        Table(["n", "fit (s)", "gamma", "C", "leave-one-out accuracy"], rows),
    ]


EXPERIMENTS = (
    benchmark("gpu", "On one GPU", cases, run, report),
    benchmark("gpu_tuned", "A tuned fit on one GPU", tuned_cases, tuned, tuned_report),
    benchmark("gpu_agreement", "GPU against CPU", agreement_cases, agreement, agreement_report),
    benchmark(
        "gpu_orthogonal",
        "Orthogonal estimators on one GPU",
        orthogonal_cases,
        orthogonal,
        orthogonal_report,
    ),
)
