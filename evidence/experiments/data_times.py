"""What values of samples and suggestions take in closed form, against refits."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

from evidence._compare import grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared.data import SEED
from evidence.shared.learning import best_time, largest_difference
from gramian import KernelDiscriminant, LeastSquaresSVC
from gramian.core.equations import probabilities
from gramian.core.estimators import output_loss
from gramian.data import sample_values, suggest
from gramian.datasets import make_banana

MACHINES = {
    "LeastSquaresSVC": LeastSquaresSVC(gamma=1.0, C=1.0),
    "KernelDiscriminant": KernelDiscriminant(gamma=1.0, ridge=1.0),
}
N_TEST, THREADS, REFITS = 200, 2, 2
TASKS = {
    "values": f"leave-one-out values on {N_TEST} test samples",
    "suggest": "suggest, as many candidates",
}


def cases(quick: bool) -> list[Parameters]:
    return [
        {"task": task, "machine": machine, "n": n}
        for task in TASKS
        for machine in MACHINES
        for n in ((100,) if quick else (1000,))
    ]


def run(task: str, machine: str, n: int) -> dict[str, Any]:
    """Seconds in closed form, those of all refits as some of them say, and their difference."""
    X, y = make_banana(2 * n + N_TEST, noise=0.3, random_state=SEED)
    model = clone(MACHINES[machine]).fit(X[:n], y[:n])
    with threadpool_limits(limits=THREADS):
        model.predict_proba(X[:1])
        return (_values if task == "values" else _suggest)(model, X[n:], y[n:])


def _values(model: Any, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    X, y, scale = X[-N_TEST:], y[-N_TEST:], output_loss(model).scale
    seconds, found = best_time(lambda: sample_values(model, X, y), repeat=20)
    some = np.arange(0, len(found.ids), len(found.ids) // REFITS)

    def refit(i: int) -> float:
        stay = np.arange(len(found.ids)) != i
        twin = clone(model).fit(model.X_fit_[stay], model.y_fit_[stay])
        return log_loss(y, probabilities(twin.decision_function(X)[:, None], scale)) - found.base

    one, _ = best_time(lambda: refit(0), repeat=2)
    refits = [refit(i) for i in some]
    off = largest_difference(found.values[some], np.array(refits))
    return {"seconds": seconds, "refits": one * len(found.ids), "difference": off}


def _suggest(model: Any, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Candidates are learned with each label, as `modAL.expected_error` does it, on copies."""
    n = len(model.ids_)
    pool, scale = X[:n], output_loss(model).scale
    seconds, _ = best_time(lambda: suggest(model, pool, strategy="expected-error"), repeat=5)

    def loss(j: int, label: int) -> float:
        twin = clone(model).fit(np.vstack([model.X_fit_, pool[[j]]]), np.append(y_fit, label))
        F = twin.loo_decision_function()[:n, None]
        return log_loss(y_fit, probabilities(F, scale))

    y_fit = model.y_fit_
    one, _ = best_time(lambda: loss(0, 1), repeat=2)
    some = list(range(REFITS))
    chances = model.predict_proba(pool[some])
    refits = [
        sum(p * loss(j, c) for p, c in zip(chances[j], model.classes_, strict=True)) for j in some
    ]
    found = [suggest(model, pool[[j]], strategy="expected-error").scores[0] for j in some]
    off = largest_difference(np.array(found), np.array(refits))
    return {"seconds": seconds, "refits": one * 2 * len(pool), "difference": off}


def report(records: list[Record]) -> list[Part]:
    rows = [
        [TASKS[task], machine, r["n"], 1e3 * r["seconds"], r["refits"], r["refits"] / r["seconds"],
         f"{r['difference']:.0e}"]
        for (task, machine), found in grouped(records, "task", "machine").items()
        for r in found
    ]  # fmt: skip
    return [
        Text(
            f"Two classes, two features, RBF kernel, {THREADS} BLAS threads; the model is "
            "fitted. `sample_values` gives the leave-one-out value of every sample, best of "
            "20 runs; `suggest` ranks a pool as large as the model by its expected "
            "leave-one-out loss, best of 5. Refits: the time of one refit, best of two, "
            "multiplied by the number of samples, or by twice the number of candidates. The "
            "difference is the largest over a few refits, relative to the largest value."
        ),
        Table(
            ["task", "model", "n", "closed form (ms)", "refits (s)", "refits / closed form",
             "difference"],
            rows,
        ),
    ]  # fmt: skip


EXPERIMENTS = (
    benchmark("data_times", "Values of samples and suggestions, compared with refits",
              cases, run, report),
)  # fmt: skip
