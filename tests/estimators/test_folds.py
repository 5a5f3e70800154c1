"""Cross-validation of one parameter after the other."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import PredefinedSplit, cross_val_predict

from gramian import EllipsoidalFuzzyClassifier
from gramian.ellipsoidal._spec import choose_in_turn, stratified_folds
from tests.estimators.conftest import make_samples


def model(**parameters):
    return EllipsoidalFuzzyClassifier(distance="input", **parameters)


def folds_of(y, seed=0):
    return stratified_folds(y, np.random.RandomState(seed))


def fold_score(fuzzy, X, y, folds, weight=None):
    """The score of the parameters of a model."""
    now = fuzzy.set_params(tune=False).fit(X, y, sample_weight=weight)._now
    values = {name: getattr(now.spec, name) for name in ("gamma", *now.spec.floors)}
    return now.spec.fold_score(now.holdings, folds, values)


@pytest.mark.parametrize("counts", [(10, 10), (23, 7, 1), (5, 4, 3), (1, 1)])
def test_folds_are_even_within_every_class(counts):
    y = np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts))
    folds = folds_of(y)
    for label, n in enumerate(counts):
        sizes = np.bincount(folds[y == label], minlength=5)
        assert sizes.sum() == n
        assert sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(folds, folds_of(y))
    if len(y) > 4:
        assert (folds != folds_of(y, seed=1)).any()


def test_score_is_the_accuracy_on_left_out_folds():
    X, y = make_samples(model(), 40, classes=3)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 40)
    folds = folds_of(y)
    predicted = cross_val_predict(model(tune=False), X, y, cv=PredefinedSplit(folds))
    expected = accuracy_score(y, predicted)
    assert fold_score(model(), X, y, folds) == expected
    assert fold_score(model(), X, y, folds, weight) != expected


def test_score_of_a_precomputed_kernel():
    fuzzy = EllipsoidalFuzzyClassifier("linear", transductive=None)
    X, y = make_samples(fuzzy, 30)
    folds = folds_of(y)
    expected = fold_score(fuzzy, X, y, folds)
    assert fold_score(fuzzy.set_params(kernel="precomputed"), X @ X.T, y, folds) == expected


def test_a_class_that_only_one_fold_has_is_missed():
    X, y = make_samples(model(), 20)
    y[0] = 2
    assert fold_score(model(zeta=0.5), X, y, folds_of(y)) < 1.0
    assert fold_score(model(), X, y, np.zeros(20, dtype=int)) == 0.0


def test_scoring_leaves_the_samples_alone():
    X, y = make_samples(model(), 20)
    fuzzy = model(zeta="cv").fit(X, y)
    np.testing.assert_array_equal(fuzzy.X_fit_, X)


def test_each_parameter_is_chosen_with_the_ones_before():
    start = {"a": 1.0, "b": 5.0, "c": None}
    candidates = {"a": np.array([2.0, 3.0, 4.0]), "b": np.array([6.0, 7.0])}

    def score(values):
        assert values["c"] is None
        return -abs(values["a"] - 3.0) - (values["b"] - values["a"] - 4.0) ** 2

    chosen, scores = choose_in_turn(score, start, candidates)
    assert scores["a"] == [(a, score({**start, "a": a})) for a in (2.0, 3.0, 4.0)]
    a = max(scores["a"], key=lambda pair: pair[1])[0]
    assert scores["b"] == [(b, score({"a": a, "b": b, "c": None})) for b in (6.0, 7.0)]
    assert chosen == {"a": a, "b": max(scores["b"], key=lambda pair: pair[1])[0], "c": None}


def test_of_equals_the_first_is_taken():
    chosen, _ = choose_in_turn(lambda values: 1.0, {"a": 0.0}, {"a": np.array([3.0, 2.0])})
    assert chosen == {"a": 3.0}


def test_nothing_to_choose():
    assert choose_in_turn(len, {"zeta": 1.0}, {}) == ({"zeta": 1.0}, {})
