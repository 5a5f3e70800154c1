"""Sparse machines by orthogonal least squares: andelic2007's data sets, and a large fit."""

from __future__ import annotations

import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks._harness import Table, time_call
from gramian import OrthogonalKernelClassifier, OrthogonalKernelRegressor
from gramian.datasets import load, make_sinc
from gramian.reproduce._experiments._sparse import FACTORS, PAPER, scale_gamma

CLASSIFICATION = ("usps", "letter", "optdigits", "pendigits", "satimage")
SETTINGS: dict[str, dict[str, Any]] = {
    "as it comes": {},
    'stopping="loo"': {"stopping": "loo"},
    'stopping="bic"': {"stopping": "bic"},
    'penalty="orthogonal"': {"penalty": "orthogonal"},
    "the paper's, λ settles": {**PAPER, "stopping": "lambda"},
    "the paper's, least GCV": PAPER,
}
# Multiples of scikit-learn's "scale", tried by folds on at most so many samples.
FOLDS, TUNED_ON = 3, 3_000


def run(quick: bool) -> None:
    run_sinc(quick)
    run_classification(quick)
    run_regression(quick)
    run_large(quick)


# -- sinc ---------------------------------------------------------------------------------------


def run_sinc(quick: bool) -> None:
    draws = 5 if quick else 100
    table = Table(
        "orthogonal_sinc",
        "Orthogonal least squares: noisy sinc",
        ("settings", "mean RMSE", "largest RMSE", "mean centres", "fit (ms)"),
        note=(
            f"100 samples, noise 0.2, {draws} draws; RMSE to the function itself on 200 points. "
            "Width by cross-validation. The bar: RMSE below 0.08 with fewer than 15 centres. "
            "`python -m benchmarks orthogonal`"
        ),
    )
    for name, parameters in SETTINGS.items():
        results = np.array([sinc_draw(k, **parameters) for k in range(draws)])
        errors, centres, seconds = results.T
        table.add(name, errors.mean(), errors.max(), centres.mean(), 1e3 * seconds.mean())
    table.write()


def sinc_draw(seed: int, **parameters: Any) -> tuple[float, int, float]:
    """RMSE, number of centres and seconds for one draw."""
    X, y = make_sinc(100, noise=0.2, random_state=seed)
    start = perf_counter()
    model = OrthogonalKernelRegressor(**parameters).fit(X, y)
    seconds = perf_counter() - start
    grid = np.linspace(-10, 10, 200)[:, None]
    error = model.predict(grid) - np.sinc(grid[:, 0] / np.pi)
    return float(np.sqrt(np.mean(error**2))), model.n_basis_, seconds


# -- classification -----------------------------------------------------------------------------


def run_classification(quick: bool) -> None:
    table = Table(
        "orthogonal_classification",
        "Orthogonal least squares and support vectors",
        (
            "data",
            "machine",
            "test error (%)",
            "centres / support vectors",
            "predict all (ms)",
            "fit (s)",
        ),
        note=(
            "Official partitions, features scaled to zero mean and unit variance (digits and USPS "
            "as they are). gamma and C of the SVC by three folds on at most 3,000 samples; the "
            "orthogonal machines as they come, but all bases together may have half as many "
            "centres as the SVC has support vectors. Tuning is in the seconds of the latter alone. "
            "The bar: an error at most 0.3 points above the SVC's and predictions twice as fast. "
            "`python -m benchmarks orthogonal`"
        ),
    )
    for name in ("optdigits",) if quick else CLASSIFICATION:
        Xa, ya, Xb, yb = split(name, 600 if quick else None)
        svc = tuned(SVC(), {"C": [1.0, 10.0, 100.0]}, Xa, ya)
        count = measure(table, name, "SVC", svc, (Xa, ya, Xb, yb))
        own = OrthogonalKernelClassifier()
        for basis, parts in (("shared", 1), ("one-vs-rest", len(np.unique(ya)))):
            own.set_params(basis=basis, max_basis=count // (2 * parts))
            measure(table, name, f"orthogonal, {basis}", own, (Xa, ya, Xb, yb))
    table.write()


def measure(table: Table, name: str, machine: str, model, parts) -> int:
    """Fit, add a row, and return the number of centres or support vectors."""
    Xa, ya, Xb, yb = parts
    start = perf_counter()
    model.fit(Xa, ya)
    seconds = perf_counter() - start
    count = int(model.n_support_.sum()) if isinstance(model, SVC) else model.n_basis_
    predict = time_call(lambda: model.predict(Xb), repeat=3).best
    table.add(name, machine, 100 * (1 - model.score(Xb, yb)), count, 1e3 * predict, seconds)
    return count


def split(name: str, limit: int | None) -> tuple[np.ndarray, ...]:
    """Training and test samples of the official partition, or of one drawn at random."""
    data = load(name)
    if data.n_official:
        train, test = data.partition()
    else:
        train, test = data.partitions(1, n_train=3 * len(data.y) // 4)[0][:2]
    train, test = train[:limit], test[:limit]
    X = data.X if name in ("usps", "optdigits", "pendigits") else scaled(data.X, train)
    return X[train], data.y[train], X[test], data.y[test]


def scaled(X: np.ndarray, train: np.ndarray) -> np.ndarray:
    return StandardScaler().fit(X[train]).transform(X)


def tuned(model, grid: dict[str, list], X: np.ndarray, y: np.ndarray):
    """The model with the best width, and the rest of the grid, by folds."""
    some = np.random.default_rng(0).permutation(len(y))[:TUNED_ON]
    grid = {"gamma": [factor * scale_gamma(X) for factor in FACTORS], **grid}
    search = GridSearchCV(model, grid, cv=FOLDS, refit=False).fit(X[some], y[some])
    return model.set_params(**search.best_params_)


# -- regression ---------------------------------------------------------------------------------


def run_regression(quick: bool) -> None:
    table = Table(
        "orthogonal_regression",
        "Orthogonal least squares and kernel ridge regression on all samples",
        ("data", "machine", "MSE", "more than KernelRidge's", "mean centres", "fit (s)"),
        note=(
            "Random partitions, 481 of 506 samples for training (Boston) and 3,000 of 4,177 "
            "(abalone); features scaled, KernelRidge's targets centred on the training part. gamma "
            "and alpha of KernelRidge by three folds. The bar: an error no larger. The differences "
            "are over the same partitions, with the standard error of their mean; tuning is in the "
            "seconds. `python -m benchmarks orthogonal`"
        ),
    )
    for name, (n_train, partitions) in {"boston": (481, 50), "abalone": (3000, 10)}.items():
        n, n_train = (2, 200) if quick else (partitions, n_train)
        results = np.array([regress(name, k, n_train) for k in range(n)])
        for machine, rows in zip(REGRESSORS, results.swapaxes(0, 1), strict=True):
            more = rows[:, 0] - results[:, 0, 0]
            difference = f"{more.mean():.2f} ± {more.std() / np.sqrt(n):.2f}"
            table.add(
                f"{name}, {n} partitions",
                machine,
                rows[:, 0].mean(),
                difference,
                *rows[:, 1:].mean(axis=0),
            )
    table.write()


def regress(name: str, k: int, n_train: int) -> list[tuple[float, int, float]]:
    """Test error, number of centres and seconds of each machine on one partition."""
    data = load(name)
    train, test = data.partitions(k + 1, n_train=n_train)[k][:2]
    X, mean = scaled(data.X, train), data.y[train].mean()
    found = []
    for make in REGRESSORS.values():
        start = perf_counter()
        model = make(X[train], data.y[train] - mean).fit(X[train], data.y[train] - mean)
        seconds = perf_counter() - start
        error = float(np.mean((model.predict(X[test]) + mean - data.y[test]) ** 2))
        found.append((error, getattr(model, "n_basis_", n_train), seconds))
    return found


def kernel_ridge(X: np.ndarray, y: np.ndarray) -> KernelRidge:
    return tuned(KernelRidge(kernel="rbf"), {"alpha": [1e-3, 1e-2, 1e-1, 1.0]}, X, y)


REGRESSORS: dict[str, Callable] = {
    "KernelRidge": kernel_ridge,
    "orthogonal, as it comes": lambda X, y: OrthogonalKernelRegressor(),
    'orthogonal, stopping="loo"': lambda X, y: OrthogonalKernelRegressor(stopping="loo"),
    "orthogonal, the paper's, least GCV": lambda X, y: OrthogonalKernelRegressor(**PAPER),
}


# -- many samples -------------------------------------------------------------------------------


def run_large(quick: bool) -> None:
    table = Table(
        "orthogonal_large",
        "Orthogonal least squares on many samples",
        (
            "n",
            "centres",
            "fit (s)",
            "memory beyond data (GiB)",
            "learn one (ms)",
            "forget one (ms)",
        ),
        note=(
            "Regression in ten dimensions, RBF, gamma 0.1, in a process of its own; memory is its "
            "largest resident size after the fit, less that before it. Bars: 2 GiB and minutes at "
            "100,000 × 500. `python -m benchmarks orthogonal`"
        ),
    )
    for n, m in ((2_000, 50),) if quick else ((10_000, 500), (100_000, 500)):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            table.add(n, *alone.submit(large, n, m).result())
    table.write()


def large(n: int, m: int) -> tuple[float, ...]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 10))
    y = np.sin(X[:, 0]) + np.cos(2 * X[:, 1] * X[:, 2]) + 0.1 * rng.standard_normal(n)
    model = OrthogonalKernelRegressor(gamma=0.1, max_basis=m)
    before, start = resident(), perf_counter()
    model.fit(X, y)
    seconds, memory = perf_counter() - start, resident() - before
    others = iter(np.setdiff1d(model.ids_, model.basis_ids_))
    learn = time_call(lambda: model.partial_fit(X[:1] + 0.1, y[:1]), repeat=9).median
    forget = time_call(lambda: model.forget(next(others)), repeat=9).median
    return model.n_basis_, seconds, memory, 1e3 * learn, 1e3 * forget


def resident() -> float:
    """Largest resident size of this process so far, GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
