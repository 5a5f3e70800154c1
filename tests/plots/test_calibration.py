"""Reliability of probabilities."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.base import clone

from gramian import KernelDiscriminant, LeastSquaresSVR
from gramian.plots import CalibrationDisplay
from gramian.plots._calibration import Reliability, reliability
from tests.plots.conftest import draw, make_samples

KDA = KernelDiscriminant(gamma=0.5, ridge=0.1)


def test_bins_of_equal_width():
    probability = np.repeat([0.05, 0.15, 0.95, 1.0], [10, 12, 11, 9])
    true = np.concatenate([np.ones(k) * (np.arange(k) < k // 2) for k in (10, 12, 11, 9)])
    curve = reliability(probability, true, n_bins=10)
    np.testing.assert_array_equal(curve.count, [10, 12, 20])
    np.testing.assert_allclose(curve.predicted, [0.05, 0.15, (0.95 * 11 + 9) / 20])
    np.testing.assert_allclose(curve.observed, [5 / 10, 6 / 12, 9 / 20])


def test_small_bins_are_joined():
    probability = np.repeat([0.05, 0.35, 0.55, 0.95], [4, 7, 12, 3])
    curve = reliability(probability, probability > 0.5, n_bins=10)
    np.testing.assert_array_equal(curve.count, [11, 15])
    few = reliability(np.array([0.1, 0.9]), np.array([0, 1]), n_bins=10)
    np.testing.assert_array_equal(few.count, [2])


def test_intervals_are_wilsons():
    count = np.array([10, 37, 200])
    hits = np.array([0, 20, 199])
    low, high = Reliability(hits / count, hits / count, count).interval()
    for k in range(3):
        expected = binomtest(int(hits[k]), int(count[k])).proportion_ci(0.95, method="wilson")
        # 1.96 stands for 1.95996…
        np.testing.assert_allclose([low[k], high[k]], expected, atol=1e-4)


def test_left_out_and_test_data():
    X, y, _ = make_samples(n=80)
    model = clone(KDA).fit(X[:50], y[:50])
    display = draw(CalibrationDisplay.from_estimator(model, X[50:], y[50:], n_bins=4))
    assert list(display.curves) == ["leave-one-out", "test data"]
    expected = reliability(model.predict_proba(X[50:])[:, 1], y[50:] == "b", 4)
    np.testing.assert_array_equal(display.curves["test data"].observed, expected.observed)
    np.testing.assert_array_equal(display.curves["test data"].predicted, expected.predicted)
    curve = display.curves["leave-one-out"]
    assert curve.count.sum() == 50
    assert curve.observed @ curve.count == pytest.approx(np.sum(y[:50] == "b"))
    assert display.ax_.get_xlabel() == "probability given to class b"


def test_several_classes():
    X, y, _ = make_samples(n=60, classes=3)
    model = clone(KDA).fit(X, y)
    display = draw(CalibrationDisplay.from_estimator(model, X, y))
    assert display.ax_.get_xlabel() == "probability given to the predicted class"
    curve = display.curves["test data"]
    hits = np.sum(model.classes_[model.predict_proba(X).argmax(axis=1)] == y)
    assert curve.observed @ curve.count == pytest.approx(hits)
    one = draw(CalibrationDisplay.from_estimator(model, pos_label="c"))
    curve = one.curves["leave-one-out"]
    assert curve.observed @ curve.count == pytest.approx(np.sum(y == "c"))


def test_test_data_of_an_unknown_class_are_misses():
    X, y, _ = make_samples(n=40)
    model = clone(KDA).fit(X, y)
    display = CalibrationDisplay.from_estimator(model, X, np.full(40, "z"))
    assert display.curves["test data"].observed.max() == 0.0


def test_errors():
    X, y, response = make_samples()
    with pytest.raises(ValueError, match=r"pos_label must be one of \['a', 'b'\], got 'q'"):
        CalibrationDisplay.from_estimator(clone(KDA).fit(X, y), pos_label="q")
    with pytest.raises(ValueError, match="that of a classifier, got LeastSquaresSVR"):
        CalibrationDisplay.from_estimator(LeastSquaresSVR(gamma=1.0, C=1.0).fit(X, response))
