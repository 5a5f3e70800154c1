"""When a stream's model should choose its hyper-parameters again, by the error that follows."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any

import numpy as np

from evidence._compare import grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark

WINDOW, FIRST, LONGEST = 300, 20, 1500
RULES = {"never": None, "alarm": "alarm", "every 100": 100, "every 250": 250}
LINEAR = "River, linear"
CLASSES = ("Phishing",)
STREAMS = ("ChickWeights", "TrumpApproval", "FriedmanDrift", *CLASSES)


def cases(quick: bool) -> list[Parameters]:
    streams, n = (STREAMS[:1], 60) if quick else (STREAMS, LONGEST)
    return [{"stream": s, "rule": rule, "n": n} for s in streams for rule in (*RULES, LINEAR)]


def run(stream: str, rule: str, n: int) -> dict[str, Any]:
    """Mean error of the predictions before learning, and that of predicting no change."""
    from river import linear_model, preprocessing

    from gramian.stream import RiverClassifier, RiverRegressor

    classes, rows = stream in CLASSES, [*islice(_rows(stream), n)]
    if rule == LINEAR:
        model: Any = (
            linear_model.LogisticRegression() if classes else linear_model.LinearRegression()
        )
    else:
        wrapper = RiverClassifier if classes else RiverRegressor
        model = wrapper(max_samples=WINDOW, reselect_every=RULES[rule])
    model, said = preprocessing.StandardScaler() | model, []
    for x, y in rows:
        said.append(model.predict_one(x))
        model.learn_one(x, y)
    targets = [y for _, y in rows]
    loss = (lambda y, p: 100.0 * (y != p)) if classes else (lambda y, p: abs(y - p))
    errors = [loss(y, p) for y, p in zip(targets[FIRST:], said[FIRST:], strict=True)]
    same = [loss(y, before) for before, y in pairwise(targets[FIRST - 1 :])]
    return {"error": float(np.mean(errors)), "no_change": float(np.mean(same))}


def _rows(stream: str) -> Any:
    from river import datasets

    if stream == "FriedmanDrift":
        return datasets.synth.FriedmanDrift("gra", position=(500, 1200), seed=0)
    found = getattr(datasets, stream)()
    return (({k: v for k, v in x.items() if isinstance(v, int | float)}, y) for x, y in found)


def report(records: list[Record]) -> list[Part]:
    rows = []
    for stream, found in grouped(records, "stream").items():
        errors = {r["rule"]: r["error"] for r in found}
        shown = [errors.get(rule) for rule in (*RULES, LINEAR)]
        rows.append([stream, *shown, found[0]["no_change"]])
    return [
        Text(
            f"Error of each prediction before the sample is learned, from sample {FIRST} on, "
            f"up to {LONGEST:,} samples: mean absolute error, or wrong labels in % "
            f"({', '.join(CLASSES)}). `RiverRegressor` and `RiverClassifier` behind a "
            f"`StandardScaler`, window {WINDOW}, by when they choose hyper-parameters again "
            "(`reselect_every`); River's linear model; and the target of the previous sample "
            "as the prediction. The share of new samples after which hyper-parameters are "
            "chosen again was itself chosen on these streams, among four rules."
        ),
        Table(["stream", *RULES, LINEAR, "no change"], rows),
    ]


EXPERIMENTS = (
    benchmark("stream_choices", "When a stream's model should choose again",
              cases, run, report, timed=False),
)  # fmt: skip
