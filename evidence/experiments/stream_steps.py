"""What one step of a sliding window takes, against a refit and against models of others."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier, SGDRegressor
from threadpoolctl import threadpool_limits

from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared.data import SEED
from gramian import KernelDiscriminant, LeastSquaresSVC, LeastSquaresSVR
from gramian.stream import SlidingWindow

ESTIMATORS = {
    "KernelDiscriminant": KernelDiscriminant(gamma=0.1, ridge=0.1),
    "LeastSquaresSVC": LeastSquaresSVC(gamma=0.1, C=10.0),
    "LeastSquaresSVR": LeastSquaresSVR(gamma=0.1, C=10.0),
}
FEATURES, CHUNK, CHUNKS = 10, 64, 30
PEERS = {
    "SGD": "scikit-learn's SGD",
    "linear": "River, linear",
    "knn": "River, KNN",
    "forest": "River, ARF",
}
QUERIES = 200


def cases(quick: bool) -> list[Parameters]:
    windows = (100,) if quick else (100, 500)
    return [{"estimator": name, "window": n} for name in ESTIMATORS for n in windows]


def run(estimator: str, window: int) -> dict[str, Any]:
    """Seconds of CPU of a step and of its parts, of a refit to the window, and of other models."""
    rng, model = np.random.default_rng(SEED), ESTIMATORS[estimator]
    X = rng.standard_normal((window + CHUNK * CHUNKS, FEATURES))
    y = X[:, 0] + 0.3 * rng.standard_normal(len(X))
    numeric = estimator == "LeastSquaresSVR"
    y = y if numeric else (y > 0).astype(int)
    live = SlidingWindow(clone(model), max_samples=window)
    step = _window_step(live, X, y, window)

    def edit(i: int) -> None:
        own.partial_fit(X[i : i + 1], y[i : i + 1], ids=[-i])
        own.forget(-i)

    with threadpool_limits(limits=1):
        means = _chunk_means(step, window)
        found = {"step": min(means), "typical": float(np.median(means))}
        own = live.estimator_.refitted()
        found["predict"] = _fastest(lambda i: own.predict(X[i : i + 1]), window)
        found["edit"] = _fastest(edit, window)
        found["refit"] = _fastest(lambda i: clone(model).fit(live.X_fit_, live.y_fit_), 0, 3)
        for name, peer in _peers(numeric, X, y, window).items():
            found[name] = _fastest(peer, window, chunks=5)
    return found


def _fastest(
    step: Callable[[int], Any], start: int, chunk: int = CHUNK, chunks: int = CHUNKS
) -> float:
    """Seconds of CPU of one step: the mean of a chunk of them, the best of all chunks."""
    return min(_chunk_means(step, start, chunk, chunks))


def _chunk_means(
    step: Callable[[int], Any], start: int, chunk: int = CHUNK, chunks: int = CHUNKS
) -> list[float]:
    """Seconds of CPU of one step: the mean of each chunk of them."""
    means = []
    for first in range(start, start + chunk * chunks, chunk):
        before = process_time()
        for i in range(first, first + chunk):
            step(i)
        means.append((process_time() - before) / chunk)
    return means


def _peers(
    numeric: bool, X: np.ndarray, y: np.ndarray, window: int
) -> dict[str, Callable[[int], Any]]:
    """A step of other models: predict one sample, then learn it; none of River if it is absent."""
    sgd = SGDRegressor() if numeric else SGDClassifier()
    sgd.partial_fit(X[:window], y[:window], **({} if numeric else {"classes": [0, 1]}))

    def step(i: int) -> None:
        sgd.predict(X[i : i + 1])
        sgd.partial_fit(X[i : i + 1], y[i : i + 1])

    if find_spec("river") is None:
        return {"SGD": step}
    from river import forest, linear_model, neighbors

    kinds = {
        "linear": (linear_model.LogisticRegression, linear_model.LinearRegression),
        "knn": (neighbors.KNNClassifier, neighbors.KNNRegressor),
        "forest": (forest.ARFClassifier, forest.ARFRegressor),
    }
    others = {name: kind[numeric] for name, kind in kinds.items()}
    return {"SGD": step, **{name: _river(kind(), X, y, window) for name, kind in others.items()}}


def _river(model: Any, X: np.ndarray, y: np.ndarray, window: int) -> Callable[[int], Any]:
    """A step of a River model that has learned the first window."""
    rows = [dict(enumerate(row)) for row in X.tolist()]
    targets = y.tolist()
    for i in range(window):
        model.learn_one(rows[i], targets[i])

    def step(i: int) -> None:
        model.predict_one(rows[i])
        model.learn_one(rows[i], targets[i])

    return step


def report(records: list[Record]) -> list[Part]:
    own = ("step", "typical", "predict", "edit")
    rows = [
        [r["estimator"], r["window"], *(1e6 * r[name] for name in own), r["refit"] / r["step"]]
        for r in records
    ]
    others = [
        [r["estimator"], r["window"], 1e6 * r["step"]]
        + [1e6 * r[name] if name in r else None for name in PEERS]
        for r in records
    ]
    return [
        Text(
            "Microseconds of CPU of one step of a `SlidingWindow`: predict one sample, learn "
            f"it and forget the oldest, {FEATURES} features, RBF kernel, one thread. The mean "
            f"of {CHUNK} steps, the best and the median of {CHUNKS} such means: they differ "
            "much if other processes use the same caches. Predict: one row again, by a model "
            "of the same samples. Learn and forget: `partial_fit` and `forget` of one row. "
            "Refit: the same estimator with the same hyper-parameters fitted to the samples "
            "in the window, without a prediction."
        ),
        Table(
            ["estimator", "window", "step (µs)", "median (µs)", "predict (µs)",
             "learn, forget (µs)", "refit / step"],
            rows,
        ),
        Text(
            "A step of other models in the same run: predict one sample, then learn it. They "
            "have their defaults; KNN holds 1,000 samples."
        ),
        Table(["for", "window", "step (µs)", *(f"{name} (µs)" for name in PEERS.values())], others),
    ]  # fmt: skip


# -- many steps ---------------------------------------------------------------------------------


def exact_cases(quick: bool) -> list[Parameters]:
    counts = (500,) if quick else (10_000, 100_000)
    return [{"steps": steps, "window": 50 if quick else 100} for steps in counts]


def million_cases(quick: bool) -> list[Parameters]:
    return [{"steps": 1_000 if quick else 1_000_000, "window": 50 if quick else 100}]


def exact(steps: int, window: int) -> dict[str, Any]:
    """How far a window is from a refit after so many steps, and what it says itself."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((window, FEATURES))
    live = SlidingWindow(clone(ESTIMATORS["LeastSquaresSVR"]), max_samples=window)
    live.fit(X, X[:, 0])
    for _ in range(steps):
        x = rng.standard_normal((1, FEATURES))
        live.predict(x)
        live.partial_fit(x, x[:, 0] + 0.3 * rng.standard_normal(1))
    queries = rng.standard_normal((QUERIES, FEATURES))
    fresh = clone(live.estimator).fit(live.X_fit_, live.y_fit_).predict(queries)
    off = np.abs(live.predict(queries) - fresh).max() / np.abs(fresh).max()
    model = live.estimator_
    return {"off": float(off), "drift": model.drift(), "rebuilds": len(model.rebuilds_)}


def exact_report(records: list[Record]) -> list[Part]:
    rows = [[r["window"], r["steps"], r["off"], r["drift"], r["rebuilds"]] for r in records]
    return [
        Text(
            "A `SlidingWindow` of `LeastSquaresSVR` that has predicted, learned and forgotten "
            "the given number of samples, one by one. Off: the largest difference of "
            f"{QUERIES} predictions from those of a refit to the samples in the window, "
            "relative to the largest of them."
        ),
        Table(["window", "steps", "off", "drift()", "rebuilds"], rows),
    ]


# -- other windows ------------------------------------------------------------------------------

KINDS = ("two classes", "three classes", "three targets", "class weights", "filling", "River")


def kind_cases(quick: bool) -> list[Parameters]:
    return [
        {"kind": kind, "window": n} for kind in KINDS for n in ((100,) if quick else (100, 500))
    ]


def run_kind(kind: str, window: int) -> dict[str, Any]:
    """Seconds of CPU of a step of a window of this kind, and of one whose steps are plain edits."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((window + CHUNK * CHUNKS, FEATURES))
    y = X[:, 0] + 0.3 * rng.standard_normal(len(X))
    if kind == "three targets":
        model, y = ESTIMATORS["LeastSquaresSVR"], np.column_stack([y, y**2, 1.0 - y])
    else:
        weights = {0: 2.0} if kind == "class weights" else None
        model = clone(ESTIMATORS["LeastSquaresSVC"]).set_params(class_weight=weights)
        y = np.digitize(y, [-0.5, 0.5] if kind == "three classes" else [0.0])
    if kind == "River" and find_spec("river") is not None:
        from gramian.stream import RiverClassifier

        river = RiverClassifier(model, max_samples=window, reselect_every=None)
        live = _river(river, X, y, window)
    else:
        most = None if kind == "filling" else window
        live = _window_step(SlidingWindow(model, max_samples=most), X, y, window)
    own = clone(model).fit(X[:window], y[:window])

    def edit(i: int) -> None:
        own.predict(X[i : i + 1])
        own.exchange(own.ids_[:1], X[i : i + 1], y[i : i + 1])

    with threadpool_limits(limits=1):
        means = _chunk_means(live, window, chunks=8 if kind == "filling" else CHUNKS)
        return {
            "step": min(means),
            "typical": float(np.median(means)),
            "edit": _fastest(edit, window, chunks=5),
        }


def _window_step(
    live: SlidingWindow, X: np.ndarray, y: np.ndarray, window: int
) -> Callable[[int], Any]:
    """A step of a window that has learned the first samples."""
    live.fit(X[:window], y[:window])

    def step(i: int) -> None:
        live.predict(X[i : i + 1])
        live.partial_fit(X[i : i + 1], y[i : i + 1])

    return step


def kind_report(records: list[Record]) -> list[Part]:
    rows = [
        [r["kind"], r["window"], *(1e6 * r[name] for name in ("step", "typical", "edit"))]
        for r in records
    ]
    return [
        Text(
            "Microseconds of CPU of one step of other windows, measured as those of "
            "`stream_steps`: the best and the median. A window that fills begins with the "
            "given number of samples and forgets none. River: `predict_one` and `learn_one` "
            "of two classes, with dictionaries. Edit: the same by `predict` and `exchange` of "
            "a model."
        ),
        Table(["kind", "samples", "step (µs)", "median (µs)", "edit (µs)"], rows),
    ]


EXPERIMENTS = (
    benchmark("stream_kinds", "A step of other windows", kind_cases, run_kind, kind_report),
    benchmark("stream_steps", "A step of a sliding window", cases, run, report),
    benchmark("stream_exactness", "After many steps", exact_cases, exact, exact_report),
    benchmark("stream_million", "After a million steps", million_cases, exact, exact_report),
)
