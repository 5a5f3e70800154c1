"""Sample and class weights: a weight of k is k copies, for every estimator."""

import numpy as np
import pytest
from sklearn.base import clone

from tests.estimators.conftest import (
    CLASSIFIERS,
    REPEATABLE,
    REWEIGHABLE,
    close_values,
    make_samples,
    refit,
    values,
)


def test_weights_equal_repetition(repeatable):
    X, y = make_samples(repeatable, 24, classes=3)
    weight = np.random.default_rng(3).integers(1, 4, 24)
    repeated = np.repeat(np.arange(24), weight)
    weighted = clone(repeatable).fit(X[:18], y[:18], sample_weight=weight[:18])
    weighted.partial_fit(X[18:], y[18:], sample_weight=weight[18:]).forget([2, 20])
    rest = repeated[~np.isin(repeated, [2, 20])]
    expected = values(repeatable.fit(X[rest], y[rest]))
    close_values(values(weighted), expected, updates=30, n=len(rest))
    if not hasattr(repeatable, "dual_coef_"):
        return  # distances in place of coefficients
    per_copy = repeatable.dual_coef_[np.searchsorted(rest, weighted.ids_)]
    counts = weight[weighted.ids_].reshape(-1, *[1] * (per_copy.ndim - 1))
    close_values(weighted.dual_coef_, per_copy * counts, updates=30, n=len(rest))


def test_weights_of_one_say_nothing(estimator):
    X, y = make_samples(estimator)
    weighted = clone(estimator).fit(X, y, sample_weight=np.ones(30))
    np.testing.assert_array_equal(values(weighted), values(estimator.fit(X, y)))


def test_weight_zero_is_not_held(estimator):
    X, y = make_samples(estimator)
    weight = np.ones(30)
    weight[[0, 7, 29]] = 0.0
    some = np.flatnonzero(weight)
    model = clone(estimator).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.ids_, some)
    np.testing.assert_array_equal(model.X_fit_, X[some])
    close_values(values(model), values(estimator.fit(X[some], y[some])))


def test_weight_zero_in_partial_fit(estimator):
    X, y = make_samples(estimator)
    model = estimator.fit(X[:20], y[:20]).partial_fit(
        X[20:], y[20:], sample_weight=np.arange(10) % 2
    )
    np.testing.assert_array_equal(model.ids_, [*range(20), *range(21, 30, 2)])
    model.partial_fit(X[:1] + 2, y[:1])
    assert model.ids_[-1] == 30
    close_values(values(model), values(refit(model)), updates=6)


def test_number_of_a_weightless_sample_is_not_given_again(estimator):
    X, y = make_samples(estimator)
    model = estimator.fit(X, y, sample_weight=np.r_[np.ones(29), 0.0]).partial_fit(X[:1] + 2, y[:1])
    assert model.ids_[-1] == 30


def test_class_of_weightless_samples_is_no_class(classifier):
    X, y = make_samples(classifier, classes=3)
    classifier.fit(X, y, sample_weight=(y != 1).astype(float))
    np.testing.assert_array_equal(classifier.classes_, [0, 2])


@pytest.mark.parametrize("classes", [2, 3])
def test_class_weights_equal_sample_weights(reweighable, classes):
    classifier = reweighable
    X, y = make_samples(classifier, classes=classes)
    labels = np.array(["a", "b", "c"])[y]
    own = np.random.default_rng(3).uniform(0.5, 2.0, 30)
    weight = own * np.array([1.0, 3.0, 0.25])[y]
    model = clone(classifier).set_params(class_weight={"b": 3.0, "c": 0.25, "never seen": 9.0})
    model.fit(X[:20], labels[:20], sample_weight=own[:20])
    model.partial_fit(X[20:], labels[20:], sample_weight=own[20:]).forget([3, 25])
    plain = classifier.fit(X, labels, sample_weight=weight).forget([3, 25])
    close_values(values(model), values(plain), updates=12)


@pytest.mark.parametrize("classes", [2, 3])
def test_balanced_after_edits_equals_a_refit(reweighable, classes):
    classifier = reweighable
    X, y = make_samples(classifier, classes=classes)
    classifier.set_params(class_weight="balanced")
    edited = np.r_[np.flatnonzero(y == 0)[:6], np.flatnonzero(y == 1)]
    rest = np.setdiff1d(np.arange(30), edited[:4])
    start = np.setdiff1d(np.arange(30), edited[4:8])
    model = classifier.fit(X[start], y[start], ids=start)
    model.partial_fit(X[edited[4:8]], y[edited[4:8]], ids=edited[4:8]).forget(edited[:4])
    plain = clone(model).fit(X[rest], y[rest])
    close_values(values(model), values(plain), updates=8)
    counts = np.bincount(y[rest])
    by_hand = clone(model).set_params(class_weight=None)
    by_hand.fit(X[rest], y[rest], sample_weight=(len(rest) / (classes * counts))[y[rest]])
    close_values(values(model), values(by_hand), updates=8)


@pytest.mark.parametrize("name", [name for name in REWEIGHABLE if name in REPEATABLE])
def test_balanced_counts_repetitions(name):
    classifier = clone(CLASSIFIERS[name])
    X, y = make_samples(classifier)
    weight = np.random.default_rng(3).integers(1, 4, 30)
    by_hand = weight * (weight.sum() / (2 * np.bincount(y, weight)))[y]
    balanced = clone(classifier).set_params(class_weight="balanced")
    balanced.fit(X, y, sample_weight=weight)
    close_values(values(balanced), values(classifier.fit(X, y, sample_weight=by_hand)))


@pytest.mark.parametrize("name", ["kda-fisher", "kfd-fisher"])
@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0}])
def test_fisher_targets_refuse_class_weights(name, class_weight):
    """Each class has the same sum of weight times target, so that class weights do nothing."""
    classifier = clone(CLASSIFIERS[name]).set_params(class_weight=class_weight)
    with pytest.raises(ValueError, match='class_weight has no effect with targets="fisher"'):
        classifier.fit(*make_samples(classifier))


def test_weights_of_zero_alone_are_refused(estimator):
    X, y = make_samples(estimator)
    with pytest.raises(ValueError, match="sample_weight must be > 0 for at least one sample"):
        estimator.fit(X, y, sample_weight=np.zeros(30))


@pytest.mark.parametrize("weight", [1e-300, 1e300])
def test_weights_beyond_single_precision(estimator, weight):
    X, y = make_samples(estimator, 12)
    with pytest.raises(ValueError, match="sample_weight must be 0 or between 1e-30 and 1e"):
        estimator.fit(X, y, sample_weight=np.full(12, weight))
