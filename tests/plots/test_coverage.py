"""Displays of coverage, intervals and the martingale: what they draw is what was asked."""

import numpy as np
import pytest

from gramian import KernelDiscriminant, LeastSquaresSVR
from gramian.plots import (
    CoverageDisplay,
    IntervalDisplay,
    MartingaleDisplay,
    WidthDisplay,
    coverage_of,
)
from gramian.stream import prequential

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def classifier():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.append((X[:-1, 0] > 0).astype(int), 2)  # one sample of a third class
    return KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y)


@pytest.fixture(scope="module")
def regressor():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(30, 2))
    return LeastSquaresSVR(gamma=0.5, C=10.0).fit(X, X[:, 0] + 0.1 * rng.normal(size=30))


class Order(np.random.RandomState):
    """Draws the order that it was made with."""

    def __init__(self, order):
        super().__init__(0)
        self.order = order

    def permutation(self, n):
        return self.order


def test_coverage_on_test_samples(classifier, regressor):
    X = np.random.default_rng(1).uniform(-1, 1, size=(20, 2))
    y = (X[:, 0] > 0).astype(int)
    found = coverage_of(classifier, X, y, [0.5, 0.9])
    sets = classifier.predict_set(X, 0.9)
    assert found.coverage[1] == pytest.approx(np.mean(sets[np.arange(20), y]))
    assert found.size[1] == pytest.approx(sets.sum() / 20)
    assert found.by_class["1"][1] == pytest.approx(np.mean(sets[y == 1, 1]))
    ends = regressor.predict_interval(X, 0.9)
    found = coverage_of(regressor, X, X[:, 0], [0.5, 0.9])
    inside = (ends[:, 0] <= X[:, 0]) & (X[:, 0] <= ends[:, 1])
    assert found.coverage[1] == pytest.approx(inside.mean())
    assert found.size[1] == pytest.approx(np.median(ends[:, 1] - ends[:, 0]))


def test_coverage_of_other_sets_and_widths(classifier, regressor):
    X = np.random.default_rng(1).uniform(-1, 1, size=(20, 2))
    y = (X[:, 0] > 0).astype(int)
    options = {"score": "adaptive", "mondrian": True}
    found = coverage_of(classifier, X, y, [0.8], random_state=4, **options)
    sets = classifier.predict_set(X, 0.8, random_state=4, **options)
    assert found.size[0] == pytest.approx(sets.sum() / 20)
    ends = regressor.predict_interval(X, 0.8, width="local")
    display = CoverageDisplay.from_estimator(regressor, X, y, confidences=[0.8], width="local")
    assert display.coverage.size[0] == pytest.approx(np.median(ends[:, 1] - ends[:, 0]))
    left_out = coverage_of(regressor, confidences=[0.8], width="local")
    inside = []
    for i in range(30):
        stay = np.arange(30) != i
        model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(
            regressor.X_fit_[stay], regressor.y_fit_[stay]
        )
        low, high = model.predict_interval(regressor.X_fit_[[i]], 0.8, "jackknife+", "local")[0]
        inside.append(low <= regressor.y_fit_[i] <= high)
    assert left_out.coverage[0] == pytest.approx(np.mean(inside))
    with pytest.raises(TypeError, match="score"):
        coverage_of(regressor, X, y, [0.8], score="adaptive")


def test_coverage_on_left_out_samples_is_that_of_models_without_them(classifier, regressor):
    found = coverage_of(classifier, confidences=[0.8])
    X, y, inside = classifier.X_fit_, classifier.y_fit_, []
    for i in range(29):  # the last is alone in its class, which would go with it
        stay = np.arange(30) != i
        model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X[stay], y[stay])
        inside.append(model.predict_set(X[[i]], 0.8)[0, y[i]])
    assert found.count == 29
    assert found.coverage[0] == pytest.approx(np.mean(inside))
    assert coverage_of(regressor, confidences=[0.8]).coverage[0] == pytest.approx(0.8, abs=0.05)
    K = KernelDiscriminant("precomputed", ridge=0.1).fit(X @ X.T, y)
    with pytest.raises(ValueError, match="give X and y"):
        coverage_of(K)


def test_many_samples_are_left_out_together_and_no_class_with_them():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    y = np.append((X[:-2, 0] > 0).astype(int), [2, 2])
    model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y)
    order = np.array([58, 59, *range(58)])  # both samples of the third class would leave at once
    found = coverage_of(model, confidences=[0.8], random_state=Order(order))
    inside = []
    for some in np.split(order, 20):
        some = some[some != 58]
        stay = np.delete(np.arange(60), some)
        refit = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X[stay], y[stay])
        inside += refit.predict_set(X[some], 0.8, method="full")[
            np.arange(len(some)), y[some]
        ].tolist()
    assert found.count == 59
    assert found.coverage[0] == pytest.approx(np.mean(inside))
    assert model.ids_.tolist() == list(range(60))


def test_displays_draw(classifier, regressor):
    display = CoverageDisplay.from_estimator(classifier)
    lines = {line.get_label(): line for line in display.ax_.get_lines()}
    np.testing.assert_array_equal(
        lines["29 left-out samples"].get_ydata(), display.coverage.coverage
    )
    assert {"as promised", "class 0", "class 1"} <= set(lines)
    shown = IntervalDisplay.from_estimator(regressor, resolution=10)
    assert np.all(np.diff(shown.x) > 0)
    assert np.all(shown.intervals[:, 0] < shown.prediction)
    X = regressor.X_fit_[:5]
    shown = IntervalDisplay.from_estimator(regressor, X, feature=1, method="jackknife+")
    np.testing.assert_array_equal(shown.x, np.sort(X[:, 1]))
    assert shown.ax_.get_xlabel() == "feature 1"
    shown = IntervalDisplay.from_estimator(regressor, X, width="local")
    X = X[np.argsort(X[:, 0])]
    np.testing.assert_array_equal(shown.intervals, regressor.predict_interval(X, width="local"))


@pytest.mark.parametrize("tuned", [False, True])
def test_coverage_by_difficulty(regressor, tuned):
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(20, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=20)
    model = LeastSquaresSVR(random_state=0).fit(X, y) if tuned else regressor
    method = "cv+" if tuned else "jackknife+"
    shown = WidthDisplay.from_estimator(model, X, y, confidence_level=0.8)
    local, constant = (model.predict_interval(X, 0.8, method, w) for w in ("local", "constant"))
    easiest = np.argsort(local[:, 1] - local[:, 0])[:4]
    for kind, ends in (("local", local), ("constant", constant)):
        low, high = ends[easiest].T
        inside = (low <= y[easiest]) & (y[easiest] <= high)
        assert shown.coverage[kind][0] == pytest.approx(inside.mean())
        assert shown.widths[kind][0] == pytest.approx(np.mean(high - low))
    labels = {line.get_label() for line in shown.ax_.get_lines()}
    assert {"as promised", "local width", "constant width"} <= labels
    with pytest.raises(ValueError, match="at least 5 samples, got 4"):
        WidthDisplay.from_estimator(model, X[:4], y[:4])


def test_the_martingale_is_drawn_with_its_alarm():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(90, 1))
    y = np.where(np.arange(90) < 60, X[:, 0], 3 - X[:, 0]) + 0.1 * rng.normal(size=90)
    model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X[:30], y[:30])
    result = prequential(model, zip(X[30:], y[30:], strict=True), confidence_level=0.8)
    display = MartingaleDisplay.from_result(result)
    lines = {line.get_label(): line for line in display.ax_.get_lines()}
    np.testing.assert_array_equal(lines["log₁₀ of the martingale"].get_ydata(), result.martingale)
    assert f"alarm after {result.alarm()} samples" in lines
