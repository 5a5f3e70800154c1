"""Classes that come, go, and are declared ahead, for every classifier."""

import numpy as np
import pytest
from sklearn.base import clone

from tests.estimators.conftest import assert_same_model, make_samples, queries, refit, values


def test_class_that_first_appears_in_partial_fit(classifier):
    X, y = make_samples(classifier, classes=4)
    label = np.array(["b", "d", "a", "c"])[y]
    first = np.isin(label, ["b", "d"])
    classifier.fit(X[first], label[first])
    np.testing.assert_array_equal(classifier.classes_, ["b", "d"])
    ids = np.flatnonzero(~first) + 100
    classifier.partial_fit(X[~first], label[~first], ids=ids)
    np.testing.assert_array_equal(classifier.classes_, ["a", "b", "c", "d"])
    assert classifier.decision_function(X).shape == (30, 4)
    assert_same_model(classifier, refit(classifier), updates=30)


def test_class_that_vanishes_by_forget(classifier):
    X, y = make_samples(classifier, classes=3)
    for gone, left in [(1, [0, 2]), (0, [1, 2]), (2, [0, 1])]:
        model = clone(classifier).fit(X, y).forget(np.flatnonzero(y == gone))
        np.testing.assert_array_equal(model.classes_, left)
        assert model.decision_function(X).shape == (30,)
        assert_same_model(model, refit(model), updates=10)


def test_class_comes_back(classifier):
    X, y = make_samples(classifier, classes=3)
    again = np.flatnonzero(y == 1)
    model = classifier.fit(X, y).forget(again).partial_fit(X[again], y[again], ids=again)
    np.testing.assert_array_equal(np.sort(model.ids_), np.arange(30))
    assert_same_model(model, refit(model), updates=20)


def test_declared_classes_stay_without_samples(classifier):
    X, y = make_samples(classifier, classes=3)
    some = y != 1
    classifier.partial_fit(X[some], y[some], classes=[0, 1, 2])
    np.testing.assert_array_equal(classifier.classes_, [0, 1, 2])
    assert classifier.decision_function(X).shape == (30, 3)
    assert set(classifier.predict(X)) <= {0, 2}
    ids = np.flatnonzero(~some) + 100
    classifier.partial_fit(X[~some], y[~some], ids=ids)
    assert_same_model(classifier, refit(classifier), updates=30)
    classifier.forget(ids)
    np.testing.assert_array_equal(classifier.classes_, [0, 1, 2])


def test_declared_classes_allow_one_class_of_samples(classifier):
    X, y = make_samples(classifier)
    first, second = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    classifier.partial_fit(X[first], y[first], classes=[0, 1], ids=first)
    assert (classifier.predict(X) == 0).all()
    classifier.partial_fit(X[second], y[second], ids=second)
    assert_same_model(classifier, refit(classifier), updates=15)


def test_fit_forgets_declared_classes(classifier):
    X, y = make_samples(classifier)
    classifier.partial_fit(X, y, classes=[0, 1, 2]).fit(X, y)
    np.testing.assert_array_equal(classifier.classes_, [0, 1])


@pytest.mark.parametrize(
    "names",
    [
        np.array(["ant", "bee"]),
        np.array(["ant", "bee", "wasp"]),
        np.array(["ant", "bee", "wasp"], dtype=object),
        np.array([-1.0, 0.0, 2.0]),
        np.array([False, True]),
    ],
    ids=lambda names: f"{len(names)}-{names.dtype}",
)
def test_labels_of_any_kind(classifier, names):
    X, y = make_samples(classifier, classes=len(names))
    model = clone(classifier).fit(X[:20], names[y[:20]]).partial_fit(X[20:], names[y[20:]])
    numbers = classifier.fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    np.testing.assert_array_equal(model.classes_, names)
    np.testing.assert_array_equal(values(model), values(numbers))
    np.testing.assert_array_equal(model.predict(queries()), names[numbers.predict(queries())])
    np.testing.assert_array_equal(model.y_fit_, names[y])


def test_predict_follows_the_decision_values(classifier):
    for classes in (2, 3):
        X, y = make_samples(classifier, classes=classes)
        decision = classifier.fit(X, y).decision_function(queries())
        best = (decision > 0).astype(int) if classes == 2 else decision.argmax(axis=1)
        np.testing.assert_array_equal(classifier.predict(queries()), best)


@pytest.mark.parametrize(
    ("labels", "match"),
    [
        (np.array(["a", "a\0"], dtype=object), "NUL character"),
        (np.array(["a\0b", "c"]), "NUL character"),
        (np.array([None, "a"], dtype=object), "strings alone or numbers alone"),
        (np.array([1, "a"], dtype=object), "strings alone or numbers alone"),
        (np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"), "Turn them into strings"),
    ],
)
def test_labels_that_no_model_can_keep_apart(classifier, labels, match):
    X, _ = make_samples(classifier, 12)
    with pytest.raises(ValueError, match=match):
        classifier.fit(X, np.resize(labels, 12))


@pytest.mark.parametrize(
    ("classes", "match"),
    [
        ([np.nan], "finite"),
        (3, "a list of labels"),
        ([[0, 1]], "a list of labels"),
        ([np.datetime64("2020-01-01")], "Turn them into strings"),
        (["a\0"], "NUL character"),
    ],
)
def test_classes_that_are_no_labels(classifier, classes, match):
    X, y = make_samples(classifier, 12)
    if classes == ["a\0"]:
        classes = np.array(classes, dtype=object)
    with pytest.raises(ValueError, match=match):
        classifier.partial_fit(X, y, classes=classes)
