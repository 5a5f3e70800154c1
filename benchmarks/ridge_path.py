"""25 ridges by exact leave-one-out from one spectrum, against folds and against the bare `eigh`."""

from __future__ import annotations

from functools import partial

import numpy as np
from joblib import cpu_count
from scipy.linalg import eigh
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

from benchmarks._harness import RESULTS, Table, limit_threads, time_call
from benchmarks._partitions import QUICK
from gramian import LeastSquaresSVR
from gramian.kernels import make_kernel
from gramian.machines._criteria import CRITERIA
from gramian.machines import Responses
from gramian.machines import KERNEL_RIDGE
from gramian.selection import Problem

D = 20
GAMMA = 1.0 / D
RIDGES = np.geomspace(1e-4, 1e2, 25)
NOISE = 0.3
DRIVERS = ("evd", "evr")


def run(quick: bool) -> None:
    table = Table(
        "ridge_path",
        "A path of 25 ridges by exact leave-one-out",
        (
            "n",
            "threads",
            "path (s)",
            "bare eigh (s)",
            "GridSearchCV, 5 folds (s)",
            "path / eigh",
            "GridSearchCV / path",
            'fit with C="loo" (s)',
            "GridSearchCV with refit / fit",
        ),
        note=(
            f"Kernel ridge regression, RBF of one given width, d = {D}. Path: kernel matrix, "
            "spectrum, and the leave-one-out error of all samples for each ridge. Bare eigh: the "
            "faster of LAPACK's divide and conquer and its relatively robust representations, by "
            "`scipy.linalg.eigh`, kernel matrix given. GridSearchCV: `KernelRidge` on the same "
            "ridges, 5 folds, one process. The last two columns are whole fits, with choice: "
            '`LeastSquaresSVR(gamma=…, C="loo")`, which searches its own grid of some 40 ridges '
            "and builds the live inverse, and `GridSearchCV` with its refit. Best of three, "
            "GridSearchCV of one. `python -m benchmarks ridge_path`"
        ),
    )
    for n in (200, 400) if quick else (500, 1000, 2000, 4000):
        for threads in sorted({1, cpu_count()}):
            with limit_threads(threads):
                table.add(n, threads, *measure(n))
    table.write(QUICK if quick else RESULTS)


def measure(n: int) -> tuple[float, ...]:
    X, y = samples(n)
    path = time_call(lambda: loo_errors(X, y), repeat=3).best
    bare = min(
        time_call(partial(bare_eigh, driver), 3, lambda: (gram(X),)).best for driver in DRIVERS
    )
    search = GridSearchCV(
        KernelRidge(kernel="rbf", gamma=GAMMA),
        {"alpha": RIDGES},
        scoring="neg_mean_squared_error",
        cv=5,
        refit=False,
    )
    folds = time_call(lambda: search.fit(X, y), repeat=1).best
    refit = time_call(lambda: search.estimator.fit(X, y), repeat=3).best
    check(search, loo_errors(X, y))
    fit = time_call(lambda: LeastSquaresSVR(gamma=GAMMA).fit(X, y), repeat=3).best
    return path, bare, folds, path / bare, folds / path, fit, (folds + refit) / fit


def samples(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, D))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + NOISE * rng.standard_normal(n)


def loo_errors(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The mean squared leave-one-out error for each of the ridges."""
    problem = Problem(KERNEL_RIDGE, Responses(y[:, None]), X, rbf)
    left_out = problem.loo_path(problem.spectrum(GAMMA), RIDGES)
    return CRITERIA["squared"].value(left_out, problem.targets)


def rbf(gamma: float):
    return make_kernel("rbf", gamma=gamma)


def gram(X: np.ndarray) -> np.ndarray:
    return np.asfortranarray(rbf(GAMMA)(X, X))


def bare_eigh(driver: str, K: np.ndarray) -> None:
    eigh(K, driver=driver, overwrite_a=True, check_finite=False)


def check(search: GridSearchCV, errors: np.ndarray) -> None:
    """Both ways choose about the same ridge."""
    folds = -search.cv_results_["mean_test_score"]
    distance = abs(int(np.argmin(folds)) - int(np.argmin(errors)))
    assert distance <= 3, f"the ridges chosen are {distance} steps of the grid apart"
