"""Thrombin: the time of leave-one-out by refits, by Algorithm 7, and in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence._compare import grouped
from evidence._drawing import draw_times
from evidence._experiment import Experiment, Figure, Parameters, Part, Record, Table, Text
from evidence.shared.data import SEED, dataset
from evidence.shared.learning import best_time, largest_difference
from evidence.shared.paper_algorithms import loo_by_removal
from gramian import KernelDiscriminant
from gramian.core.kernels import make_kernel

GAMMA, RIDGE = 1e-3, 1e-2
ROADS = {
    "refits": "ordinary: n fits by QR",
    "removal": "Algorithm 7: n removals from one QR",
    "closed form": "closed form",
}
SIZES = {
    "refits": (50, 100, 200, 400),
    "removal": (50, 100, 200, 400, 800, 1600),
    "closed form": (50, 100, 200, 400, 800, 1600),
}


def cases(quick: bool) -> list[Parameters]:
    largest = 100 if quick else 1600
    return [
        {"data": "thrombin_first8000", "road": road, "n": n}
        for road, sizes in SIZES.items()
        for n in sizes
        if n <= largest
    ]


def run(data: str, road: str, n: int) -> dict[str, Any]:
    """Seconds for all leave-one-out values of n compounds, the first fit included."""
    X, y = compounds(data, n)
    K = make_kernel("rbf", gamma=GAMMA)(X, X)
    repeat = 3 if road == "closed form" else 1
    seconds, values = best_time(lambda: LOO[road](K, y), repeat)
    wrong = 100.0 * float(np.mean((values > 0) != (y > 0)))
    distance = largest_difference(values, closed_form(K, y))
    return {"seconds": seconds, "error": wrong, "difference": distance}


def compounds(data: str, n: int) -> tuple[Any, np.ndarray]:
    """The active compounds, or n/2 of them, and inactive ones at random; as a CSR matrix."""
    whole, rng = dataset(data), np.random.default_rng(SEED)
    active, inactive = (rng.permutation(np.flatnonzero(whole.y == label)) for label in (1, -1))
    chosen = active[: n // 2]
    rows = np.concatenate([chosen, inactive[: n - len(chosen)]])
    return whole.X[rows], whole.y[rows]


def refits(K: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Each value from a model fitted without the sample."""
    values = np.empty(len(y))
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        model = KernelDiscriminant("precomputed", ridge=RIDGE, factor="qr")
        model.fit(K[np.ix_(rest, rest)], y[rest])
        values[i] = model.decision_function(K[i : i + 1, rest])[0]
    return values


def removal(K: np.ndarray, y: np.ndarray) -> np.ndarray:
    """kim2006, Alg. 7."""
    return loo_by_removal(K, y.astype(float)[:, None], RIDGE)[:, 0]


def closed_form(K: np.ndarray, y: np.ndarray) -> np.ndarray:
    """One fit, and all values in O(n²)."""
    return KernelDiscriminant("precomputed", ridge=RIDGE).fit(K, y).loo_decision_function()


LOO = {"refits": refits, "removal": removal, "closed form": closed_form}


def report(records: list[Record]) -> list[Part]:
    by_size = grouped(records, "n")
    seconds = {(r["road"], r["n"]): r["seconds"] for r in records}
    rows = []
    for n, cases_of_size in sorted(by_size.items()):
        times = [seconds.get((road, n)) for road in ROADS]
        rows.append(
            [
                n,
                *times,
                times[0] / times[1] if times[0] and times[1] else None,
                times[1] / times[2] if times[1] and times[2] else None,
                max(record["difference"] for record in cases_of_size),
                cases_of_size[0]["error"],
            ]
        )
    lines = {
        ROADS[road]: [(record["n"], record["seconds"]) for record in found]
        for road, found in grouped(records, "road").items()
    }
    return [
        Text(
            "Leave-one-out of n compounds with 8,000 binary features, kept as a CSR matrix; "
            f"RBF kernel, γ = {GAMMA:g}, λ = {RIDGE:g} (the paper does not give its values). "
            "The kernel matrix is given to all three; the time of the first fit is included. "
            "The paper shows its times in a figure without numbers."
        ),
        Figure(
            draw_times(lines, "compounds n", "seconds"),
            "Time for all n leave-one-out values. n fits cost O(n⁴), the two others O(n³).",
        ),
        Table(
            [
                "n",
                *(f"{road} (s)" for road in ROADS.values()),
                "ordinary / Alg. 7",
                "Alg. 7 / closed form",
                "values differ by at most",
                "left-out error (%)",
            ],
            rows,
        ),
    ]


EXPERIMENTS = (
    Experiment(
        "kim2006-figure-3",
        "kim2006, Figure 3: time of leave-one-out, thrombin",
        cases,
        run,
        report,
        timed=True,
    ),
)
