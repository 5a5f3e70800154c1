"""A stack by hand, for tests of stacks."""

import numpy as np
from sklearn.base import is_classifier

from gramian import LeastSquaresSVC, LeastSquaresSVR
from tests.estimators.conftest import queries, values


def seen_by(part, X):
    """The features of a part, from the numbers that `parts_` shows."""
    if found := part.get("thresholds"):
        X = X[:, found["columns"]] > found["edges"]
    return X if part["metric"] is None else X * part["metric"]


def sum_of_refits(model, X, y, at):
    """The weighted sum of the parts, each fitted to its features."""
    kind = LeastSquaresSVC if is_classifier(model) else LeastSquaresSVR
    total = 0.0
    for part, weight in zip(model.parts_, model.weights_, strict=True):
        one = kind(part["kernel"], gamma=part["gamma"], C=part["C"]).fit(seen_by(part, X), y)
        total = total + weight * values(one, seen_by(part, at))
    return total if is_classifier(model) else total + model.offset_[0]


def assert_exact(model):
    """The model is that sum, on the samples that it holds."""
    expected = sum_of_refits(model, model.X_fit_, model.y_fit_, queries())
    np.testing.assert_allclose(values(model), expected, atol=1e-9, rtol=1e-9)
