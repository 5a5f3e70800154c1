"""25 ridges by exact leave-one-out from one spectrum, against folds and against the bare `eigh`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

from evidence._environment import cores
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared.learning import best_time
from gramian import LeastSquaresSVR
from gramian.core.equations import KERNEL_RIDGE
from gramian.core.gram._spectrum import decompose
from gramian.core.kernels import make_kernel

D = 20
GAMMA = 1.0 / D
RIDGES = np.geomspace(1e-4, 1e2, 25)
NOISE = 0.3
DRIVERS = ("evd", "evr")


def cases(quick: bool) -> list[Parameters]:
    sizes = (200, 400) if quick else (500, 1000, 2000, 4000)
    return [{"n": n, "threads": t} for n in sizes for t in sorted({1, cores()})]


def run(n: int, threads: int) -> dict[str, Any]:
    """Seconds of the path, of its decomposition alone, of folds, and of whole fits."""
    X, y = samples(n)
    search = GridSearchCV(
        KernelRidge(kernel="rbf", gamma=GAMMA),
        {"alpha": RIDGES},
        scoring="neg_mean_squared_error",
        cv=5,
        refit=False,
    )
    with threadpool_limits(limits=threads):
        path, errors = best_time(lambda: loo_errors(X, y))
        bare = min(best_time(partial(bare_eigh, d), 3, lambda: (gram(X),))[0] for d in DRIVERS)
        folds, _ = best_time(lambda: search.fit(X, y), repeat=1)
        refit, _ = best_time(lambda: search.estimator.fit(X, y))
        fit, _ = best_time(lambda: LeastSquaresSVR(gamma=GAMMA).fit(X, y))
    check(search, errors)
    return {"path": path, "bare": bare, "folds": folds, "refit": refit, "fit": fit}


def samples(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, D))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + NOISE * rng.standard_normal(n)


def loo_errors(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The mean squared leave-one-out error for each of the ridges."""
    left_out = KERNEL_RIDGE.loo_path(decompose(gram(X)), y[:, None], RIDGES)[:, :, 0]
    return np.mean((left_out - y) ** 2, axis=1)


def gram(X: np.ndarray) -> np.ndarray:
    return make_kernel("rbf", gamma=GAMMA)(X, X)


def bare_eigh(driver: str, K: np.ndarray) -> None:
    eigh(K.T, driver=driver, overwrite_a=True, check_finite=False)


def check(search: GridSearchCV, errors: np.ndarray) -> None:
    """Both ways choose about the same ridge."""
    folds = -search.cv_results_["mean_test_score"]
    distance = abs(int(np.argmin(folds)) - int(np.argmin(errors)))
    assert distance <= 3, f"the ridges chosen are {distance} steps of the grid apart"


def report(records: list[Record]) -> list[Part]:
    rows = [
        [
            *(r[name] for name in ("n", "threads", "path", "bare", "folds")),
            r["path"] / r["bare"],
            r["folds"] / r["path"],
            r["fit"],
            (r["folds"] + r["refit"]) / r["fit"],
        ]
        for r in records
    ]
    columns = [
        "n",
        "threads",
        "path (s)",
        "bare eigh (s)",
        "GridSearchCV, 5 folds (s)",
        "path / eigh",
        "GridSearchCV / path",
        'fit with C="loo" (s)',
        "GridSearchCV with refit / fit",
    ]
    return [
        Text(
            f"Kernel ridge regression, RBF of one given width, d = {D}. Path: kernel matrix, "
            "spectrum, and the leave-one-out error of all samples for each ridge. Bare eigh: "
            "the faster of LAPACK's divide and conquer and its relatively robust "
            "representations, by `scipy.linalg.eigh`, kernel matrix given. GridSearchCV: "
            "`KernelRidge` on the same ridges, 5 folds, one process. The last two columns are "
            'whole fits, including the choice: `LeastSquaresSVR(gamma=…, C="loo")`, which '
            "searches its own grid of some 40 ridges and builds the live inverse, and "
            "`GridSearchCV` with its refit. Times are the best of three runs, for "
            "GridSearchCV of one."
        ),
        Table(columns, rows),
    ]


EXPERIMENTS = (
    benchmark("ridge_path", "A path of 25 ridges by exact leave-one-out", cases, run, report),
)
