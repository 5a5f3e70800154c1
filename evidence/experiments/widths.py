"""Intervals whose width follows x: on real data next to others, and times."""

from __future__ import annotations

from functools import lru_cache
from time import process_time
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import cross_val_predict

from evidence._compare import column, grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, UnavailableError, benchmark
from evidence.experiments.libraries import installed
from evidence.experiments.widths_coverage import GIVEN
from evidence.shared.data import SEED
from evidence.shared.tables import MADE, NUMBERS, PACKED, fold
from gramian import LeastSquaresSVR, OrthogonalKernelRegressor, StackedKernelRegressor
from gramian.core.estimators._cross_conformal import cross_fold_scores

# -- real data ----------------------------------------------------------------------------------

REAL = tuple(
    name for name in NUMBERS if name in PACKED or name in ("abalone", "boston", "diabetes")
)
SETS = tuple(name for name in REAL if name != "Males")[:10]
"""The first ten real sets of numbers that did not choose the rule of the neighbours."""
STACK, ALONE = "stack", "least squares SVM"
OURS = {STACK: StackedKernelRegressor, ALONE: LeastSquaresSVR}
PEERS = {"MAPIE, CQR": "mapie", "crepes, normalised": "crepes"}
N_TRAIN, CALIBRATE = 400, 3
PARTITIONS = 3


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
    found: dict[str, np.ndarray] = {}
    out: dict[str, Any] = {"held": len(part.y), "asked": len(part.y_test)}
    if who in OURS:
        model = OURS[who](random_state=SEED).fit(part.X, part.y)
        for width in ("local", "constant"):
            found[width] = model.predict_interval(part.X_test, 0.9, "cv+", width)
            out[f"{width} folds"] = fold_coverage(model, part, 0.9, width == "local")
    else:
        found["own"] = _peer(who, part)
    for way, ends in found.items():
        inside = (ends[:, 0] <= part.y_test) & (part.y_test <= ends[:, 1])
        out[way] = np.array([[np.sum(inside[quintile == q]) for q in range(5)],
                             [np.sum(quintile == q) for q in range(5)]])  # fmt: skip
        out[f"{way} width"] = float(np.mean(ends[:, 1] - ends[:, 0]))
    return out


def fold_coverage(model: Any, part: Any, level: float, local: bool) -> list[float]:
    """Coverage by each fold's model alone and by their mean, and how far they disagree."""
    scores, values, scales = cross_fold_scores(model, part.X_test, local)
    reach = np.sort(scores[:, 0])[int(np.ceil(level * (len(scores) + 1) - 1e-9)) - 1]
    away = np.abs(part.y_test[:, None] - values[..., 0])
    middle, around = values[..., 0].mean(axis=1), scales[..., 0].mean(axis=1)
    return [
        float(np.mean(away <= reach * scales[..., 0])),
        float(np.mean(np.abs(part.y_test - middle) <= reach * around)),
        float(values[..., 0].std(axis=1).mean() / away.mean()),
    ]


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
    rows, widths, every = [], [], []
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
        every.append(cells)
    names = ["coverage, local", "constant", "gap, local", "gap, constant", "change of the gap"]
    mine = [f"{who}, {way}" for who in OURS for way in ("local", "constant")]
    peers = [cell for who in PEERS for cell in (who, "coverage")]
    partitions = len({record["partition"] for record in records})
    return [
        Text(
            f"{partitions} random partitions of each set, at most {N_TRAIN} training samples "
            "and 2,000 queries, everything with its defaults, intervals at 0.9 by the folds "
            'that tuning needs (`method="cv+"`). The sets had no part in choosing the rule of '
            "2 √n neighbours, which was chosen on tables of the R packages modeldata, AER, "
            "Ecdat, robustbase, dslabs, causaldata, survival and mosaicData. Difficulty is "
            "the error of a random forest, as predicted by another random forest; the gap is "
            "the largest minus the smallest coverage of its five quintiles, in points. The "
            "guarantee is a coverage of at least 0.8 − √(2/n) on average over samples and "
            "queries, whatever the data; everything else is measured. "
            + " ".join(_summary(every, who) for who in OURS)
        ),
        Table(["set", "model", *names, "change of the width"], rows),
        Text(
            "Mean widths in deviations of the target. MAPIE's conformalized quantile "
            "regression has LightGBM, crepes' normalised regressor a forest with the errors "
            "of neighbours; both are fitted to two thirds of the samples and calibrated on "
            "the others."
        ),
        Table(["set", *mine, *peers], widths),
    ]


def _summary(every: list[dict[tuple[str, str], tuple[float, float, float]]], who: str) -> str:
    """In how many sets the coverage is near 0.9, the gap smaller, and the width below others'."""
    pairs = [(c[who, "local"], c[who, "constant"]) for c in every if (who, "local") in c]
    near = sum(abs(local[0] - 0.9) <= 0.01 for local, _ in pairs)
    gaps = [100 * np.mean([pair[k][1] for pair in pairs] or [0.0]) for k in (0, 1)]
    less = sum(local[1] <= 0.7 * alike[1] for local, alike in pairs)
    said = (
        f"{who[0].upper()}{who[1:]}, local: coverage is within a point of 0.9 on {near} of "
        f"{len(pairs)} sets; the gap is {gaps[0]:.1f} points on average instead of "
        f"{gaps[1]:.1f}, and smaller by 30 % or more on {less}"
    )
    for peer in PEERS:
        both = [(c[who, "local"][2], c[peer, "own"][2]) for c in every
                if {(who, "local"), (peer, "own")} <= set(c)]  # fmt: skip
        said += f"; as wide as {peer} or less on {sum(a <= b for a, b in both)} of {len(both)}"
    return f"{said}."


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
            'Milliseconds of processor time per query of `method="jackknife+", width="local"` '
            f"in batches of {BATCH}, one BLAS thread, on a computer with other work. The first "
            "batch after an edit computes the leave-two-out residuals; with more than 2,896 "
            "samples they are not kept, and computed again for the next batch."
        ),
        Table(["model", "n", "first batch, ms a query", "later batches, ms a query"], rows),
    ]


EXPERIMENTS = (
    benchmark("widths", "Widths that follow x, compared with constant ones and other libraries",
              real_cases, real, real_report, timed=False),
    benchmark("widths_times", "Milliseconds per query of intervals whose width follows x",
              time_cases, times, times_report),
)  # fmt: skip
