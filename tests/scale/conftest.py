"""Samples of the orthogonal estimators' tests with more rows."""

import numpy as np

from tests.estimators.conftest import make_samples


def weighted_samples(estimator, n=120, classes=3):
    X, y = make_samples(estimator, n, classes=classes)
    return X, y, np.random.default_rng(3).uniform(0.3, 3.0, n)
