"""Leave-one-out values as the figures take them; losses are tested with the boundary."""

import numpy as np

from gramian import KernelDiscriminant
from gramian.plots._boundary import _columns as columns
from tests.plots.conftest import make_samples


def test_infinite_values_are_the_largest_finite():
    """Classes without samples have them."""
    F = columns([[2.0, -np.inf], [-3.0, np.inf]])
    np.testing.assert_array_equal(F, [[2.0, -3.0], [-3.0, 3.0]])
    np.testing.assert_array_equal(columns([0.5, -0.25]), [[0.5], [-0.25]])


def test_the_most_probable_class_is_the_left_out_prediction():
    X, y, _ = make_samples(classes=3)
    model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y)
    probability = model.loo_predict_proba()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[probability.argmax(axis=1)], model.loo_predict())
