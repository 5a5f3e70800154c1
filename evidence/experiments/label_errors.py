"""Wrong labels found by leave-one-out, against cleanlab on the folds of an SVC."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.svm import SVC

from evidence._compare import column, grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, UnavailableError, benchmark
from evidence.shared.data import SEED, Split, split
from gramian import KernelDiscriminant, LeastSquaresSVC
from gramian.data import label_issues

SETS = ("ida_image", "ida_waveform", "satimage", "usps")
MACHINES = {"KernelDiscriminant": KernelDiscriminant, "LeastSquaresSVC": LeastSquaresSVC}
PEERS = {"cleanlab, SVC()": False, "cleanlab, GridSearchCV(SVC())": True}
GRID = {"C": [1.0, 10.0, 100.0], "gamma": [0.001, 0.01, 0.1, "scale"]}
SHARE, N_TRAIN = 0.1, 600


def cases(quick: bool) -> list[Parameters]:
    return [
        {"data": name, "method": method, "partition": k}
        for name in (SETS[:1] if quick else SETS)
        for method in (*MACHINES, *PEERS)
        for k in range(1 if quick else 5)
    ]


def run(data: str, method: str, partition: int) -> dict[str, Any]:
    """Share of flips among as many doubtful samples, and test errors with and without these."""
    at = split(data, partition, None if data == "ida_waveform" else N_TRAIN)
    y, flips = flipped(at.y, np.random.default_rng([SEED, partition]))
    found = ours if method in MACHINES else theirs
    start = perf_counter()
    doubtful, errors = found(method, at, y, len(flips))
    return {
        "precision": 100.0 * float(np.isin(doubtful, flips).mean()),
        **dict(zip(("flipped", "forgotten", "clean"), errors, strict=True)),
        "seconds": perf_counter() - start,
        "n": len(y),
        **at.facts,
    }


def flipped(y: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Labels of which a share is another class, and where those are."""
    y, classes = y.copy(), np.unique(y)
    where = rng.choice(len(y), round(SHARE * len(y)), replace=False)
    label = np.searchsorted(classes, y[where])
    y[where] = classes[(label + rng.integers(1, len(classes), len(where))) % len(classes)]
    return y, where


def ours(method: str, at: Split, y: np.ndarray, k: int) -> tuple[np.ndarray, list[float]]:
    model = MACHINES[method](random_state=SEED).fit(at.X, y)
    before = at.error(model)
    doubtful = label_issues(model, top=k).ids
    after = at.error(model.forget(doubtful).reselect())
    clean = at.error(MACHINES[method](random_state=SEED).fit(at.X, at.y))
    return doubtful, [before, after, clean]


def theirs(method: str, at: Split, y: np.ndarray, k: int) -> tuple[np.ndarray, list[float]]:
    try:
        from cleanlab.rank import get_label_quality_scores
    except ImportError as error:
        raise UnavailableError("cleanlab is not installed") from error
    svc = GridSearchCV(SVC(), GRID, cv=3) if PEERS[method] else SVC()
    calibrated = CalibratedClassifierCV(svc, ensemble=False)
    P = cross_val_predict(calibrated, at.X, y, cv=5, method="predict_proba")
    labels = np.searchsorted(np.unique(y), y)
    doubtful = np.argsort(get_label_quality_scores(labels, P), kind="stable")[:k]
    stay = np.setdiff1d(np.arange(len(y)), doubtful)
    fits = (at.X, y), (at.X[stay], y[stay]), (at.X, at.y)
    return doubtful, [at.error(svc.fit(X, labels)) for X, labels in fits]


def report(records: list[Record]) -> list[Part]:
    figures = ("precision", "flipped", "forgotten", "clean", "seconds")

    def means(found: list[Record]) -> list[float]:
        return [float(np.mean(column(found, figure))) for figure in figures]

    rows: list[list[Any]] = [
        [data.removeprefix("ida_"), found[0]["n"], method, *means(found)]
        for (data, method), found in grouped(records, "data", "method").items()
    ]
    rows += [["mean", None, m, *means(found)] for m, found in grouped(records, "method").items()]
    return [
        Text(
            f"{SHARE:.0%} of the training labels were replaced by other classes, drawn at "
            "random; means over five partitions. Precision: as many samples are taken as "
            "labels were flipped, those that a method doubts most; the share of flipped "
            "labels among them. Ours: `label_issues` of a model with its defaults, fitted to "
            "the flipped labels. Theirs: `get_label_quality_scores` of cleanlab on "
            "`cross_val_predict(CalibratedClassifierCV(SVC), cv=5)`, the SVC with its "
            "defaults or chosen by a grid search over 12 settings. Test errors in %, of the "
            "model fitted to the flipped labels, of the model without the doubtful samples "
            "(ours by `forget` and `reselect`), and of the model fitted to the true labels. "
            "Seconds are those of the whole row; other processes ran at the same time."
        ),
        Table(
            ["set", "n", "method", "precision (%)", "flipped: error (%)", "forgotten: error (%)",
             "true labels: error (%)", "seconds"],
            rows,
        ),
    ]  # fmt: skip


EXPERIMENTS = (
    benchmark("label_errors", "Wrong labels found by leave-one-out and by cleanlab",
              cases, run, report, timed=False),
)  # fmt: skip
