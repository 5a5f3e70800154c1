"""Adaptive sets against brute force: real refits, and the definition label by label."""

import numpy as np
import pytest
from sklearn.base import clone

from gramian import (
    EllipsoidalFuzzyClassifier,
    LeastSquaresSVC,
    OrthogonalKernelClassifier,
)
from gramian.core.equations import adaptive_scores, finite_outputs, margin_slope
from tests.estimators.conftest import CLASSIFIERS

GIVEN = {  # a basis of centres, which refits would choose again, is in test_conformal
    **{name: model for name, model in CLASSIFIERS.items() if not hasattr(model, "max_basis")},
    "fuzzy-input": EllipsoidalFuzzyClassifier(gamma=0.5, distance="input", tune=False),
}


def drawn(seed, n, classes):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, 2)) + np.outer(y, [0.9, -0.4]), y


def defined_scores(F, labels, shares, slope=None):
    """Scores of all samples, one after the other."""
    F = np.asarray(F, dtype=float).reshape(len(labels), -1)
    Z = np.hstack([np.zeros_like(F), F]) if F.shape[1] == 1 else F
    c = Z.shape[1]
    if slope is None:
        d = [Z[i, labels[i]] - Z[i, j] for i in range(len(Z)) for j in range(c) if j != labels[i]]
        slope = 2.0 * max(np.mean(d), 0.0) / np.var(d)
    out = []
    for z, label, share in zip(Z, labels, shares, strict=True):
        p = np.exp(slope * (z - z.max()))
        p /= p.sum()
        out.append(sum(q for q in p if q > p[label]) + share * p[label])
    return np.array(out)


@pytest.mark.parametrize("mondrian", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", GIVEN)
def test_p_values_are_those_of_refits_with_the_query(name, classes, mondrian):
    model = GIVEN[name]
    X, y = drawn(0, 12, classes)
    queries = np.array([[0.2, 0.1], [1.5, -1.0]])
    fitted = clone(model).fit(X, y)
    found = fitted.p_values(queries, mondrian, random_state=3, method="full", score="adaptive")
    random = np.random.RandomState(3)
    held, own = random.uniform(size=12), random.uniform(size=2)
    for q, x in enumerate(queries):
        for label in range(classes):
            XX, yy = np.vstack([X, x]), np.append(y, label)
            F = []
            for i in range(13):
                rest = np.arange(13) != i
                refit = clone(model).fit(XX[rest], yy[rest])
                F.append(np.atleast_1d(refit.decision_function(XX[[i]])[0]))
            scores = defined_scores(F, yy, np.append(held, own[q]))
            counted = [i for i in range(12) if not mondrian or y[i] == label]
            larger = sum(scores[i] >= scores[-1] - 1e-9 for i in counted)
            assert found[q, label] == pytest.approx((1 + larger) / (1 + len(counted)))


def test_p_values_by_folds_are_those_of_the_definition():
    X, y = drawn(1, 30, 3)
    model = LeastSquaresSVC(random_state=0).fit(X, y)
    queries = np.array([[0.2, 0.1], [1.5, -1.0]])
    found = model.p_values(queries, random_state=5, score="adaptive")
    random = np.random.RandomState(5)
    held, own = random.uniform(size=30), random.uniform(size=2)
    folds, specs = model._now.holdings.folds, model._now.fold_specs
    reached = np.empty((2, 3, 30))
    scores = np.empty(30)
    for k, spec in enumerate(specs):
        left = np.flatnonzero(folds == k)
        rest = np.setdiff1d(np.arange(30), left)
        refit = LeastSquaresSVC(gamma=spec.kernel.gamma, C=1.0 / spec.ridge).fit(X[rest], y[rest])
        Z, labels = refit.loo_decision_function(), y[rest]
        d = [Z[i, labels[i]] - Z[i, j] for i in range(len(Z)) for j in range(3) if j != labels[i]]
        slope = 2.0 * np.mean(d) / np.var(d)
        scores[left] = defined_scores(refit.decision_function(X[left]), y[left], held[left], slope)
        for label in range(3):
            at = refit.decision_function(queries)
            reached[:, label, left] = defined_scores(at, [label] * 2, own, slope)[:, None]
    expected = (1 + np.sum(scores >= reached - 1e-9, axis=2)) / 31
    np.testing.assert_allclose(found, expected)


def test_random_numbers_are_those_of_the_seed():
    X, y = drawn(2, 24, 2)
    model = LeastSquaresSVC(gamma=0.5, C=10.0).fit(X, y)
    ask = {"score": "adaptive", "smoothed": True}
    first = model.p_values(X[:3], random_state=0, **ask)
    np.testing.assert_array_equal(first, model.p_values(X[:3], random_state=0, **ask))
    assert (first != model.p_values(X[:3], random_state=1, **ask)).any()
    sets = model.predict_set(X[:3], 0.8, random_state=0, **ask)
    np.testing.assert_array_equal(sets, first > 0.2)


def test_sets_hold_the_truth_as_often_as_promised():
    inside = 0
    for seed in range(150):
        X, y = drawn(seed, 21, 2)
        shuffled = np.random.default_rng(seed).permutation(21)  # the query has any class
        X, y = X[shuffled], y[shuffled]
        model = LeastSquaresSVC(gamma=0.5, C=1.0).fit(X[1:], y[1:])
        inside += model.predict_set(X[:1], 0.8, random_state=seed, score="adaptive")[0, y[0]]
    assert inside >= 150 * 0.8 - 3 * np.sqrt(150 * 0.16)


def test_an_unknown_score_is_refused():
    X, y = drawn(3, 24, 2)
    model = LeastSquaresSVC(gamma=0.5, C=10.0).fit(X, y)
    with pytest.raises(ValueError, match=r"score must be .*margin.*adaptive.*got 'aps'"):
        model.predict_set(X[:1], score="aps")


def test_infinite_values_count_as_the_largest():
    F = np.array([[1.0, -np.inf], [np.nan, 2.0]])
    assert finite_outputs(F).tolist() == [[1.0, -2.0], [0.0, 2.0]]
    assert finite_outputs(np.full((1, 2), -np.inf)).tolist() == [[0.0, 0.0]]


def test_a_model_no_better_than_chance_has_equal_probabilities():
    F, labels = np.array([[1.0], [-1.0]]), np.array([0, 1])  # both wrong
    slope = margin_slope(F, labels)
    assert slope == 0.0
    np.testing.assert_allclose(adaptive_scores(F, labels, slope, np.array([0.5, 1.0])), [0.25, 0.5])


def test_a_perfect_model_has_a_finite_slope():
    F, labels = np.array([[-1.0], [1.0]]), np.array([0, 1])
    assert margin_slope(F, labels) == pytest.approx(2e6)


def test_centres_stay_for_queries_of_an_orthogonal_model():
    X, y = drawn(4, 20, 2)
    model = OrthogonalKernelClassifier(gamma=0.5, ridge=0.1, max_basis=5).fit(X, y)
    found = model.p_values(X[:2], random_state=0, method="full", score="adaptive")
    assert found.shape == (2, 2)
    assert ((found > 0) & (found <= 1)).all()
