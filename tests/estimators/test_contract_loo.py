"""Leave-one-out of every estimator against n real refits, and what is read off it."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.metrics import accuracy_score, r2_score

from gramian.core.estimators import outputs_without_each
from tests.estimators.conftest import (
    CLASSIFIERS,
    REWEIGHABLE,
    close_values,
    every_form,
    make_samples,
    refit,
    values,
)


def left_out(model, weight=None):
    """Values at each held sample of a model fitted to the others; classes are as in ``model``."""
    X, y = model.X_fit_, model.y_fit_
    weight = np.ones(len(y)) if weight is None else weight
    found = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        if "basis" in model.chosen_on_data_:
            found.append(values(without_weight(model, i), X[i : i + 1])[0])
            continue
        fresh = clone(model)
        declared = {"classes": model.classes_} if is_classifier(model) else {}
        fresh.partial_fit(X[rest], y[rest], sample_weight=weight[rest], **declared)
        found.append(values(fresh, X[i : i + 1])[0])
    return np.array(found)


def without_weight(model, i):
    """The model refitted with next to no weight on sample i: if it is a centre, it stays one."""
    twin, holdings = clone(model), model._now.holdings
    weight = np.where(np.arange(len(holdings)) == i, 1e-200, holdings.weight)
    twin._now = model._now.moved(replace(holdings, weight=weight), model._now.engine)
    return twin.refitted()


@every_form
@pytest.mark.parametrize("classes", [2, 3])
def test_equals_refits(estimator, classes):
    X, y = make_samples(estimator, 12, classes=classes)
    estimator.fit(X, y)
    close_values(estimator.loo_decision_function(), left_out(estimator), updates=12)


@every_form
def test_equals_refits_after_edits(estimator):
    X, y = make_samples(estimator, 24, classes=3)
    estimator.fit(X[:16], y[:16]).partial_fit(X[16:], y[16:]).forget(range(3, 15))
    estimator.loo_decision_function()
    estimator.partial_fit(X[4:6], y[4:6]).forget([0, 24])
    close_values(estimator.loo_decision_function(), left_out(estimator), updates=60)


@pytest.mark.slow
@pytest.mark.parametrize("counts", [(1, 11), (11, 1), (1, 1), (1, 5, 6), (1, 1, 1)])
def test_class_of_one_sample(classifier, counts):
    """Without it the class is empty: the model knows it, but nothing speaks for it."""
    y = np.repeat(np.arange(len(counts)), counts)
    X = np.random.default_rng(0).standard_normal((len(y), 3))
    classifier.fit(X, y)
    close_values(classifier.loo_decision_function(), left_out(classifier), updates=12)
    single = np.isin(y, np.flatnonzero(np.array(counts) == 1))
    assert not (classifier.loo_predict() == y)[single].any()


@every_form
@pytest.mark.parametrize("classes", [2, 3])
def test_weighted_equals_refits(estimator, classes):
    X, y = make_samples(estimator, 13, classes=classes)
    weight = np.random.default_rng(3).uniform(0.3, 3.0, 13)
    estimator.fit(X[:10], y[:10], sample_weight=weight[:10])
    estimator.partial_fit(X[10:], y[10:], sample_weight=weight[10:])
    close_values(estimator.loo_decision_function(), left_out(estimator, weight), updates=30)


def test_weighted_leaves_out_all_repetitions(repeatable):
    X, y = make_samples(repeatable, 11)
    weight = np.random.default_rng(3).integers(1, 4, 11)
    repeatable.fit(X, y, sample_weight=weight)

    def value(i):
        rest = np.repeat(np.delete(np.arange(11), i), np.delete(weight, i))
        return values(clone(repeatable).fit(X[rest], y[rest]), X[i : i + 1])[0]

    expected = np.array([value(i) for i in range(11)])
    close_values(repeatable.loo_decision_function(), expected, n=60)


def test_class_weights_of_a_dict(reweighable):
    classifier = reweighable
    X, y = make_samples(classifier, 20, classes=3)
    classifier.set_params(class_weight={0: 2.0, 2: 0.5}).fit(X, y)
    close_values(classifier.loo_decision_function(), left_out(classifier))


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", REWEIGHABLE)
def test_balanced_class_weights_are_those_of_the_others(name, weighted):
    classifier = clone(CLASSIFIERS[name])
    X, y = make_samples(classifier, 14, classes=3)
    y[y == 2], y[0] = 1, 2  # a class of one sample, and two uneven ones
    weight = np.random.default_rng(3).choice([0.5, 1.0, 2.0], 14) if weighted else np.ones(14)
    classifier.set_params(class_weight="balanced").fit(X, y, sample_weight=weight)
    expected = left_out(classifier, weight)
    close_values(classifier.loo_decision_function(), expected)
    (_, F), *_ = outputs_without_each(classifier, X)
    diagonal = np.einsum("iit->it", F)
    close_values(diagonal[:, 0] if expected.ndim == 1 else diagonal, expected)


def test_predictions_and_score_follow_the_values(classifier):
    for classes in (2, 3):
        X, y = make_samples(classifier, 24, classes=classes)
        labels = np.array(["a", "b", "c"])
        weight = np.random.default_rng(3).uniform(0.3, 3.0, 24)
        model = clone(classifier).fit(X, labels[y], sample_weight=weight)
        decision = model.loo_decision_function()
        assert decision.shape == ((24,) if classes == 2 else (24, 3))
        best = (decision > 0).astype(int) if classes == 2 else decision.argmax(axis=1)
        np.testing.assert_array_equal(model.loo_predict(), labels[best])
        expected = accuracy_score(labels[y], labels[best], sample_weight=weight)
        assert model.loo_score() == pytest.approx(expected)


def test_regression_score_follows_the_predictions(regressor):
    X, y = make_samples(regressor, 24)
    regressor.fit(X, y)
    np.testing.assert_array_equal(regressor.loo_predict(), regressor.loo_decision_function())
    assert regressor.loo_score() == pytest.approx(r2_score(y, regressor.loo_predict()))


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities(classifier, classes):
    X, y = make_samples(classifier, 40, classes=classes)
    probability = classifier.fit(X[:30], y[:30]).predict_proba(X[30:])
    assert probability.shape == (10, classes)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)  # a few eps of rounding
    assert (probability >= 0).all()
    decision = classifier.decision_function(X[30:])
    if classes == 2:  # one increasing function of the decision value
        order = np.argsort(decision)
        assert (np.diff(probability[order, 1]) >= 0).all()
    model = clone(classifier).fit(X, y).forget(range(30, 40))
    found, fresh = model.predict_proba(X[30:]), refit(model).predict_proba(X[30:])
    np.testing.assert_allclose(found, fresh, atol=1e-8)  # Newton stops at 1e-10
