"""Sparse machines by orthogonal least squares: andelic2007's data sets, and a large fit."""

from __future__ import annotations

import resource
from time import perf_counter

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks._harness import Table, time_call
from gramian import OrthogonalKernelClassifier, OrthogonalKernelRegressor
from gramian.datasets import load, make_sinc

CLASSIFICATION = ("usps", "letter", "optdigits", "pendigits", "satimage")
# Multiples of scikit-learn's "scale", tried by folds on at most so many samples.
FACTORS, FOLDS, TUNED_ON = (0.5, 1.0, 2.0, 4.0, 8.0), 3, 3_000


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
        ("stopping", "selection", "mean RMSE", "largest RMSE", "mean centres", "fit (ms)"),
        note=(
            f"100 samples, noise 0.2, {draws} draws; RMSE to the function itself on 200 points. "
            "Width by cross-validation. The bar: RMSE below 0.08 with fewer than 15 centres. "
            "`python -m benchmarks orthogonal`"
        ),
    )
    for stopping, selection, ridge in (
        ("loo", "gain", "loo"),
        ("gcv", "gain", "gcv"),
        ("bic", "gain", "loo"),
        ("lambda", "residual", "gcv"),
    ):
        results = np.array(
            [
                sinc_draw(k, stopping=stopping, selection=selection, ridge=ridge)
                for k in range(draws)
            ]
        )
        errors, centres, seconds = results.T
        table.add(
            stopping, selection, errors.mean(), errors.max(), centres.mean(), 1e3 * seconds.mean()
        )
    table.write()


def sinc_draw(seed: int, **parameters: str) -> tuple[float, int, float]:
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
            "as they are). Widths, and C of the SVC, by three folds on at most 3,000 samples; the "
            "basis may have half as many centres as the SVC has support vectors. The bar: an error "
            "at most 0.3 points above the SVC's and predictions twice as fast. "
            "`python -m benchmarks orthogonal`"
        ),
    )
    for name in ("optdigits",) if quick else CLASSIFICATION:
        Xa, ya, Xb, yb = split(name, 600 if quick else None)
        svc = tuned(SVC(), {"C": [1.0, 10.0, 100.0]}, Xa, ya)
        count = measure(table, name, "SVC", svc, (Xa, ya, Xb, yb))
        own = tuned(OrthogonalKernelClassifier(max_basis=300), {}, Xa, ya)
        own.set_params(max_basis=count // 2)
        for basis in ("shared", "one-vs-rest"):
            model = own.set_params(basis=basis)
            if basis == "one-vs-rest":
                model.set_params(max_basis=max(1, count // (2 * len(np.unique(ya)))))
            measure(table, name, f"orthogonal, {basis}", model, (Xa, ya, Xb, yb))
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
    scale = 1.0 / (X.shape[1] * float(X.var()))
    grid = {"gamma": [factor * scale for factor in FACTORS], **grid}
    search = GridSearchCV(model, grid, cv=FOLDS, refit=False).fit(X[some], y[some])
    return model.set_params(**search.best_params_)


# -- regression ---------------------------------------------------------------------------------


def run_regression(quick: bool) -> None:
    table = Table(
        "orthogonal_regression",
        "Orthogonal least squares and kernel ridge regression on all samples",
        ("data", "partitions", "KernelRidge MSE", "orthogonal MSE", "samples", "mean centres"),
        note=(
            "Random partitions, 481 of 506 samples for training (Boston) and 3,000 of 4,177 "
            "(abalone), features and KernelRidge's targets scaled on the training part. gamma and "
            "alpha of KernelRidge by three folds; the orthogonal machine as it comes. The bar: an "
            "error no larger. `python -m benchmarks orthogonal`"
        ),
    )
    sizes = {"boston": 481, "abalone": 3000}
    for name, n_train in sizes.items():
        n = 2 if quick else {"boston": 100, "abalone": 10}[name]
        n_train = 200 if quick else n_train
        rows = np.array([regress(name, k, n_train) for k in range(n)])
        table.add(name, n, rows[:, 0].mean(), rows[:, 1].mean(), n_train, rows[:, 2].mean())
    table.write()


def regress(name: str, k: int, n_train: int) -> tuple[float, float, int]:
    """Test errors of both machines on one partition, and the number of centres."""
    data = load(name)
    train, test = data.partitions(k + 1, n_train=n_train)[k][:2]
    X, y = scaled(data.X, train), data.y
    mean = y[train].mean()
    ridge = tuned(KernelRidge("rbf"), {"alpha": [1e-3, 1e-2, 1e-1, 1.0]}, X[train], y[train] - mean)
    ridge.fit(X[train], y[train] - mean)
    own = OrthogonalKernelRegressor().fit(X[train], y[train])
    predictions = ridge.predict(X[test]) + mean, own.predict(X[test])
    errors = (float(np.mean((p - y[test]) ** 2)) for p in predictions)
    return (*errors, own.n_basis_)


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
            "Regression in ten dimensions, RBF, gamma 0.1; the largest resident size of the "
            "process during the fit, less that before it. Bars: 2 GiB and minutes at 100,000 × "
            "500. `python -m benchmarks orthogonal`"
        ),
    )
    for n, m in ((2_000, 50),) if quick else ((10_000, 500), (100_000, 500)):
        table.add(n, *large(n, m))
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
