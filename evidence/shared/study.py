"""A classifier on a partition of a data set: error, probabilities, seconds.

Several experiments ask for the same machine on the same partition; it is computed once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from evidence.shared.data import SEED, split
from evidence.shared.learning import best_time
from gramian import (
    KernelDiscriminant,
    KernelFisherDiscriminant,
    LeastSquaresSVC,
    StackedKernelClassifier,
)

GRID = {"C": 10.0 ** np.arange(-1, 5), "gamma": 10.0 ** np.arange(-4, 2)}
BINS = 15
# Training samples of sets that come without a partition.
N_TRAIN = {"breast_cancer": 300, "wine": 90, "digits": 500, "iris": 100}
STANDARDIZED = ("breast_cancer", "wine")


class CalibratedSVC(ClassifierMixin, BaseEstimator):
    """An SVC tuned by grid search and calibrated by `CalibratedClassifierCV`, 5 folds each."""

    def fit(self, X, y):
        search = GridSearchCV(SVC(), GRID, cv=5).fit(X, y)
        self.model_ = CalibratedClassifierCV(search.best_estimator_, method="sigmoid", cv=5)
        self.classes_ = self.model_.fit(X, y).classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


# saadi2004, §2.4: the simplex method, on the number of left-out errors.
_PAPER = {"search": "nelder-mead", "criterion": "error", "random_state": SEED}
MACHINES: dict[str, BaseEstimator] = {
    "KernelDiscriminant": KernelDiscriminant(random_state=SEED),
    "LeastSquaresSVC": LeastSquaresSVC(random_state=SEED),
    "StackedKernelClassifier": StackedKernelClassifier(random_state=SEED),
    "KernelFisherDiscriminant": KernelFisherDiscriminant(random_state=SEED),
    "saadi2004": KernelFisherDiscriminant(targets="fisher", **_PAPER),
    "saadi2004, ±1": KernelFisherDiscriminant(**_PAPER),
    "GridSearchCV(SVC)": GridSearchCV(SVC(), GRID, cv=5),
    "CalibratedClassifierCV(SVC)": CalibratedSVC(),
    "SVC": SVC(),
    "GaussianProcessClassifier": GaussianProcessClassifier(
        ConstantKernel() * RBF(length_scale=5.0)
    ),
}


def run(data: str, machine: str, partition: int) -> dict[str, Any]:
    """Test error in %, seconds of the fit with all tuning; log-loss and ECE where there are any."""
    part = split(data, partition, n_train=N_TRAIN.get(data))
    if data == "digits":  # pixels from 0 to 1
        part = part._replace(X=part.X / 16.0, X_test=part.X_test / 16.0)
    model = clone(MACHINES[machine])
    if data in STANDARDIZED:
        model = make_pipeline(StandardScaler(), model)
    seconds, _ = best_time(lambda: model.fit(part.X, part.y), repeat=1)
    values = {"error": part.error(model), "seconds": seconds, "n": len(part.y)}
    return {**values, "d": part.X.shape[1], **probabilities(model, part), **part.facts}


def probabilities(model: Any, part: Any) -> dict[str, float]:
    """What `predict_proba` is worth on the test part; nothing where there is none."""
    if not hasattr(model, "predict_proba"):
        return {}
    p = model.predict_proba(part.X_test)
    right = model.classes_[p.argmax(axis=1)] == part.y_test
    return {
        "log_loss": float(log_loss(part.y_test, p, labels=model.classes_)),
        "ece": 100.0 * calibration_error(p.max(axis=1), right),
        "proba_error": 100.0 * float(np.mean(~right)),
    }


def calibration_error(confidence_level: np.ndarray, right: np.ndarray) -> float:
    """Mean over samples of |frequency − mean confidence| in the bin of each."""
    bins = np.minimum((confidence_level * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, right - confidence_level, BINS)
    return float(np.abs(gaps).sum() / len(right))
