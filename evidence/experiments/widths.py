"""Intervals whose width follows x: exactness, coverage, real data next to others, times."""

from __future__ import annotations

from functools import lru_cache
from time import perf_counter, process_time
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import cross_val_predict

from evidence._compare import column, grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, UnavailableError, benchmark
from evidence.experiments.libraries import installed
from evidence.shared.data import SEED
from evidence.shared.tables import MADE, NUMBERS, PACKED, fold
from gramian import LeastSquaresSVR, OrthogonalKernelRegressor, StackedKernelRegressor
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
    names = ["machine", "n", "pairs", "largest difference", "seconds of refits", "of closed form"]
    return [
        Text(
            "`gramian.data.leave_two_out` next to a refit without each pair. The difference is in "
            "units of the standard deviation of the targets."
        ),
        Table(names, rows),
    ]


# -- simulation ---------------------------------------------------------------------------------

HELD, DRAWS, PER_CASE, TUNED_DRAWS = 39, 1_000, 100, 60
HOW: dict[str, dict[str, str]] = {
    "jackknife+, local": {"method": "jackknife+", "width": "local"},
    "jackknife+, constant": {"method": "jackknife+", "width": "constant"},
    "full, density": {"method": "full", "width": "density"},
}


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
            f"{HELD} samples and one query, drawn anew each time, at fixed hyper-parameters; after "
            "tuning, 60 samples and 20 queries for each draw, by 10 folds (queries of a draw are "
            "not independent, so that its standard errors are too small). A sine with heavy-tailed "
            "noise that grows along x. `full` promises its confidence, with 39 samples exactly; "
            "jackknife+ and cv+ promise 0.6, 0.8 and 0.9. Beside each rate, its distance from the "
            "confidence in standard errors. Quiet and noisy: coverage at 0.9 in the left and in "
            "the right half; width: the mean at 0.9."
        ),
        Table(["machine", "method", "draws", *names, "quiet", "noisy", "width"], rows),
    ]


# -- real data ----------------------------------------------------------------------------------

REAL = tuple(
    name for name in NUMBERS if name in PACKED or name in ("abalone", "boston", "diabetes")
)
SETS = tuple(name for name in REAL if name != "Males")[:10]
"""The first ten real sets of numbers that did not choose the rule of the neighbours."""
STACK, ALONE = "stack", "least squares SVM"
OURS = {STACK: StackedKernelRegressor, ALONE: LeastSquaresSVR}
PEERS = {"MAPIE, CQR": "mapie", "crepes, normalised": "crepes"}
N_TRAIN, PARTITIONS, CALIBRATE = 400, 2, 3


def real_cases(quick: bool) -> list[Parameters]:
    return [
        {
            "table": name,
            "who": who,
            "partition": k,
            "n": 60 if quick else N_TRAIN,
            **({} if name in MADE or name in PACKED else {"data": name}),
        }
        for k in range(1 if quick else PARTITIONS)
        for name in (("diabetes",) if quick else SETS)
        for who in (*OURS, *PEERS)
        if (name not in PACKED or installed("pydataset") is not None)
    ]


def real(table: str, who: str, partition: int, n: int, data: str = "") -> dict[str, Any]:
    """For each way, whether queries were covered at 0.9 and how wide, by difficulty."""
    part = fold(table, partition, n)
    quintile = difficulty(table, partition, n)
    found = {}
    if who in OURS:
        model = OURS[who](random_state=SEED).fit(part.X, part.y)
        for width in ("local", "constant"):
            found[width] = model.predict_interval(part.X_test, 0.9, "cv+", width)
    else:
        found["own"] = _peer(who, part)
    out: dict[str, Any] = {}
    for way, ends in found.items():
        inside = (ends[:, 0] <= part.y_test) & (part.y_test <= ends[:, 1])
        out[way] = np.array([[np.sum(inside[quintile == q]) for q in range(5)],
                             [np.sum(quintile == q) for q in range(5)]])  # fmt: skip
        out[f"{way} width"] = float(np.mean(ends[:, 1] - ends[:, 0]))
    return out


@lru_cache(maxsize=1)
def difficulty(table: str, partition: int, n: int) -> np.ndarray:
    """The quintile of each query's difficulty: the error that a forest expects of a forest."""
    part = fold(table, partition, n)
    forest = RandomForestRegressor(100, min_samples_leaf=5, random_state=SEED, n_jobs=1)
    errors = np.abs(part.y - cross_val_predict(forest, part.X, part.y, cv=5))
    expected = forest.fit(part.X, errors).predict(part.X_test)
    return np.argsort(np.argsort(expected)) * 5 // len(expected)


def _peer(who: str, part: Any) -> np.ndarray:
    """Intervals at 0.9 of a peer that learns two thirds of the samples and calibrates on others."""
    if installed(PEERS[who]) is None or installed("lightgbm") is None:
        raise UnavailableError(f"{PEERS[who]} and lightgbm are not installed.")
    rest = np.arange(len(part.y)) % CALIBRATE == 0
    learned, own = (part.X[~rest], part.y[~rest]), (part.X[rest], part.y[rest])
    if who.startswith("MAPIE"):
        import lightgbm
        from mapie.regression import ConformalizedQuantileRegressor

        quantile = lightgbm.LGBMRegressor(
            objective="quantile", alpha=0.5, random_state=SEED, n_jobs=1, verbose=-1
        )
        peer = ConformalizedQuantileRegressor(quantile, confidence_level=0.9)
        peer.fit(*learned).conformalize(*own)
        return np.asarray(peer.predict_interval(part.X_test)[1][..., 0])
    from crepes import WrapRegressor
    from crepes.extras import DifficultyEstimator

    forest = RandomForestRegressor(100, oob_score=True, random_state=SEED, n_jobs=1)
    wrapped = WrapRegressor(forest)
    wrapped.fit(*learned)
    left_out = learned[1] - wrapped.learner.oob_prediction_
    near = DifficultyEstimator()
    near.fit(learned[0], residuals=left_out, scaler=True)
    wrapped.calibrate(*own, de=near)
    return np.asarray(wrapped.predict_int(part.X_test, confidence=0.9))


def real_report(records: list[Record]) -> list[Part]:
    rows, widths = [], []
    for table, found in grouped(records, "table").items():
        by = grouped(found, "who")
        cells = {
            (who, way): _counted(some, way)
            for who, some in by.items()
            for way in (("local", "constant") if who in OURS else ("own",))
        }
        for who in OURS:
            if who in by:
                near, alike = cells[who, "local"], cells[who, "constant"]
                change = 100 * (near[1] / alike[1] - 1) if alike[1] else 0.0
                row = [near[0], alike[0], 100 * near[1], 100 * alike[1], f"{change:+.0f} %"]
                rows.append([table, who, *row, f"{100 * (near[2] / alike[2] - 1):+.0f} %"])
        widths.append([table, *_sizes(cells)])
    names = ["coverage, local", "constant", "gap, local", "gap, constant", "change of the gap"]
    mine = [f"{who}, {way}" for who in OURS for way in ("local", "constant")]
    peers = [cell for who in PEERS for cell in (who, "coverage")]
    partitions = len({record["partition"] for record in records})
    return [
        Text(
            f"{partitions} random partitions of each set, at most {N_TRAIN} samples to learn and "
            "2,000 to ask for, everything as it is by default, intervals at 0.9 by the folds that "
            'tuning needs (`method="cv+"`). The sets had no part in choosing the rule of '
            "2 √n neighbours; that was done on tables of the R packages modeldata, AER, Ecdat, "
            "robustbase, dslabs, causaldata, survival and mosaicData. Difficulty is the error "
            "that a random forest expects of a random forest; the gap is the largest minus the "
            "smallest coverage of its five quintiles, in points."
        ),
        Table(["set", "machine", *names, "change of the width"], rows),
        Text(
            "Mean widths in deviations of the target. MAPIE's conformalized quantile regression "
            "has LightGBM, crepes' normalised regressor a forest with the errors of neighbours; "
            "both learn two thirds of the samples and calibrate on the others."
        ),
        Table(["set", *mine, *peers], widths),
    ]


def _counted(records: list[Record], way: str) -> tuple[float, float, float]:
    """Coverage, gap between quintiles, and mean width, over partitions."""
    inside, asked = np.sum(column(records, way), axis=0)
    rates = np.asarray(inside) / np.asarray(asked)
    width = float(np.mean(column(records, f"{way} width")))
    return float(np.sum(inside) / np.sum(asked)), float(rates.max() - rates.min()), width


def _sizes(cells: dict[tuple[str, str], tuple[float, float, float]]) -> list[Any]:
    mine = [cells[who, way][2] if (who, way) in cells else None
            for who in OURS for way in ("local", "constant")]  # fmt: skip
    peers: list[Any] = []
    for who in PEERS:
        found = cells.get((who, "own"))
        peers += [None, None] if found is None else [found[2], found[0]]
    return [*mine, *peers]


# -- times --------------------------------------------------------------------------------------

SIZES, BATCH = (1_000, 5_000), 100


def time_cases(quick: bool) -> list[Parameters]:
    machines = ("LeastSquaresSVR", "OrthogonalKernelRegressor", "StackedKernelRegressor")
    return [{"machine": name, "n": n} for n in ((100,) if quick else SIZES) for name in machines]


def times(machine: str, n: int) -> dict[str, Any]:
    """Milliseconds of the processor a query in a batch of 100: at first, and of the next ones."""
    rng = np.random.default_rng(SEED)
    X = rng.uniform(-1, 1, (n + BATCH, 5))
    y = np.sin(3 * X[:, 0]) + (0.1 + (X[:, 0] > 0)) * rng.standard_normal(n + BATCH)
    basis = OrthogonalKernelRegressor(gamma=0.5, ridge=0.1, max_basis=100)
    model = clone({**GIVEN, "OrthogonalKernelRegressor": basis}[machine]).fit(X[BATCH:], y[BATCH:])
    model.loo_predict()
    found = []
    for _ in range(4):
        start = process_time()
        model.predict_interval(X[:BATCH], 0.9, "jackknife+", "local")
        found.append(1e3 * (process_time() - start) / BATCH)
    return {"first": found[0], "later": min(found[1:])}


def times_report(records: list[Record]) -> list[Part]:
    rows = [[r["machine"], r["n"], r["first"], r["later"]] for r in records]
    return [
        Text(
            'Milliseconds of the processor a query of `method="jackknife+", width="local"` in '
            f"batches of {BATCH}, one BLAS thread, on a machine with other work. The first batch "
            "after an edit computes the residuals without all pairs; those of more than 2,896 "
            "samples are not kept, and computed again for the next one."
        ),
        Table(["machine", "n", "first batch, ms a query", "later batches, ms a query"], rows),
    ]


EXPERIMENTS = (
    benchmark("widths", "Widths that follow x, next to constant ones and to others' widths",
              real_cases, real, real_report, timed=False),
    benchmark("widths_exactness", "Leave-two-out in closed form, and refits without each pair",
              exact_cases, exact, exact_report, timed=False),
    benchmark("widths_coverage", "How often intervals whose width follows x hold the truth",
              coverage_cases, coverage, coverage_report, timed=False),
    benchmark("widths_times", "Milliseconds a query of intervals whose width follows x",
              time_cases, times, times_report),
)  # fmt: skip
