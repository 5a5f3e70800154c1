"""Time of prediction sets and intervals, next to libraries that refit."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import LeaveOneOut

from evidence._experiment import Parameters, Part, Record, Table, Text, UnavailableError, benchmark
from evidence.shared.learning import all_times, best_time
from gramian import KernelDiscriminant, LeastSquaresSVC, LeastSquaresSVR

QUERIES = 200


def cases(quick: bool) -> list[Parameters]:
    n = 200 if quick else 1_000  # the peer's refits take minutes
    return [
        {"what": "jackknife+", "who": "gramian", "n": n, "labels": 0},
        {"what": "jackknife+", "who": "MAPIE", "n": n, "labels": 0},
        {"what": "full", "who": "gramian", "n": n, "labels": 0},
        {"what": "full, ridge", "who": "gramian", "n": n, "labels": 0},
        {"what": "full, ridge", "who": "online-cp", "n": n, "labels": 0},
        *(
            {"what": "sets", "who": who, "n": 500 if quick else 4_641, "labels": labels}
            for who, labels in (("LeastSquaresSVC", 2), ("LeastSquaresSVC", 10))
        ),
        {"what": "sets", "who": "KernelDiscriminant", "n": 500 if quick else 4_641, "labels": 2},
    ]


def run(what: str, who: str, n: int, labels: int) -> dict[str, Any]:
    """Seconds for all queries of a model that is fitted, or with the fits that a peer needs."""
    rng = np.random.default_rng(0)
    if what == "sets":
        return _sets(who, rng, n, labels)
    X, Q = rng.standard_normal((n, 10)), rng.standard_normal((QUERIES, 10))
    y = np.sin(X[:, 0]) + X[:, 1] + rng.standard_normal(n)
    linear = {"kernel": "linear", "C": 1.0} if "ridge" in what else {"gamma": 0.05, "C": 1.0}
    model = LeastSquaresSVR(**linear).fit(X, y)
    if who == "gramian":
        method = "jackknife+" if what == "jackknife+" else "full"
        model.loo_predict()
        seconds, ends = best_time(lambda: model.predict_interval(Q, method=method), repeat=5)
        return {"seconds": seconds, "ends": ends}
    if who == "MAPIE":
        seconds, ends = all_times(lambda: _mapie(model, X, y, Q), repeat=1)
        return {"seconds": seconds[0], "ends": ends}
    seconds, ends = all_times(lambda: _online_cp(X, y, Q[:20]), repeat=1)
    return {"seconds": seconds[0] * QUERIES / 20, "ends": ends}


def _sets(who: str, rng: Any, n: int, labels: int) -> dict[str, Any]:
    X, Q = rng.standard_normal((n, 20)), rng.standard_normal((QUERIES, 20))
    y = rng.integers(0, labels, n)
    own = {"LeastSquaresSVC": LeastSquaresSVC(gamma=0.05, C=1.0)}
    model = own.get(who, KernelDiscriminant(gamma=0.05, ridge=1.0)).fit(X, y)
    model.loo_predict()
    seconds, _ = best_time(lambda: model.p_values(Q), repeat=5)
    return {"seconds": seconds}


def _mapie(model: Any, X: np.ndarray, y: np.ndarray, Q: np.ndarray) -> np.ndarray:
    try:
        from mapie.regression import CrossConformalRegressor
    except ImportError as error:
        raise UnavailableError("MAPIE is not installed") from error
    peer = CrossConformalRegressor(model, confidence_level=0.9, cv=LeaveOneOut(), method="plus")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return peer.fit_conformalize(X, y).predict_interval(Q)[1][..., 0]


def _online_cp(X: np.ndarray, y: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Conformalised ridge regression; an intercept as a column of ones, which it penalises."""
    try:
        from online_cp import ConformalRidgeRegressor
    except ImportError as error:
        raise UnavailableError("online-cp is not installed") from error
    peer = ConformalRidgeRegressor(a=1.0, epsilon=0.1)
    peer.learn_initial_training_set(np.column_stack([X, np.ones(len(X))]), y)
    found = [peer.predict(np.append(x, 1.0), epsilon=0.1) for x in Q]
    return np.array([(interval.lower, interval.upper) for interval in found])


def report(records: list[Record]) -> list[Part]:
    ours = {(r["what"], r["n"]): r for r in records if r["who"] == "gramian"}
    rows = []
    for r in records:
        base = ours.get((r["what"], r["n"]))
        peer = base is not None and r is not base
        apart = None
        if base is not None and peer:
            ends = np.asarray(r["ends"])
            apart = float(np.abs(np.asarray(base["ends"])[: len(ends)] - ends).max())
        rows.append(
            [
                r["what"], r["who"], r["n"], r["labels"] or None,
                f"{1e3 * r['seconds'] / QUERIES:.2f}",
                f"{r['seconds'] / base['seconds']:.0f}" if base is not None and peer else None,
                None if apart is None else f"{apart:.0e}",
            ]
        )  # fmt: skip
    names = ["what", "by", "n", "labels", "ms a query", "times ours", "largest difference"]
    return [
        Text(
            f"{QUERIES} queries of a fitted model; one BLAS thread. Jackknife+: "
            "`LeastSquaresSVR` with a Gaussian kernel by `predict_interval`, and the same "
            "estimator refitted by MAPIE's `CrossConformalRegressor(cv=LeaveOneOut())`, its "
            "refits included. Full, ridge: `LeastSquaresSVR` with the linear kernel and a "
            "free intercept, compared with online-cp's `ConformalRidgeRegressor`. Its "
            "intercept is penalised and its score is the residual of the model with the "
            "sample, not without it, so the intervals differ. Sets: `p_values` of all labels."
        ),
        Table(names, rows),
    ]


EXPERIMENTS = (
    benchmark("conformal_times", "Time of sets and intervals, next to refits", cases, run, report),
)
