"""Taking samples out of least squares and Lagrangian support vector machines."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from evidence._experiment import Experiment, Parameters, Part, Record, Table, Text
from evidence.published import duan2008
from evidence.shared.data import SEED, dataset
from evidence.shared.learning import best_time, largest_difference, mean_time
from gramian import LagrangianSVC, LeastSquaresSVC
from gramian.core.kernels import make_kernel
from gramian.svm._lagrangian_equations import lagrangian_iteration

GAMMA = 1.0 / (2.0 * duan2008.SIGMA**2)
CALLS = {1: 32, 20: 2, 50: 1}  # decrements in a row: over 32, one sample each, all are folded in
LARGE_C = 100.0


def sizes(quick: bool) -> list[Parameters]:
    rows = [row.split(", ") for row in duan2008.TABLES_1_AND_2]
    found = [{"data": name, "m": int(m), "k": int(k)} for name, m, k in rows]
    return [case for case in found if not quick or case["m"] <= 400]


def samples(data: str, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """m samples at random, their labels, and their kernel matrix."""
    whole = dataset(data)
    rows = np.random.default_rng(SEED).permutation(len(whole.y))[:m]
    X = whole.X[rows]
    return X, whole.y[rows], make_kernel("rbf", gamma=GAMMA)(X, X)


def forgetting(model: Any, k: int, most: int = 32, repeat: int = 3) -> float:
    """Seconds to forget k samples and to read the solution; the mean of a few calls in a row."""
    calls = min(CALLS[k], most, len(model.ids_) // (2 * k))
    starts = [np.arange(i * k, (i + 1) * k) for i in range(calls)]

    twins = [deepcopy(model) for _ in range(repeat)]
    return min(mean_time(partial(_forget, twin), starts) for twin in twins)


def _forget(model: Any, ids: np.ndarray) -> np.ndarray:
    return model.forget(ids).dual_coef_


def both_ways(make: Callable[[], Any], X: np.ndarray, y: np.ndarray, k: int) -> dict[str, Any]:
    """Seconds of a fit to what is left, and how far forgetting is from it."""
    fit, expected = best_time(lambda: make().fit(X[k:], y[k:]).dual_coef_)
    live = make().fit(X, y).forget(np.arange(k)).dual_coef_
    return {"fit": fit, "difference": largest_difference(live, expected)}


# -- LS-SVM -------------------------------------------------------------------------------------


def run_least_squares(data: str, m: int, k: int) -> dict[str, Any]:
    """Seconds to solve without k of m samples, in four ways."""
    X, y, K = samples(data, m)
    C = 1.0 / m

    def make() -> LeastSquaresSVC:
        return LeastSquaresSVC(gamma=GAMMA, C=C)

    Q = K[k:, k:] + np.eye(m - k) / C
    B = np.column_stack([np.where(y > 0, 1.0, -1.0), np.ones(m)])[k:]
    return {
        "inverse": best_time(lambda: bordered(np.linalg.inv(Q) @ B))[0],
        "cholesky": best_time(lambda: bordered(cho_solve(cho_factor(Q), B)))[0],
        "forget": forgetting(make().fit(X, y), k),
        **both_ways(make, X, y, k),
    }


def bordered(solved: np.ndarray) -> tuple[float, np.ndarray]:
    """Intercept and coefficients (duan2008, eq. 12)."""
    r, s = solved.T
    b = r.sum() / s.sum()
    return b, r - b * s


def report_least_squares(records: list[Record]) -> list[Part]:
    rows = [
        [
            *_published("LSSVM", r),
            *(1e3 * r[name] for name in ("fit", "inverse", "cholesky", "forget")),
            *(r[name] / r["forget"] for name in ("fit", "inverse", "cholesky")),
            r["difference"],
        ]
        for r in records
    ]
    columns = [
        *COLUMNS,
        *(f"{what} (ms)" for what in ("fit", "inverse", "Cholesky", "forget")),
        *(f"{what} / forget" for what in ("fit", "inverse", "Cholesky")),
        "solutions differ by",
    ]
    return [
        Text(
            f"{WORDS} Fit: `LeastSquaresSVC` on the remaining samples. Inverse and Cholesky "
            "solve eq. (12) from scratch, with the kernel matrix given: by its inverse, as "
            "the paper's OLSSVM and BLSSVM do, and by a Cholesky factor."
        ),
        Table(columns, rows, "duan2008, Tables 1 and 2: LSSVM"),
        Text(
            "“3.1563” in the paper's Table 2 (LSSVM, german, k = 20) is less than the time with "
            "which it is compared, and probably lacks a digit."
        ),
    ]


# -- Lagrangian SVM -----------------------------------------------------------------------------


def lagrangian_cases(quick: bool) -> list[Parameters]:
    return [{**case, "C": C} for case in sizes(quick) for C in (1.0 / case["m"], LARGE_C)]


def run_lagrangian(data: str, m: int, k: int, C: float) -> dict[str, Any]:
    """Seconds to solve without k of m samples, in four ways."""
    X, y, K = samples(data, m)

    def make() -> LagrangianSVC:
        return LagrangianSVC(
            gamma=GAMMA, C=C, solver="lagrangian", step=duan2008.STEP, tol=duan2008.PRECISION
        )

    iteration, pivot = make().fit(X, y), LagrangianSVC(gamma=GAMMA, C=C).fit(X, y)
    A, signs = K[k:, k:] + np.eye(m - k) / C, np.where(y > 0, 1.0, -1.0)[k:, None]
    Z = iteration.dual_coef_[k:, None]
    return {
        "support": len(pivot.support_),
        "direct": best_time(lambda: direct_iteration(A, signs, Z, C), repeat=2)[0],
        "iteration": forgetting(iteration, k, most=4, repeat=2),
        "pivot": forgetting(pivot, k),
        **both_ways(make, X, y, k),
    }


def direct_iteration(A: np.ndarray, Y: np.ndarray, Z: np.ndarray, C: float) -> Any:
    """duan2008, section 3.2, with step 3 by a direct inverse."""
    P, step = np.linalg.inv(A), duan2008.STEP / C
    options = {"step": step, "tol": duan2008.PRECISION, "max_iter": 10_000}
    return lagrangian_iteration(lambda B: P @ B, Y, Z, A @ Z, **options)


def report_lagrangian(records: list[Record]) -> list[Part]:
    rows = [
        [
            *_published("LSVM", r),
            r["C"],
            r["support"],
            *(1e3 * r[name] for name in ("fit", "direct", "iteration", "pivot")),
            r["fit"] / r["iteration"],
            r["direct"] / r["iteration"],
            r["direct"] / r["pivot"],
            r["difference"],
        ]
        for r in records
    ]
    columns = [
        *COLUMNS,
        "C",
        "support",
        "fit (ms)",
        "inverse and iteration (ms)",
        "forget, iteration (ms)",
        "forget, pivot (ms)",
        "fit / iteration",
        "inverse / iteration",
        "inverse / pivot",
        "solutions differ by",
    ]
    return [
        Text(
            f"{WORDS} λ = 1.9/C and precision 1e-5; with C = 1/m every sample is a support "
            f"vector, with C = {LARGE_C:g} not. Fit: `LagrangianSVC` on the remaining samples. "
            "Inverse and iteration inverts Q from scratch, with the kernel matrix given, and "
            "iterates eq. (10) from the previous α, as the paper's OLSVM and BLSVM do. "
            'Forgetting is by the iteration (`solver="lagrangian"`) and by pivots, which is '
            "the default."
        ),
        Table(columns, rows, "duan2008, Tables 1 and 2: LSVM"),
    ]


# -- both ---------------------------------------------------------------------------------------

WORDS = (
    "Time to compute the solution without k of m samples. The paper's seconds, in MATLAB on a "
    "Pentium IV, are those of whole programs, whose two columns differ by the inversion "
    "alone; hence its ratios near 1. Parameters are the paper's: σ = 2, C = 1/m. Samples are "
    "drawn at random from the whole set, m as the paper prints it. `forget` includes reading "
    "the coefficients; k = 1 is the mean of several decrements in a row."
)
COLUMNS = ("set, m", "k", "published: direct / decremental (s)", "ratio")


def _published(machine: str, record: Record) -> list[Any]:
    published = duan2008.TABLES_1_AND_2[f"{record['data']}, {record['m']}, {record['k']}"]
    before, after = (published[f"{machine} {way}"] for way in ("direct", "decremental"))
    name = f"{record['data'].removeprefix('ida_')}, {record['m']:,}"
    return [name, record["k"], f"{before:g} / {after:g}", f"{before / after:.3f}"]


EXPERIMENTS = (
    Experiment("duan2008-tables-1-and-2-lssvm",
               "duan2008, Tables 1 and 2: decrements of the LS-SVM",
               sizes, run_least_squares, report_least_squares, timed=True,
               file="least_squares_svm"),
    Experiment("duan2008-tables-1-and-2-lsvm",
               "duan2008, Tables 1 and 2: decrements of the Lagrangian SVM",
               lagrangian_cases, run_lagrangian, report_lagrangian, timed=True,
               file="lagrangian_svm"),
)  # fmt: skip
