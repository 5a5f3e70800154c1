"""One removal and one leave-one-out by kim2006's own algorithms, and by ours."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.experiments.ours_updates import CALLS, FEATURES, GAMMA, RIDGE, samples
from evidence.shared.learning import best_time, mean_time
from evidence.shared.paper_algorithms import loo_by_removal
from gramian import KernelDiscriminant
from gramian.core.gram import QRFactor
from gramian.core.kernels import make_kernel

WORK = {"removal": "remove one sample", "loo": "leave-one-out of all"}


def cases(quick: bool) -> list[Parameters]:
    sizes = {"removal": 200, "loo": 60} if quick else {"removal": 2000, "loo": 1000}
    return [{"work": work, "n": n} for work, n in sizes.items()]


def run(work: str, n: int) -> dict[str, Any]:
    """Seconds of one piece of work, by both methods."""
    X, y = samples(n + CALLS if work == "removal" else n)
    K = make_kernel("rbf", gamma=GAMMA)(X, X)
    theirs, ours = {"removal": removal, "loo": leave_one_out}[work](K, X, y)
    return {"theirs": theirs, "ours": ours}


def removal(K: np.ndarray, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    qr = QRFactor(np.diagonal(K) + RIDGE, lambda rows, cols: K[rows, cols])
    model = fitted(X, y)
    theirs, _ = best_time(lambda: qr.remove(np.array([len(y) // 2])))
    return theirs, mean_time(model.forget, range(CALLS), lambda: model.dual_coef_)


def leave_one_out(K: np.ndarray, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    theirs, _ = best_time(lambda: loo_by_removal(K, y.astype(float)[:, None], RIDGE), repeat=1)
    models = [fitted(X, y) for _ in range(3)]  # a model computes its leave-one-out once
    return theirs, best_time(lambda: models.pop().loo_decision_function())[0]


def fitted(X: np.ndarray, y: np.ndarray) -> KernelDiscriminant:
    return KernelDiscriminant(gamma=GAMMA, ridge=RIDGE).fit(X, y)


def report(records: list[Record]) -> list[Part]:
    rows = [
        [WORK[r["work"]], r["n"], 1e3 * r["theirs"], 1e3 * r["ours"], r["theirs"] / r["ours"]]
        for r in records
    ]
    return [
        Text(
            "Removal of one sample from the QR decomposition by Givens rotations (Algorithm 6) "
            "against `forget`; leave-one-out of all samples by n downdates (Algorithm 7) against "
            f"`loo_decision_function`. RBF, d = {FEATURES}, ridge {RIDGE:g}."
        ),
        Table(["what", "n", "kim2006 (ms)", "here (ms)", "ratio"], rows),
    ]


EXPERIMENTS = (
    benchmark("paper_methods", "Against the paper's own algorithms", cases, run, report),
)
