"""Hyper-parameters chosen again when the leave-one-out error says so."""

import numpy as np
import pytest

from gramian import KernelDiscriminant, LeastSquaresSVR
from gramian.stream import SlidingWindow, prequential
from gramian.stream._choices import Alarm, loo_losses


def test_losses_are_those_of_refits():
    X = np.random.default_rng(0).standard_normal((20, 2))
    y = X[:, 0] ** 2
    model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X, y)
    for i in range(3):
        less = LeastSquaresSVR(gamma=0.5, C=10.0).fit(np.delete(X, i, 0), np.delete(y, i))
        assert loo_losses(model)[i] == pytest.approx((less.predict(X[[i]])[0] - y[i]) ** 2)
    labels = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y > 0.5)
    assert loo_losses(labels).mean() == pytest.approx(1 - labels.loo_score())


def test_it_rings_for_more_samples_and_for_more_error():
    X = np.random.default_rng(0).standard_normal((80, 1))
    model = LeastSquaresSVR(gamma=0.01, C=100.0).fit(X[:40], X[:40, 0])
    alarm = Alarm.set(model)
    assert not alarm.rings(model, 13)
    assert alarm.rings(model, 14)  # a third of 40
    assert not alarm.rings(model.partial_fit(X[40:], X[40:, 0]), 13)
    fast = LeastSquaresSVR(gamma=0.01, C=100.0).fit(X[:40], np.sin(20 * X[:40, 0]))
    assert alarm.rings(fast, 0)


@pytest.mark.slow
def test_window_finds_another_width_when_the_concept_changes():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, (240, 1))
    y = np.where(np.arange(240) < 120, x[:, 0], np.sin(25 * x[:, 0]))
    fixed = SlidingWindow(LeastSquaresSVR(random_state=0), max_samples=60)
    awake = SlidingWindow(LeastSquaresSVR(random_state=0), max_samples=60, reselect_every="alarm")
    for i in range(240):
        for window in (fixed, awake):
            window.partial_fit(x[i : i + 1], y[i : i + 1])
    assert awake.estimator_.gamma_ > 3 * fixed.estimator_.gamma_
    assert awake.estimator_.loo_score() > 0.95


def test_word_is_checked():
    window = SlidingWindow(LeastSquaresSVR(), reselect_every="often")
    with pytest.raises(ValueError, match="reselect_every must be an integer"):
        window.partial_fit([[0.0]], [0.0])


def test_baseline_of_no_change():
    X = np.random.default_rng(0).standard_normal((60, 2))
    y = np.repeat([0, 1, 0], 20)
    model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, X[:, 0] > 0)
    result = prequential(model, zip(X, y, strict=True))
    assert np.isnan(result.no_change[0])
    assert result.baseline == pytest.approx(57 / 59)  # two changes
    assert "(no change: 0.9661), 60 of 60 samples predicted" in str(result)
