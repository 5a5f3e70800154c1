"""The kernel Fisher discriminant: updates, both leave-one-outs, and accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence._compare import column, grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared.data import SEED
from evidence.shared.extended import solve_extended
from evidence.shared.learning import best_time, edit, edit_times, largest_difference
from evidence.shared.paper_algorithms import fisher_loo_rows
from gramian import KernelFisherDiscriminant, datasets
from gramian.core.gram import Moments
from gramian.core.kernels import make_kernel
from gramian.fisher._equations import KFD

GAMMA, RIDGE, CALLS = 0.05, 1e-2, 128

# -- updates ------------------------------------------------------------------------------------


def update_cases(quick: bool) -> list[Parameters]:
    return [{"n": n} for n in ((200,) if quick else (500, 1000, 2000))]


def run_updates(n: int) -> dict[str, Any]:
    """Seconds of a fit, and of one sample in and out."""
    X, y = datasets.make_twonorm(n + CALLS, random_state=SEED)
    model = KernelFisherDiscriminant(gamma=GAMMA, ridge=RIDGE)
    fit, _ = best_time(lambda: model.fit(X[:n], y[:n]))
    return {"fit": fit, **edit_times(model, X, y, n)}


UPDATE_COLUMNS = (
    *("n", "fit (ms)", "partial_fit (ms)", "forget (ms)"),
    *("fit / partial_fit", "fit / forget"),
)


def report_updates(records: list[Record]) -> list[Part]:
    rows = [
        [
            r["n"],
            *(1e3 * r[name] for name in ("fit", "learn", "forget")),
            r["fit"] / r["learn"],
            r["fit"] / r["forget"],
        ]
        for r in records
    ]
    return [
        Text(
            "`fit` with gamma and ridge given, best of three; `partial_fit` and `forget` are means "
            f"over {CALLS} calls of one sample each, the solution read at the end. RBF, d = 20, "
            f"gamma {GAMMA:g}, ridge {RIDGE:g}, one thread."
        ),
        Table(UPDATE_COLUMNS, rows),
    ]


# -- the two leave-one-outs ---------------------------------------------------------------------

WIDTHS = {
    "banana": (0.3, 3.0, 30.0),
    "twonorm": (0.003, 0.03, 0.3),
    "ringnorm": (0.003, 0.03, 0.3),
}


def error_cases(quick: bool) -> list[Parameters]:
    return [
        {"samples": name, "gamma": gamma, "seed": seed}
        for name, widths in WIDTHS.items()
        for gamma in widths
        for seed in range(2 if quick else 20)
    ]


def run_errors(samples: str, gamma: float, seed: int) -> dict[str, Any]:
    """Errors in % by both leave-one-outs on 100 samples, and on 2,000 fresh ones."""
    X, labels = getattr(datasets, f"make_{samples}")(2100, random_state=seed)
    model = KernelFisherDiscriminant(gamma=gamma, ridge=RIDGE).fit(X[:100], labels[:100])
    K, Y = make_kernel("rbf", gamma=gamma)(X[:100], X[:100]), signs(labels[:100])
    P = np.linalg.inv(K + 1j * np.sqrt(RIDGE) * np.eye(100))
    moments = Moments(P @ Y, P.sum(axis=1), np.diagonal(P))
    exact = KFD.loo(Y, lambda power: moments, RIDGE)
    rows = fisher_loo_rows(Y, moments, sigma=RIDGE**0.5, penalty=0.0)
    return {
        "exact": 100.0 * float(np.mean(exact * Y <= 0)),
        "rows": 100.0 * float(np.mean(rows * Y <= 0)),
        "test": 100.0 * (1.0 - model.score(X[100:], labels[100:])),
        "rms": float(np.sqrt(np.mean((exact - rows) ** 2))),
    }


def report_errors(records: list[Record]) -> list[Part]:
    rows = [
        [*key, *(float(np.mean(column(rs, name))) for name in ("exact", "rows", "test", "rms"))]
        for key, rs in grouped(records, "samples", "gamma").items()
    ]
    columns = ["samples", "gamma", "exact (%)", "of the paper (%)", "test (%)", "RMS difference"]
    return [
        Text(
            "Error rates by both kinds of leave-one-out on 100 samples, and on 2,000 fresh "
            f"samples; means over 20 draws. Ridge {RIDGE:g}, bias free, targets ±1. The exact "
            "one leaves out the row and the column of a sample; the paper's leaves out only "
            "the row. The last column compares their decision values."
        ),
        Table(columns, rows),
    ]


# -- accuracy -----------------------------------------------------------------------------------

WIDE, POOL, HELD = 0.002, 400, 150  # so wide that the kernel matrix is close to singular


def exactness_cases(quick: bool) -> list[Parameters]:
    edits = 200 if quick else 2000
    return [{"ridge": r, "edits": edits} for r in (1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)]


def run_exactness(ridge: float, edits: int) -> dict[str, Any]:
    """Distances to extended precision after so many edits."""
    pool, labels = datasets.make_twonorm(POOL, random_state=SEED)
    queries, _ = datasets.make_twonorm(200, random_state=SEED + 1)
    rng = np.random.default_rng(SEED)
    model = KernelFisherDiscriminant(gamma=WIDE, ridge=ridge)
    model.fit(pool[:HELD], labels[:HELD], ids=np.arange(HELD))
    for _ in range(edits):
        edit(model, pool, labels, HELD, rng)
    X, y = model.X_fit_, model.y_fit_
    fresh = KernelFisherDiscriminant(gamma=WIDE, ridge=ridge).fit(X, y)
    K, Kq = (make_kernel("rbf", gamma=WIDE)(Z, X) for Z in (X, queries))
    true = extended_decisions(K, Kq, signs(y), ridge)
    return {
        "live": largest_difference(model.decision_function(queries), true),
        "fit": largest_difference(fresh.decision_function(queries), true),
        "equation": largest_difference(direct_decisions(K, Kq, signs(y), ridge), true),
        "rebuilt": len(model.rebuilds_),
    }


def extended_decisions(K: np.ndarray, Kq: np.ndarray, Y: np.ndarray, ridge: float) -> np.ndarray:
    """The resolvent's formulas in extended precision, on the double-precision kernel."""
    A = K.astype(np.clongdouble)
    np.fill_diagonal(A, np.diagonal(K) + 1j * np.sqrt(np.longdouble(ridge)))
    r, s = solve_extended(A, np.column_stack([Y, np.ones(len(K))]).astype(np.clongdouble)).T
    intercept = r.sum().imag / s.sum().imag
    return np.asarray(Kq @ (r - intercept * s).real + intercept, dtype=float)


def direct_decisions(K: np.ndarray, Kq: np.ndarray, Y: np.ndarray, ridge: float) -> np.ndarray:
    """saadi2004, eq. (4)."""
    Z = np.column_stack([K, np.ones(len(K))])
    normal = Z.T @ Z
    normal[np.diag_indices(len(K))] += ridge
    return (np.column_stack([Kq, np.ones(len(Kq))]) @ np.linalg.solve(normal, Z.T @ Y))[:, 0]


def signs(labels: np.ndarray) -> np.ndarray:
    """±1, as a column."""
    return np.where(labels == labels.max(), 1.0, -1.0)[:, None]


def report_exactness(records: list[Record]) -> list[Part]:
    names = ("ridge", "live", "fit", "equation", "rebuilt")
    columns = ["ridge", "live − extended", "fit − extended", "eq. (4) − extended"]
    return [
        Text(
            f"Around {HELD} samples after {records[0]['edits']:,} single appends and removals, "
            "compared with the same estimator in extended precision, relative to the largest "
            f"decision value on 200 fresh samples. RBF, d = 20, gamma {WIDE:g}. Eq. (4): the "
            "normal equations of saadi2004 solved directly in double precision."
        ),
        Table([*columns, "rebuilt (times)"], [[r[name] for name in names] for r in records]),
    ]


TITLE = "Kernel Fisher discriminant"
EXPERIMENTS = (
    benchmark("fisher_updates", f"{TITLE}: one sample in, one sample out",
              update_cases, run_updates, report_updates),
    benchmark("fisher_leave_one_out", f"{TITLE}: leave-one-out and the true error",
              error_cases, run_errors, report_errors, timed=False),
    benchmark("fisher_exactness", f"{TITLE}: decision values after many edits",
              exactness_cases, run_exactness, report_exactness, timed=False),
)  # fmt: skip
