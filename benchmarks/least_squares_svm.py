"""Decrements in the form of duan2008, Tables 1 and 2; and linear kernels with a million samples."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.linear_model import RidgeClassifier

from benchmarks._harness import Table, time_call
from gramian import LagrangianSVC, LeastSquaresSVC
from gramian.machines._lagrangian import lagrangian_iteration

# duan2008, section 4: the sizes of its data sets, σ = 2, γ = 1.9/C, ε = 1e-5.
SIZES = {
    "Thyroid": (140, 5),
    "Ringnorm": (400, 20),
    "German": (720, 20),
    "Splice": (1000, 60),
    "Image1": (1300, 18),
    "Image2": (2020, 18),
}
GAMMA, C, STEP, TOL = 1.0 / 8.0, 1.0, 1.9, 1e-5
CALLS = {1: 32, 20: 2, 50: 1}  # decrements in a row: over 32, one sample each, all are folded in


def run(quick: bool) -> None:
    sizes = dict(list(SIZES.items())[:2]) if quick else SIZES
    least_squares(sizes)
    lagrangian(sizes)
    linear(20_000 if quick else 1_000_000, 50)


def samples(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Random data of a given size, two classes that overlap."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, (X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.standard_normal(n) > 1.0).astype(int)


# -- LS-SVM -------------------------------------------------------------------------------------


def least_squares(sizes: dict[str, tuple[int, int]]) -> None:
    table = Table(
        "least_squares_svm",
        "Decrements of the LS-SVM (duan2008, Tables 1 and 2)",
        (
            "sizes of",
            "samples × features",
            "k",
            "direct inverse (ms)",
            "Cholesky solve (ms)",
            "forget (ms)",
            "inverse / forget",
            "Cholesky / forget",
        ),
        note=(
            f"Random data of the paper's sizes, RBF with σ = 2, C = {C:g}. The first two solve "
            "eq. (12) anew for the n − k samples that stay, with the kernel matrix at hand: by "
            "its inverse, as the paper's OLSSVM and BLSSVM do, and by a Cholesky factor. `forget` "
            "includes reading the new coefficients and intercept. Best of five; k = 1 is the mean "
            "of 32 decrements in a row. `python -m benchmarks least_squares_svm`"
        ),
    )
    for name, (n, d) in sizes.items():
        X, y = samples(n, d)
        model = LeastSquaresSVC(gamma=GAMMA, C=C).fit(X, y)
        Q = model._kernel(X, X) + np.eye(n) / C
        for k in CALLS:
            stay = np.arange(n) >= k
            direct, cholesky = refit_times(Q[np.ix_(stay, stay)], np.where(y > 0, 1.0, -1.0)[stay])
            forget = decrement_time(model, k, n)
            times = (1e3 * t for t in (direct, cholesky, forget))
            table.add(name, f"{n} × {d}", k, *times, direct / forget, cholesky / forget)
    table.write()


def refit_times(Q: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Seconds of duan2008, eq. (12), by the inverse and by a Cholesky factor."""
    B = np.column_stack([y, np.ones(len(y))])

    def by_inverse() -> None:
        coefficients(np.linalg.inv(Q) @ B)

    def by_cholesky() -> None:
        coefficients(cho_solve(cho_factor(Q), B))

    return time_call(by_inverse, repeat=5).best, time_call(by_cholesky, repeat=5).best


def coefficients(solved: np.ndarray) -> tuple[float, np.ndarray]:
    r, s = solved.T
    b = r.sum() / s.sum()
    return b, r - b * s


def decrement_time(model: Any, k: int, n: int, *, most: int = 32, repeat: int = 5) -> float:
    """Seconds to forget k samples and to read the solution; the mean of ``most`` calls at most."""
    calls = min(CALLS[k], most, (n // 2) // k)

    def decrement(twin: Any) -> None:
        for i in range(calls):
            twin.forget(np.arange(i * k, (i + 1) * k))
            twin.dual_coef_, twin.intercept_  # noqa: B018

    return time_call(decrement, repeat, setup=lambda: (copy.deepcopy(model),)).best / calls


# -- Lagrangian SVM -----------------------------------------------------------------------------


def lagrangian(sizes: dict[str, tuple[int, int]]) -> None:
    table = Table(
        "lagrangian_svm",
        "Decrements of the Lagrangian SVM (duan2008, Tables 1 and 2)",
        (
            "sizes of",
            "samples × features",
            "C",
            "support",
            "k",
            "direct inverse, iteration (ms)",
            "forget, iteration (ms)",
            "forget, pivot (ms)",
            "direct / iteration",
            "direct / pivot",
        ),
        note=(
            "Random data of the paper's sizes, RBF with σ = 2, γ = 1.9/C, ε = 1e-5; C = 1/n as in "
            "the paper, where every sample is a support vector, and C = 100. The first inverts Q "
            "anew for the n − k samples that stay, with the kernel matrix at hand, and iterates "
            "eq. (10) from the previous α, as the paper's OLSVM and BLSVM do; then `forget` and a "
            'read of the coefficients, with `solver="lagrangian"` (both best of two) and with the '
            "default (best of five; k = 1 is the mean of 32 decrements in a row). "
            "`python -m benchmarks least_squares_svm`"
        ),
    )
    for name, (n, d) in sizes.items():
        for C in (1.0 / n, 100.0):
            for row in lagrangian_rows(*samples(n, d), C):
                table.add(name, f"{n} × {d}", C, *row)
    table.write()


def lagrangian_rows(X: np.ndarray, y: np.ndarray, C: float) -> Iterator[tuple[Any, ...]]:
    n = len(y)
    pivot = LagrangianSVC(gamma=GAMMA, C=C).fit(X, y)
    iteration = LagrangianSVC(gamma=GAMMA, C=C, solver="lagrangian", step=STEP, tol=TOL).fit(X, y)
    A = pivot._kernel(X, X) + np.eye(n) / C
    for k in CALLS:
        signs = np.where(y > 0, 1.0, -1.0)
        direct = direct_iteration_time(A, signs, iteration.dual_coef_, k, STEP / C)
        warm = decrement_time(iteration, k, n, most=4, repeat=2)
        exact = decrement_time(pivot, k, n)
        times = (1e3 * t for t in (direct, warm, exact))
        yield len(pivot.support_), k, *times, direct / warm, direct / exact


def direct_iteration_time(
    A: np.ndarray, y: np.ndarray, z: np.ndarray, k: int, step: float
) -> float:
    """Seconds of duan2008, section 3.2, with step 3 by a direct inverse."""
    A, Y, Z = A[k:, k:], y[k:, None], z[k:, None]

    def solve() -> None:
        P = np.linalg.inv(A)
        lagrangian_iteration(lambda B: P @ B, Y, Z, A @ Z, step=step, tol=TOL, max_iter=10_000)

    return time_call(solve, repeat=2).best


# -- linear kernels -----------------------------------------------------------------------------


def linear(n: int, d: int) -> None:
    table = Table(
        "linear_svm",
        f"Linear kernel, {n:,} samples × {d} features",
        ("what", "seconds", "refit / this"),
        note=(
            '`LeastSquaresSVC(kernel="linear", C=1)` as sums of (d+1)×(d+1) numbers. Learning and '
            "forgetting one sample are means over 20 calls, coefficients read after each; what is "
            "O(n) in them is the list of ids and labels. The refit is `fit` itself, or "
            "scikit-learn's `RidgeClassifier` for comparison. "
            "`python -m benchmarks least_squares_svm`"
        ),
    )
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n + 20, d))
    y = (X[:, 0] + rng.standard_normal(n + 20) > 0).astype(int)
    model = LeastSquaresSVC(kernel="linear", C=1.0)
    refit = time_call(lambda: model.fit(X[:n], y[:n]), repeat=1).best
    peer = RidgeClassifier(solver="cholesky")
    table.add("RidgeClassifier.fit", time_call(lambda: peer.fit(X[:n], y[:n]), repeat=1).best, None)
    table.add("fit", refit, 1.0)
    model.partial_fit(X[:1], y[:1], ids=[-1]).forget([-1])  # grows the buffer once

    def learn() -> None:
        for i in range(n, n + 20):
            model.partial_fit(X[i : i + 1], y[i : i + 1]).coef_  # noqa: B018

    def forget() -> None:
        for i in range(20):
            model.forget(i).coef_  # noqa: B018

    for name, edits in (("learn one sample", learn), ("forget one sample", forget)):
        seconds = time_call(edits, repeat=1).best / 20
        table.add(name, seconds, refit / seconds)
    loo = time_call(model.loo_decision_function, repeat=1).best
    table.add("leave-one-out of all", loo, refit / loo)
    table.write()
