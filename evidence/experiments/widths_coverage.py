"""Intervals whose width follows x, in simulation: exactness, coverage, and why it is a bit more."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from evidence._compare import column, grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared.data import SEED
from gramian import LeastSquaresSVR, StackedKernelRegressor
from gramian.data import leave_two_out

CONFIDENCES = (0.8, 0.9, 0.95)
GIVEN: dict[str, BaseEstimator] = {
    "LeastSquaresSVR": LeastSquaresSVR(gamma=0.5, C=10.0),
    "LeastSquaresSVR, linear": LeastSquaresSVR("linear", C=1.0),
    "StackedKernelRegressor": StackedKernelRegressor(
        ("rbf", "laplacian"), gamma=0.5, C=10.0, weights=0.5
    ),
}

# -- against refits -----------------------------------------------------------------------------


def exact_cases(quick: bool) -> list[Parameters]:
    return [{"machine": name, "n": 12 if quick else 40} for name in GIVEN]


def exact(machine: str, n: int) -> dict[str, Any]:
    """The largest difference to refits without each pair, over the deviation of the targets."""
    X, y = draw(np.random.default_rng(SEED), n)
    model = clone(GIVEN[machine]).fit(X, y)
    found, worst = leave_two_out(model).values[..., 0], 0.0
    start = perf_counter()
    for i in range(n):
        for j in range(n):
            rest = ~np.isin(np.arange(n), [i, j])
            refit = clone(model).fit(X[rest], y[rest]).predict(X[[j]])[0]
            worst = max(worst, abs(refit - found[i, j]))
    refits = perf_counter() - start
    start = perf_counter()
    leave_two_out(model)
    return {
        "difference": float(worst / y.std()),
        "refits": refits,
        "seconds": perf_counter() - start,
    }


def exact_report(records: list[Record]) -> list[Part]:
    rows = [
        [r["machine"], r["n"], r["n"] ** 2, f"{r['difference']:.0e}", r["refits"], r["seconds"]]
        for r in records
    ]
    names = ["model", "n", "pairs", "largest difference", "seconds of refits", "of closed form"]
    return [
        Text(
            "`gramian.data.leave_two_out` compared with a refit without each pair. The "
            "difference is in units of the standard deviation of the targets."
        ),
        Table(names, rows),
    ]


# -- simulation ---------------------------------------------------------------------------------

HELD, DRAWS, PER_CASE, TUNED_DRAWS = 39, 2_000, 100, 60
HOW: dict[str, dict[str, str]] = {
    "jackknife+, local": {"method": "jackknife+", "width": "local"},
    "jackknife+, constant": {"method": "jackknife+", "width": "constant"},
    "full, density": {"method": "full", "width": "density"},
}
TURNS = HELD + 1
TURN_DRAWS = {"jackknife+, local": 140, "jackknife+, constant": 100, "full, density": 20}


def draw(rng: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A sine whose heavy-tailed noise grows along x."""
    X = rng.uniform(-3, 3, (n, 1))
    return X, np.sin(2 * X[:, 0]) + 0.15 * (X[:, 0] + 3.2) * rng.standard_t(4, n)


def coverage_cases(quick: bool) -> list[Parameters]:
    per = 20 if quick else PER_CASE
    given = [
        {"machine": name, "how": how, "start": start, "draws": per}
        for name in GIVEN
        for how in HOW
        if name == "LeastSquaresSVR" or "constant" not in how
        for start in range(0, 2 * per if quick else DRAWS, per)
    ]
    return given + [
        {"machine": "LeastSquaresSVR, tuned", "how": how, "start": start, "draws": 10}
        for how in ("cv+, local", "cv+, constant")
        for start in range(0, 20 if quick else TUNED_DRAWS, 10)
    ]


def coverage(machine: str, how: str, start: int, draws: int) -> dict[str, Any]:
    """How often the truth was covered at each confidence: in all, and in the noisy half."""
    tuned = machine not in GIVEN
    model = LeastSquaresSVR(random_state=0) if tuned else GIVEN[machine]
    method, width = how.split(", ")
    n, new = (60, 20) if tuned else (HELD, 1)
    covered, noisy, asked = np.zeros((2, 3)), np.zeros((2, 3)), np.zeros(2)
    for seed in range(start, start + draws):
        X, y = draw(np.random.default_rng(seed), n + new)
        fitted = clone(model).fit(X[new:], y[new:])
        half = X[:new, 0] > 0
        asked += [np.sum(~half), np.sum(half)]
        for k, level in enumerate(CONFIDENCES):
            low, high = fitted.predict_interval(X[:new], level, method, width).T
            inside = (low <= y[:new]) & (y[:new] <= high)
            covered[:, k] += [np.sum(inside & ~half), np.sum(inside & half)]
            if level == 0.9:
                finite = np.isfinite(high - low)
                noisy[0, 0] += (high - low)[finite].sum()
                noisy[0, 1] += finite.sum()
    return {"covered": covered, "asked": asked, "widths": noisy[0, :2]}


def coverage_report(records: list[Record]) -> list[Part]:
    rows = []
    for (machine, how), found in grouped(records, "machine", "how").items():
        covered, asked = (np.sum(column(found, name), axis=0) for name in ("covered", "asked"))
        draws, widths = sum(column(found, "draws")), np.sum(column(found, "widths"), axis=0)
        rates = covered.sum(axis=0) / asked.sum()
        cells: list[Any] = []
        for rate, claim in zip(rates, CONFIDENCES, strict=True):
            error = np.sqrt(claim * (1 - claim) / asked.sum())
            cells += [f"{rate:.4f}", f"{(rate - claim) / error:+.1f}"]
        quiet, noisy = covered[:, 1] / asked
        rows.append([machine, how, draws, *cells, quiet, noisy, widths[0] / widths[1]])
    names = [name for c in CONFIDENCES for name in (f"at {c:g}", "s.e. off")]
    return [
        Text(
            f"{HELD} samples and one query, drawn again each time, with fixed "
            "hyper-parameters; after tuning, 60 samples and 20 queries for each draw, by 10 "
            "folds (the queries of a draw are not independent, so the standard errors are too "
            "small). A sine with heavy-tailed noise that grows along x. `full` guarantees the "
            "confidence, with 39 samples exactly; jackknife+ and cv+ guarantee 0.6, 0.8 and "
            "0.9. The number after each rate is its distance from the confidence in standard "
            "errors. Quiet and noisy: coverage at 0.9 in the left and in the right half; "
            "width: the mean at 0.9."
        ),
        Table(["model", "method", "draws", *names, "quiet", "noisy", "width"], rows),
    ]


# -- is the excess real? ------------------------------------------------------------------------


def turn_cases(quick: bool) -> list[Parameters]:
    per = 5 if quick else 20
    return [
        {"how": how, "start": start, "draws": per}
        for how, draws in TURN_DRAWS.items()
        for start in range(0, per if quick else draws, per)
    ]


def turns(how: str, start: int, draws: int) -> dict[str, Any]:
    """The share of covered samples of each draw at each confidence, each asked of the others."""
    model, shares = GIVEN["LeastSquaresSVR"], np.zeros((draws, len(CONFIDENCES)))
    for place, seed in enumerate(range(start, start + draws)):
        X, y = draw(np.random.default_rng([SEED, seed]), TURNS)
        for i in range(TURNS):
            rest = np.arange(TURNS) != i
            fitted = clone(model).fit(X[rest], y[rest])
            for k, level in enumerate(CONFIDENCES):
                low, high = fitted.predict_interval(X[[i]], level, **HOW[how])[0]
                shares[place, k] += (low <= y[i] <= high) / TURNS
    return {"shares": shares}


def turns_report(records: list[Record]) -> list[Part]:
    rows = []
    for how, found in grouped(records, "how").items():
        shares, cells = np.concatenate(column(found, "shares")), []
        for rates, claim in zip(shares.T, CONFIDENCES, strict=True):
            error = rates.std(ddof=1) / np.sqrt(len(rates))
            cells += [f"{rates.mean():.4f} ± {error:.4f}", f"{100 * (rates.mean() - claim):+.2f}"]
        rows.append([how, len(shares), *cells])
    names = [name for c in CONFIDENCES for name in (f"at {c:g}", "points off")]
    return [
        Text(
            "The simulation of [coverage](widths_coverage.md) with `LeastSquaresSVR`, where "
            f"each of the {TURNS} samples of a draw is once the query for the {HELD} others. "
            "All samples have the same distribution, so the mean share of covered ones is the "
            "coverage. It hardly changes from draw to draw, so the standard errors, computed "
            "from the differences between draws, are far smaller than those of as many single "
            "queries: 0 for `full`, which covers 32, 36 and 38 of 40 in every draw, as it "
            "must. Jackknife+ compares each sample with the query in a model and a scale "
            "without both. If these were the same for all pairs, the comparisons would rank "
            "the samples, and the coverage would be exact; it is not as far as they differ "
            "([more](../maths/leave_two_out.md#the-guarantee))."
        ),
        Table(["method", "draws", *names], rows),
    ]


EXPERIMENTS = (
    benchmark("widths_exactness", "Leave-two-out in closed form, and refits without each pair",
              exact_cases, exact, exact_report, timed=False),
    benchmark("widths_coverage", "Coverage of intervals whose width follows x",
              coverage_cases, coverage, coverage_report, timed=False),
    benchmark("widths_turns", "Whether jackknife+ covers more than is asked for",
              turn_cases, turns, turns_report, timed=False),
)  # fmt: skip
