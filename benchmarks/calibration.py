"""Probabilities calibrated on leave-one-out values, against those of scikit-learn's SVC."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from benchmarks._harness import RESULTS, Table
from benchmarks._partitions import QUICK, Study, n_train
from benchmarks.selection import GRID
from gramian import KernelDiscriminant, KernelFisherDiscriminant, LeastSquaresSVC

SETS = (
    *("ida_banana", "ida_diabetis", "ida_german", "ida_heart"),
    *("ida_titanic", "ida_twonorm", "ida_waveform", "digits"),
)
BINS = 15
FIGURES = {"log_loss": "log-loss", "ece": "ECE (%)", "error": "error (%)", "seconds": "fit (s)"}


class CalibratedSVC(ClassifierMixin, BaseEstimator):
    """An SVC tuned by grid search and calibrated by `CalibratedClassifierCV`, 5 folds each."""

    def fit(self, X, y):
        search = GridSearchCV(SVC(), GRID, cv=5).fit(X, y)
        self.model_ = CalibratedClassifierCV(search.best_estimator_, method="sigmoid", cv=5)
        self.model_.fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


METHODS = {
    "KernelDiscriminant": KernelDiscriminant(random_state=0),
    "LeastSquaresSVC": LeastSquaresSVC(random_state=0),
    "KernelFisherDiscriminant": KernelFisherDiscriminant(random_state=0),
    "CalibratedClassifierCV(SVC)": CalibratedSVC(),
}


def run(quick: bool) -> None:
    sets = ("ida_heart", "iris") if quick else SETS
    rows = (0, 5) if quick else tuple(range(10))
    study = Study("quick/calibration" if quick else "calibration", METHODS, judge)
    found = study.run((name, k) for name in sets for k in rows)
    table = Table(
        "calibration",
        "Probabilities from leave-one-out values, against a calibrated SVC",
        ("set", "n", "method", *FIGURES.values()),
        note=(
            "`predict_proba` on the test part, means over partitions 1–10. ECE: expected "
            f"calibration error of the predicted class, in {BINS} bins of equal width. Models with "
            'their defaults against `CalibratedClassifierCV(SVC, method="sigmoid", cv=5)`, the '
            "SVC chosen by the grid search of [selection](selection.md); times include it. The IDA "
            "sets as they are published, 500 training samples of the 1,797 digits, pixels from 0 "
            "to 1. The last rows are means over the sets, of all partitions and of 6–10, which "
            "were not looked at when the defaults were chosen. `python -m benchmarks calibration`"
        ),
    )
    fill(table, found, sets, rows)
    table.write(QUICK if quick else RESULTS)


def judge(model, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    p = model.predict_proba(X)
    named = model.classes_[p.argmax(axis=1)]
    return {
        "log_loss": float(log_loss(y, p, labels=model.classes_)),
        "ece": 100.0 * calibration_error(p.max(axis=1), named == y),
        "error": 100.0 * float(np.mean(named != y)),
    }


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """Mean over samples of |frequency − mean confidence| in the bin of each."""
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, right - confidence, BINS)
    return float(np.abs(gaps).sum() / len(right))


def fill(table: Table, found: dict, sets: tuple[str, ...], rows: tuple[int, ...]) -> None:
    for name in sets:
        for method in METHODS:
            table.add(name, n_train(name), method, *means(found, [name], rows, method))
    late = tuple(k for k in rows if k >= 5)
    for title, some in (("mean", rows), ("mean, partitions 6–10", late)):
        for method in METHODS:
            table.add(title, None, method, *means(found, sets, some, method))


def means(found: dict, sets, rows, method: str) -> list[float]:
    runs = [found[name, k][method] for name in sets for k in rows]
    return [float(np.mean([run[figure] for run in runs])) for figure in FIGURES]
