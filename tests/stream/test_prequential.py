"""Test-then-train evaluation, against a loop of refits."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from gramian import KernelDiscriminant, LeastSquaresSVR
from gramian.stream import SlidingWindow, prequential
from tests.stream.conftest import make_stream

KDA = KernelDiscriminant(gamma=0.5, ridge=0.1)
SVR = LeastSquaresSVR(gamma=0.5, C=10.0)


def test_equals_refits_on_each_window():
    X, y, _ = make_stream(n=50, classes=3)
    window = SlidingWindow(KDA, max_samples=20, min_samples=6)
    result = prequential(window, zip(X, y, strict=True), window=10)
    expected = []
    for k in range(50):
        past = slice(max(0, k - 20), k)
        if k >= 6 and len(np.unique(y[past])) > 1:
            expected.append((k, clone(KDA).fit(X[past], y[past]).predict(X[k : k + 1])[0]))
    steps, predictions = zip(*expected, strict=True)
    assert (result.n_seen, result.metric, result.window) == (50, "accuracy", 10)
    np.testing.assert_array_equal(result.steps, steps)
    np.testing.assert_array_equal(result.y_pred, predictions)
    np.testing.assert_array_equal(result.y_true, y[list(steps)])
    correct = result.y_pred == result.y_true
    np.testing.assert_array_equal(result.scores, correct)
    for m in range(len(correct)):
        assert result.running[m] == pytest.approx(correct[: m + 1].mean())
        assert result.windowed[m] == pytest.approx(correct[max(0, m - 9) : m + 1].mean())
    assert result.score == pytest.approx(correct.mean())


def test_a_fitted_estimator_learns_the_stream():
    X, _, y = make_stream()
    model = clone(SVR).fit(X[:20], y[:20])
    result = prequential(model, zip(X[20:], y[20:], strict=True))
    assert result.metric == "absolute error"
    assert len(model.ids_) == 60
    for k in (0, 17, 39):
        known = slice(0, 20 + k)
        predicted = clone(SVR).fit(X[known], y[known]).predict(X[[20 + k]])[0]
        assert result.y_pred[k] == pytest.approx(predicted)
        assert result.scores[k] == pytest.approx(abs(predicted - y[20 + k]))


def test_what_is_too_old_leaves_before_the_prediction():
    """The last sample comes after a pause in which all but the few before it grow too old."""
    X, y, _ = make_stream()
    times = np.where(np.arange(60) < 40, np.arange(60), 100 + np.arange(60))
    window = SlidingWindow(KDA, max_age=50, min_samples=5)
    result = prequential(window, zip(X, y, times, strict=True))
    assert not set(range(40, 45)) & set(result.steps.tolist())
    fresh = clone(KDA).fit(X[40:59], y[40:59])
    assert result.y_pred[-1] == fresh.predict(X[59:])[0]


def test_metrics():
    X, _, y = make_stream(n=40)
    results = {}
    for metric in ("squared error", lambda y, prediction: 2.0 * abs(y - prediction)):
        window = SlidingWindow(SVR, min_samples=5)
        results[metric if isinstance(metric, str) else "own"] = prequential(
            window, zip(X, y, strict=True), metric=metric
        )
    error = np.abs(results["own"].y_true - results["own"].y_pred)
    np.testing.assert_allclose(results["own"].scores, 2 * error)
    np.testing.assert_allclose(results["squared error"].scores, error**2)
    assert results["own"].metric == "<lambda>"


def test_several_targets():
    X, _, y = make_stream(n=40)
    window = SlidingWindow(SVR, min_samples=5)
    result = prequential(window, zip(X, np.column_stack([y, -y]), strict=True))
    assert result.y_pred.shape == (35, 2)
    np.testing.assert_allclose(result.scores, np.abs(result.y_true - result.y_pred).mean(axis=1))


def test_a_stream_without_predictions():
    X, y, _ = make_stream(n=10)
    result = prequential(SlidingWindow(KDA), zip(X, y, strict=True))
    assert result.n_seen == 10
    assert len(result.scores) == len(result.running) == len(result.windowed) == 0
    assert np.isnan(result.score)


def test_errors():
    X, y, _ = make_stream()
    with pytest.raises(NotFittedError, match="Or wrap it in a SlidingWindow"):
        prequential(clone(KDA), zip(X, y, strict=True))
    with pytest.raises(ValueError, match=r"metric must be callable or one of .*, got 'auc'"):
        prequential(SlidingWindow(KDA), zip(X, y, strict=True), metric="auc")
    with pytest.raises(ValueError, match="window must be an integer >= 1, got 0"):
        prequential(SlidingWindow(KDA), zip(X, y, strict=True), window=0)
