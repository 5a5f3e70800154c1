"""The fuzzy classifier: what its slopes are tuned to, and one sample in and out."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence._compare import column, grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared.data import split
from evidence.shared.ellipsoids import independent_positions, multiclass_classifier
from evidence.shared.learning import best_time, mean_time
from gramian import EllipsoidalFuzzyClassifier

# --- slopes -------------------------------------------------------------------------------------

TUNINGS = {False: "untuned (%)", True: "tuned (%)", "loo": 'tune="loo" (%)'}
SLOPE_SETS = ("ida_banana", "ida_breast_cancer", "ida_heart", "ida_thyroid", "ida_twonorm")


def slope_cases(quick: bool) -> list[Parameters]:
    return [
        {"data": name, "transductive": t, "epsilon": e, "tune": tune, "partition": k}
        for name in (("ida_thyroid",) if quick else SLOPE_SETS)
        for t in ("basis", "queries")
        for e in (1e-2, 1e-4, 1e-7)
        for tune in TUNINGS
        for k in range(3)
    ]


def run_slopes(data: str, partition: int, **settings: Any) -> dict[str, Any]:
    """Test error in %."""
    part = split(data, partition)
    model = EllipsoidalFuzzyClassifier(**settings).fit(part.X, part.y)
    return {"error": part.error(model), **part.facts}


def report_slopes(records: list[Record]) -> list[Part]:
    rows = []
    for (data, *key), found in grouped(records, "data", "transductive", "epsilon").items():
        by_tuning = grouped(found, "tune")
        means = [float(np.mean(column(by_tuning.get(t, []), "error") or [np.nan])) for t in TUNINGS]
        rows.append([data.removeprefix("ida_"), *key, *(f"{mean:.1f}" for mean in means)])
    return [
        Text(
            'Mean test error over the first three partitions, `gamma="scale"`. If most '
            "samples are independent vectors, the distance of a sample from its own class "
            "says little; the distance from its class without the sample says more."
        ),
        Table(["data", "transductive", "ε", *TUNINGS.values()], rows),
    ]


# --- edits --------------------------------------------------------------------------------------


def edit_cases(quick: bool) -> list[Parameters]:
    return [{"data": "ann_thyroid", "n": 600 if quick else None}]


def run_edits(data: str, n: int | None) -> dict[str, Any]:
    """Mean seconds of single edits of the last class, and of tuning the slopes after them."""
    part = split(data, 0)
    X, y = part.X[:n], part.y[:n]
    model = multiclass_classifier("KPCA II (2)", data, tune=False)
    times = {"fit": best_time(lambda: model.fit(X, y))[0]}
    label = np.unique(y)[-1].item()
    members, basis = np.flatnonzero(y == label), independent_positions(model, label)
    discarded, independent = np.delete(members, basis)[:20].tolist(), members[basis]
    some = independent[:: max(1, len(independent) // 20)][:20].tolist()
    times["forget, a discarded sample"] = mean_time(model.forget, discarded)
    times["partial_fit"] = mean_time(
        lambda i: model.partial_fit(X[[i]], y[[i]], ids=[i]), discarded
    )
    times["forget, an independent vector"] = mean_time(model.forget, some)
    times["retune"] = best_time(model.retune, repeat=1)[0]
    return {"times": times, "size": len(y), **part.facts}


def report_edits(records: list[Record]) -> list[Part]:
    (record,) = records
    times = record["times"]
    rows = [[what, seconds, times["fit"] / seconds] for what, seconds in times.items()]
    return [
        Text(
            f"{record['data']}, {record['size']:,} samples, KPCA II, d = 2; means of single "
            "calls, without the ellipsoid, which is computed when a distance is first needed. "
            "Then all distances of the samples, and the slopes."
        ),
        Table(["what", "seconds", "fit / this"], rows),
    ]


EXPERIMENTS = (
    benchmark("ellipsoidal_slopes", "Slopes tuned with and without leave-one-out distances",
              slope_cases, run_slopes, report_slopes, timed=False),
    benchmark("ellipsoidal_edits", "Learning and forgetting with the fuzzy classifier",
              edit_cases, run_edits, report_edits),
)  # fmt: skip
