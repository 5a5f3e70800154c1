"""Streams and comparisons that the tests of windows share."""

import numpy as np
from sklearn.base import is_classifier

from tests.estimators.conftest import refit
from tests.tolerance import tolerance


def make_stream(n=60, *, classes=2, seed=0):
    """X of shape (n, 3), labels and responses that follow it."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    response = X[:, 0] + np.sin(2 * X[:, 1])
    labels = np.argsort(np.argsort(response)) * classes // n
    return X, np.array(["a", "b", "c"])[labels], response


def assert_equals_refit(window, *, updates=0):
    """The window's model predicts as a fresh one, fitted to the window's samples."""
    model, n = window.estimator_, len(window.ids_)
    np.testing.assert_array_equal(model.ids_, window.ids_)
    np.testing.assert_array_equal(model.X_fit_, window.X_fit_)
    np.testing.assert_array_equal(model.y_fit_, window.y_fit_)
    fresh = refit(model)
    queries = np.random.default_rng(99).standard_normal((9, window.n_features_in_))
    method = "decision_function" if is_classifier(model) else "predict"
    expected = getattr(fresh, method)(queries)
    atol = np.abs(expected).max() * tolerance(n, updates=updates, cond=n / 0.1, power=1)
    np.testing.assert_allclose(getattr(window, method)(queries), expected, rtol=0, atol=atol)
    if is_classifier(model):
        np.testing.assert_array_equal(window.predict(queries), fresh.predict(queries))
