"""Linear kernels: a million samples as sums of (d+1)×(d+1) numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifier

from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared.learning import best_time, mean_time
from gramian import LeastSquaresSVC

D, CALLS = 50, 20


def cases(quick: bool) -> list[Parameters]:
    return [{"n": 20_000 if quick else 1_000_000}]


def run(n: int) -> dict[str, Any]:
    """Seconds of fits, of one sample in and out, and of leave-one-out."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n + CALLS, D))
    y = (X[:, 0] + rng.standard_normal(n + CALLS) > 0).astype(int)
    model, peer = LeastSquaresSVC(kernel="linear", C=1.0), RidgeClassifier(solver="cholesky")
    refit, _ = best_time(lambda: model.fit(X[:n], y[:n]), repeat=1)
    theirs, _ = best_time(lambda: peer.fit(X[:n], y[:n]), repeat=1)
    model.partial_fit(X[:1], y[:1], ids=[-1]).forget([-1])  # grows the buffer once
    new = range(n, n + CALLS)
    return {
        "RidgeClassifier.fit": theirs,
        "fit": refit,
        "learn one sample": mean_time(
            lambda i: model.partial_fit(X[i : i + 1], y[i : i + 1]).coef_, new
        ),
        "forget one sample": mean_time(lambda i: model.forget(i).coef_, range(CALLS)),
        "leave-one-out of all": best_time(model.loo_decision_function, repeat=1)[0],
    }


def report(records: list[Record]) -> list[Part]:
    (record,) = records
    seconds = {name: value for name, value in record.items() if name != "n"}
    rows = [
        [name, value, None if name.startswith("Ridge") else record["fit"] / value]
        for name, value in seconds.items()
    ]
    return [
        Text(
            f'{record["n"]:,} samples × {D} features. `LeastSquaresSVC(kernel="linear", C=1)` '
            "as sums of (d+1)×(d+1) numbers. Learning and forgetting one sample are means "
            f"over {CALLS} calls, with the coefficients read after each; only the list of ids "
            "and labels costs O(n). The refit is `fit` itself and, for comparison, "
            "scikit-learn's `RidgeClassifier`."
        ),
        Table(["what", "seconds", "refit / this"], rows),
    ]


EXPERIMENTS = (benchmark("linear_svm", "Linear kernel, a million samples", cases, run, report),)
