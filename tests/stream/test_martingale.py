"""p-values, coverage and the martingale along a stream."""

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.base import clone

from gramian import KernelDiscriminant, LeastSquaresSVR
from gramian.core.estimators import answer_p_values
from gramian.stream import SlidingWindow, mixture_martingale, prequential

KDA = KernelDiscriminant(gamma=0.5, ridge=0.1)
SVR = LeastSquaresSVR(gamma=0.5, C=10.0)


def test_the_martingale_is_the_integral_over_all_powers():
    p = np.random.default_rng(0).uniform(size=12)
    expected = [
        quad(lambda e, p=p[: k + 1]: np.prod(e * p ** (e - 1.0)), 0.0, 1.0)[0] for k in range(12)
    ]
    np.testing.assert_allclose(10.0 ** mixture_martingale(p), expected, rtol=1e-6)
    assert np.isfinite(mixture_martingale([0.0])).all()


@pytest.mark.parametrize("model", [KDA, SVR], ids=["classes", "numbers"])
def test_p_values_are_those_of_the_window_before_each_sample(model):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 2))
    y = (X[:, 0] > 0).astype(int) if model is KDA else X[:, 0] + 0.1 * rng.normal(size=20)
    window = SlidingWindow(model, max_samples=14, min_samples=10)
    result = prequential(
        window, zip(X, y, strict=True), confidence_level=0.8, window=5, random_state=3
    )
    ties = np.random.RandomState(3).uniform(size=(40, 2 if model is KDA else 1))
    for m, k in enumerate(result.steps):
        past = slice(max(0, k - 14), k)
        fitted, query = clone(model).fit(X[past], y[past]), X[k : k + 1]
        if model is KDA:  # a second number is drawn in case the label is new
            low, high = (fitted.p_values(query)[0, y[k]] * f for f in (0.0, 1.0))
            assert low <= result.p_values[m] <= high
        else:
            n = len(y[past])
            sizes = [abs(r) for r in _left_out(model, X[past], y[past], query, y[k])]
            above = sum(s > sizes[-1] for s in sizes[:-1])
            assert result.p_values[m] == pytest.approx((above + ties[m, 0]) / (n + 1))
    np.testing.assert_array_equal(result.covered, result.p_values > 0.2)
    assert result.coverage == pytest.approx(np.mean(result.covered))
    assert result.windowed_coverage[-1] == pytest.approx(np.mean(result.covered[-5:]))


def _left_out(model, X, y, query, value):
    X, y = np.vstack([X, query]), np.append(y, value)
    for i, s in enumerate(~np.eye(len(y), dtype=bool)):
        yield y[i] - clone(model).fit(X[s], y[s]).predict(X[i : i + 1])[0]


def test_a_change_raises_the_alarm_and_no_change_does_not():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (140, 1))
    same = X[:, 0] + 0.1 * rng.normal(size=140)
    changed = np.where(np.arange(140) < 115, same, 3.0 - same)
    for y, rings in ((same, False), (changed, True)):
        model = clone(SVR).fit(X[:100], y[:100])
        result = prequential(model, zip(X[100:], y[100:], strict=True), confidence_level=0.9)
        alarm = result.alarm()
        assert (alarm is not None) == rings
        assert not rings or 15 <= alarm < 30


def test_a_new_class_fits_worse_than_anything_held():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.repeat([0, 1], 15)
    model = clone(KDA).fit(X, y)
    result = prequential(model, [(X[0], 2), (X[1], 0)], confidence_level=0.9)
    assert result.p_values[0] <= 1 / 31
    assert not result.covered[0]


def test_what_was_not_asked_for_is_not_there():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    model = clone(SVR).fit(X, y)
    result = prequential(model, [])
    for name in ("coverage", "windowed_coverage", "martingale"):
        with pytest.raises(ValueError, match="give `confidence_level` to prequential"):
            getattr(result, name)
    assert np.isnan(prequential(model, [], confidence_level=0.9).coverage)
    with pytest.raises(ValueError, match="one target"):
        prequential(model, zip(X, y, strict=True), confidence_level=0.9)
    with pytest.raises(ValueError, match="confidence_level must be"):
        prequential(model, [], confidence_level=1.0)


def test_a_window_answers_with_sets_and_intervals():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    labels = (X[:, 0] > 0).astype(int)
    window = SlidingWindow(KDA).fit(X, labels)
    assert np.array_equal(window.predict_set(X, 0.8), clone(KDA).fit(X, labels).predict_set(X, 0.8))
    window = SlidingWindow(SVR).fit(X, X[:, 1])
    expected = clone(SVR).fit(X, X[:, 1]).predict_interval(X, 0.8)
    np.testing.assert_allclose(window.predict_interval(X, 0.8), expected)


@pytest.mark.parametrize("width", ["local", "density"])
def test_widths_of_a_stream(width):
    """The p-value of a sample is above 1 − confidence where the interval holds it."""
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (70, 1))
    y = X[:, 0] + np.where(X[:, 0] > 0, 0.5, 0.05) * rng.standard_normal(70)
    model = clone(SVR).fit(X[:40], y[:40])
    result = prequential(model, zip(X[40:], y[40:], strict=True), confidence_level=0.7, width=width)
    held, p = [], []
    model = clone(SVR).fit(X[:40], y[:40])
    for x, z in zip(X[40:], y[40:], strict=True):
        low, high = model.predict_interval(x[None], 0.7, width=width)[0]
        held.append(low <= z <= high)
        p.append(answer_p_values(model, x[None], [z], width=width)[0])
        model.partial_fit(x[None], [z])
    held, p = np.array(held), np.array(p)
    assert np.all(held[p > 0.3])  # jackknife+ joins the ends, so that a little more is inside
    assert np.mean(held != (p > 0.3)) <= (0.1 if width == "local" else 0.0)
    assert np.all(result.p_values <= p)
    with pytest.raises(ValueError, match="width must be one of"):
        prequential(model, zip(X, y, strict=True), confidence_level=0.7, width="wide")


@pytest.mark.parametrize("options", [{"mondrian": True}, {"score": "adaptive", "mondrian": True}])
def test_scores_of_a_stream(options):
    """The p-value of a label is the model's own, before the sample is learned."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(50, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=50) > 0.5).astype(int)
    y[45] = 2  # a class without samples excludes nothing
    stream = list(zip(X[30:], y[30:], strict=True))
    found = prequential(
        clone(KDA).fit(X[:30], y[:30]), stream, confidence_level=0.8, random_state=3, **options
    ).p_values
    model, random = clone(KDA).fit(X[:30], y[:30]), np.random.RandomState(3)
    for (x, label), p in zip(stream, found, strict=True):
        known = model.classes_.tolist()
        all_p = model.p_values(
            x[None], smoothed=True, random_state=random, method="full", **options
        )
        if label in known:
            assert p == all_p[0, known.index(label)]
        least = random.uniform()  # drawn for every sample
        if label not in known:
            assert p == least
        model.partial_fit(x[None], [label])
