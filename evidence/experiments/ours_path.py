"""Leave-one-out along a path of ridges: one decomposition for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence._compare import grouped
from evidence._drawing import draw_times
from evidence._experiment import Experiment, Figure, Parameters, Part, Record, Table, Text
from evidence.shared.data import SEED
from evidence.shared.learning import best_time, largest_difference
from gramian import KernelDiscriminant
from gramian.core.gram._spectrum import decompose
from gramian.core.kernels import make_kernel
from gramian.datasets import make_ringnorm
from gramian.discriminant._equations import KDA_RMSE

GAMMA, N = 0.05, 300
LENGTHS = (1, 3, 10, 30, 100)
ROADS = {
    "refits": "n refits for each ridge",
    "factor": "one fit and the closed form for each ridge",
    "spectrum": "one decomposition for all ridges",
}
LARGEST = {"refits": 3, "factor": 100, "spectrum": 100}


def cases(quick: bool) -> list[Parameters]:
    n = 60 if quick else N
    return [
        {"road": road, "n": n, "length": length}
        for road, largest in LARGEST.items()
        for length in (LENGTHS[:3] if quick else LENGTHS)
        if length <= largest
    ]


def run(road: str, n: int, length: int) -> dict[str, Any]:
    """Seconds for the leave-one-out values of all samples at all ridges."""
    X, y = make_ringnorm(n, random_state=SEED)
    K, ridges = make_kernel("rbf", gamma=GAMMA)(X, X), np.logspace(-4, 1, length)
    seconds, values = best_time(lambda: LOO[road](K, y, ridges), 1 if road == "refits" else 3)
    return {"seconds": seconds, "difference": largest_difference(values, by_factor(K, y, ridges))}


def by_refits(K: np.ndarray, y: np.ndarray, ridges: np.ndarray) -> np.ndarray:
    return np.array([[_left_out(K, y, ridge, i) for i in range(len(y))] for ridge in ridges])


def _left_out(K: np.ndarray, y: np.ndarray, ridge: float, i: int) -> float:
    rest = np.delete(np.arange(len(y)), i)
    model = KernelDiscriminant("precomputed", ridge=ridge).fit(K[np.ix_(rest, rest)], y[rest])
    return model.decision_function(K[i : i + 1, rest])[0]


def by_factor(K: np.ndarray, y: np.ndarray, ridges: np.ndarray) -> np.ndarray:
    fits = (KernelDiscriminant("precomputed", ridge=ridge).fit(K, y) for ridge in ridges)
    return np.array([model.loo_decision_function() for model in fits])


def by_spectrum(K: np.ndarray, y: np.ndarray, ridges: np.ndarray) -> np.ndarray:
    spectrum = decompose(K.copy(), np.ones(len(y)))
    return KDA_RMSE.loo_path(spectrum, y.astype(float)[:, None], ridges)[:, :, 0]


LOO = {"refits": by_refits, "factor": by_factor, "spectrum": by_spectrum}


def report(records: list[Record]) -> list[Part]:
    found = {(record["road"], record["length"]): record for record in records}
    rows = []
    for length in sorted(grouped(records, "length")):
        at = [found.get((road, length)) for road in ROADS]
        differences = [record["difference"] for record in at if record]
        rows.append([length, *(r and 1e3 * r["seconds"] for r in at), max(differences)])
    lines = {
        ROADS[road]: [(record["length"], 1e3 * record["seconds"]) for record in of_road]
        for road, of_road in grouped(records, "road").items()
    }
    return [
        Text(
            f"Exact leave-one-out values of KernelDiscriminant for all {records[0]['n']} samples "
            "at every ridge of a path."
        ),
        Figure(
            draw_times(lines, "ridges", "milliseconds"),
            "Time against the number of ridges.",
        ),
        Table(
            ["ridges", *(f"{text} (ms)" for text in ROADS.values()), "values differ by at most"],
            rows,
        ),
    ]


EXPERIMENTS = (
    Experiment(
        "ours-path",
        "Leave-one-out along a path of ridges",
        cases,
        run,
        report,
        timed=True,
        file="ridge_path_lengths",
    ),
)
