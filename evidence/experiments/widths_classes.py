"""Sets of classes by several scores: how large they are, and whom they cover."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence._compare import column, grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared.data import SEED
from evidence.shared.tables import CLASSES, MADE, fold
from gramian import LeastSquaresSVC

SETS = ("ida_german", "ida_image", "ann_thyroid", "satimage", "optdigits", "wine")
N_TRAIN, PARTITIONS, LEVEL = 300, 2, 0.9
SCORES = ("margin", "margin, within classes", "adaptive", "adaptive, within classes")


def cases(quick: bool) -> list[Parameters]:
    sets = SETS[-1:] if quick else SETS
    return [
        {"table": name, "partition": k, "n": 60 if quick else N_TRAIN,
         **({} if name in MADE else {"data": name})}
        for name in sets
        for k in range(1 if quick else PARTITIONS)
        if name in CLASSES
    ]  # fmt: skip


def run(table: str, partition: int, n: int, data: str = "") -> dict[str, Any]:
    """For each score: coverage, that of the worst class and of the hardest fifth, mean size."""
    part = fold(table, partition, n)
    model = LeastSquaresSVC(random_state=SEED).fit(part.X, part.y)
    asked = np.searchsorted(model.classes_, part.y_test)
    hard = np.argsort(model.predict_proba(part.X_test).max(axis=1))[: len(asked) // 5]
    out = {}
    for name in SCORES:
        sets = model.predict_set(
            part.X_test,
            LEVEL,
            mondrian="within" in name,
            random_state=SEED,
            score=name.split(",")[0],
        )
        inside = sets[np.arange(len(asked)), asked]
        by_class = [inside[asked == c].mean() for c in np.unique(asked)]
        out[name] = [inside.mean(), min(by_class), inside[hard].mean(), sets.sum(axis=1).mean()]
    return out


def report(records: list[Record]) -> list[Part]:
    rows = []
    for table, found in grouped(records, "table").items():
        for score in SCORES:
            rows.append([table, score, *np.mean(column(found, score), axis=0).tolist()])
    mean = [
        ["all", score, *np.mean([np.mean(column(records, score), axis=0)], axis=0).tolist()]
        for score in SCORES
    ]
    return [
        Text(
            f"Sets at {LEVEL:g} of a tuned `LeastSquaresSVC` of at most {N_TRAIN} samples, "
            f"{len({r['partition'] for r in records})} random partitions of each set, for up "
            "to 2,000 new samples: `predict_set`, by the folds that tuning needs. Margin: the "
            "output of the best other class minus that of the own class. Adaptive "
            '(`score="adaptive"`): the probabilities of all more probable classes and a '
            "random share of the own one (APS). Within classes (`mondrian=True`): compared "
            "only with the samples of the class. The hardest fifth are the samples whose "
            "predicted class is least probable."
        ),
        Table(
            ["set", "score", "coverage", "of the worst class", "of the hardest fifth", "size"],
            [*rows, *mean],
        ),
    ]


EXPERIMENTS = (
    benchmark("widths_classes", "Sets of classes by margin and by adaptive scores",
              cases, run, report, timed=False),
)  # fmt: skip
