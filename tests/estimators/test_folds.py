"""Cross-validation of one parameter after the other."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import PredefinedSplit, cross_val_predict

from gramian import EllipsoidalFuzzyClassifier
from gramian.estimators.ellipsoidal._folds import choose_in_turn, fold_score, stratified_folds
from tests.estimators.conftest import make_samples


def model(**parameters):
    return EllipsoidalFuzzyClassifier(distance="input", **parameters)


def folds_of(y, seed=0):
    return stratified_folds(y, np.random.RandomState(seed))


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
    predicted = cross_val_predict(model(), X, y, cv=PredefinedSplit(folds))
    expected = accuracy_score(y, predicted)
    assert fold_score(model(), X, y, np.ones(40), folds) == expected
    assert fold_score(model(), X, y, weight, folds) != expected


def test_score_of_a_precomputed_kernel():
    fuzzy = EllipsoidalFuzzyClassifier("linear", transductive=None)
    X, y = make_samples(fuzzy, 30)
    folds = folds_of(y)
    expected = fold_score(fuzzy, X, y, np.ones(30), folds)
    fuzzy.set_params(kernel="precomputed")
    assert fold_score(fuzzy, X @ X.T, y, np.ones(30), folds) == expected


def test_a_class_that_only_one_fold_has_is_missed():
    X, y = make_samples(model(), 20)
    y[0] = 2
    assert fold_score(model(zeta=0.5), X, y, np.ones(20), folds_of(y)) < 1.0
    assert fold_score(model(), X[:1], y[:1], np.ones(1), np.zeros(1, dtype=int)) == 0.0


def test_each_parameter_is_chosen_with_the_ones_before():
    X, y = make_samples(model(), 40)
    samples, folds = (X, y, np.ones(40)), folds_of(y, 7)
    candidates = {"zeta": np.array([10.0, 1e-1, 1e-6]), "eta": np.array([0.1, 0.9])}
    start = {"zeta": 1.0, "eta": 0.5, "gamma": None}
    chosen, scores = choose_in_turn(model(), start, candidates, samples, 7)
    zeta = {v: fold_score(model(zeta=v, eta=0.5), *samples, folds) for v in (10.0, 1e-1, 1e-6)}
    best = max(zeta, key=zeta.get)
    eta = {v: fold_score(model(zeta=best, eta=v), *samples, folds) for v in (0.1, 0.9)}
    assert {name: dict(pairs) for name, pairs in scores.items()} == {"zeta": zeta, "eta": eta}
    assert chosen == {"zeta": best, "eta": max(eta, key=eta.get), "gamma": None}


def test_nothing_to_choose():
    X, y = make_samples(model(), 10)
    chosen, scores = choose_in_turn(model(), {"zeta": 1.0}, {}, (X, y, np.ones(10)), 0)
    assert (chosen, scores) == ({"zeta": 1.0}, {})
