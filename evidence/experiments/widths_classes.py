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
    part, rng = fold(table, partition, n), np.random.default_rng(SEED)
    model = LeastSquaresSVC(random_state=SEED).fit(part.X, part.y)
    own, asked = (np.searchsorted(model.classes_, y) for y in (part.y, part.y_test))
    P = model.loo_predict_proba(), model.predict_proba(part.X_test)
    hard = np.argsort(P[1].max(axis=1))[: len(asked) // 5]
    out = {}
    for score in SCORES:
        kind = margins if score.startswith("margin") else adaptive
        held, new = (kind(p, rng) for p in P)
        mine = held[np.arange(len(own)), own]
        sets = np.zeros(new.shape, dtype=bool)
        for label in range(new.shape[1]):
            among = mine[own == label] if "within" in score else mine
            rank = (1.0 + (among[:, None] >= new[:, label]).sum(axis=0)) / (1.0 + len(among))
            sets[:, label] = rank > 1.0 - LEVEL
        inside = sets[np.arange(len(asked)), asked]
        by_class = [inside[asked == c].mean() for c in np.unique(asked)]
        out[score] = [inside.mean(), min(by_class), inside[hard].mean(), sets.sum(axis=1).mean()]
    return out


def margins(P: np.ndarray, rng: Any) -> np.ndarray:
    """Best other class minus own, for every class."""
    two = np.sort(P, axis=1)[:, -2:]
    return np.asarray(np.where(two[:, -1:] == P, two[:, :1], two[:, -1:]) - P)


def adaptive(P: np.ndarray, rng: Any) -> np.ndarray:
    """The probability of all classes that are more probable, and a random share of its own."""
    order = np.argsort(-P, axis=1)
    ranked = np.take_along_axis(P, order, axis=1)
    above = np.cumsum(ranked, axis=1) - ranked * rng.uniform(size=(len(P), 1))
    out = np.empty_like(P)
    np.put_along_axis(out, order, above, axis=1)
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
            f"{len({r['partition'] for r in records})} random partitions of each set. Scores of "
            "the held samples are by leave-one-out, those of up to 2,000 new ones by the model. "
            "Margin: best other class minus own. Adaptive: the probabilities of all more probable "
            "classes and a random share of the own one (APS). Within classes: compared with the "
            "samples of the class alone (Mondrian). The hardest fifth has the least probable "
            "first answers."
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
