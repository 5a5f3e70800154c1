"""predict_proba: a proper distribution over classes_, fitted to exact leave-one-out values."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, softmax
from sklearn.base import clone, is_classifier
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

from tests.estimators.conftest import CLASSIFIERS, REWEIGHABLE, make_samples, queries, refit
from tests.estimators.tuning import conftest as tuning

BRUTE_FORCE = [  # a refit would choose other centres
    name for name, model in CLASSIFIERS.items() if not hasattr(model, "max_basis")
]
TUNED = {name: model for name, model in tuning.TUNED.items() if is_classifier(model)}


@pytest.fixture(params=TUNED)
def tuned(request):
    """Classifiers with their defaults."""
    return clone(TUNED[request.param])


def assert_distributions(p, n, n_classes):
    assert p.shape == (n, n_classes)
    assert np.all((p > 0) & (p < 1))
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=4 * n_classes * np.finfo(p.dtype).eps)


# -- a distribution over the classes ------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_rows_are_distributions_over_the_classes(classifier, classes):
    X, y = make_samples(classifier, classes=classes)
    p = classifier.fit(X, y).predict_proba(queries())
    assert_distributions(p, 7, classes)
    np.testing.assert_array_equal(p, classifier.predict_proba(queries()))


@pytest.mark.parametrize("classes", [2, 3])
def test_columns_are_in_the_order_of_classes(classifier, classes):
    X, y = make_samples(classifier, classes=classes)
    names = np.array(["c", "b", "a"])
    named = clone(classifier).fit(X, names[y])
    assert list(named.classes_) == sorted(names[:classes])
    p = classifier.fit(X, y).predict_proba(queries())
    # Newton's method stops when the loss, of order 1, is known to 1e-13, the scale to its root.
    np.testing.assert_allclose(named.predict_proba(queries())[:, ::-1], p, atol=1e-5)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("balanced", [False, True])
def test_the_predicted_class_is_the_most_probable(name, classes, balanced):
    model = clone(CLASSIFIERS[name])
    if balanced and name in REWEIGHABLE:
        model.set_params(class_weight="balanced")
    X, y = make_samples(model, 40, classes=classes)
    model.fit(X[8:], y[8:])  # classes of unequal size
    p = model.predict_proba(X)
    named = np.searchsorted(model.classes_, model.predict(X))
    np.testing.assert_array_equal(p[np.arange(40), named], p.max(axis=1))


# -- fitted to leave-one-out values -------------------------------------------------------------


def calibrate(F, labels, weight):
    """The scale that minimises the cross-entropy of Platt's labels, by a search for the minimum."""
    sizes = np.bincount(labels, weight)
    n_classes = len(sizes)
    q = np.array([np.full(n_classes, 1.0 / ((n + 2) * (n_classes - 1))) for n in sizes[labels]])
    q[np.arange(len(labels)), labels] = (sizes[labels] + 1) / (sizes[labels] + 2)

    def scores(F):
        return np.column_stack([np.zeros(len(F)), F]) if n_classes == 2 else F

    def loss(scale):
        return -np.average(
            np.sum(q * log_softmax(scale * scores(F), axis=1), axis=1), weights=weight
        )

    scale = max(0.0, minimize_scalar(loss, (0.0, 1.0), tol=1e-10).x)
    return lambda F: softmax(scale * scores(F), axis=1)


@pytest.mark.parametrize("name", BRUTE_FORCE)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_a_fit_to_real_left_out_values(name, classes, weighted):
    model = clone(CLASSIFIERS[name])
    X, y = make_samples(model, 24, classes=classes)
    weight = np.random.default_rng(1).uniform(0.3, 3.0, 24) if weighted else np.ones(24)
    left_out = []
    for i in range(24):
        stay = np.arange(24) != i
        without = clone(model).fit(X[stay], y[stay], sample_weight=weight[stay])
        left_out.append(without.decision_function(X[[i]])[0])
    expected = calibrate(np.array(left_out), y, weight)
    model.fit(X, y, sample_weight=weight)
    found = model.predict_proba(queries())
    # BFGS with numeric gradients finds the minimum to about 1e-6.
    np.testing.assert_allclose(found, expected(model.decision_function(queries())), atol=1e-4)


def test_follow_learning_and_forgetting(classifier):
    X, y = make_samples(classifier)
    before = classifier.fit(X[:20], y[:20]).predict_proba(queries())
    classifier.partial_fit(X[20:], y[20:]).forget(np.arange(5))
    found = classifier.predict_proba(queries())
    assert not np.allclose(found, before, atol=1e-3)
    fresh = refit(classifier).predict_proba(queries())
    np.testing.assert_allclose(found, fresh, atol=1e-5)  # as above


def test_samples_without_weight_are_not_there(classifier):
    X, y = make_samples(classifier)
    weight = np.where(np.arange(30) % 4, 1.0, 0.0)
    some = weight > 0
    p = clone(classifier).fit(X, y, sample_weight=weight).predict_proba(queries())
    np.testing.assert_array_equal(p, classifier.fit(X[some], y[some]).predict_proba(queries()))


# -- where the truth is known -------------------------------------------------------------------

CENTRES = 1.2 * np.array([[1.0, 0.0], [-0.5, 0.87], [-0.5, -0.87]])


def gaussians(n, shares, seed):
    """Unit normal classes around `CENTRES`: samples, labels, and the true probabilities."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(shares)), np.round(n * np.array(shares)).astype(int))
    X = CENTRES[labels] + rng.standard_normal((len(labels), 2))
    distances = ((X[:, None] - CENTRES[: len(shares)]) ** 2).sum(axis=2)
    return X, labels, softmax(np.log(shares) - 0.5 * distances, axis=1)


def calibration_error(p, labels, n_bins=10):
    """Expected calibration error of the predicted class, in bins of equal width."""
    confidence_level, right = p.max(axis=1), p.argmax(axis=1) == labels
    bins = np.minimum((confidence_level * n_bins).astype(int), n_bins - 1)
    gaps = [np.abs(np.sum((right - confidence_level)[bins == k])) for k in range(n_bins)]
    return np.sum(gaps) / len(labels)


@pytest.mark.parametrize("name", [name for name in TUNED if name != "kda-fisher"])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.8, 0.2), (0.4, 0.35, 0.25)])
def test_probabilities_are_near_the_true_ones(name, shares):
    tuned = clone(TUNED[name])
    X, y, _ = gaussians(300, shares, seed=0)
    unseen, labels, truth = gaussians(4000, shares, seed=1)
    p = tuned.fit(X, y).predict_proba(unseen)
    # 300 samples say so much of a probability; the best constants are 0.15 and more off.
    assert np.abs(p - truth).mean() < 0.05
    assert calibration_error(p, labels) < 0.05
    assert log_loss(labels, p) < log_loss(labels, truth) + 0.03


@pytest.mark.parametrize("name", ["kda", "lssvc"])
def test_balanced_weights_speak_of_balanced_classes(name):
    X, y, _ = gaussians(300, (0.8, 0.2), seed=0)
    unseen, _, truth = gaussians(4000, (0.8, 0.2), seed=1)
    balanced = truth / [0.8, 0.2]
    balanced /= balanced.sum(axis=1, keepdims=True)
    p = clone(TUNED[name]).set_params(class_weight="balanced").fit(X, y).predict_proba(unseen)
    assert np.abs(p - balanced).mean() < 0.05 < np.abs(p - truth).mean()


@pytest.mark.parametrize("name", [name for name in TUNED if name != "kda-fisher"])
def test_what_cannot_be_told_apart_is_as_probable_as_frequent(name):
    tuned = clone(TUNED[name])
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 2)), (np.arange(120) < 24).astype(int)
    p = tuned.fit(X, y).predict_proba(rng.standard_normal((200, 2)))
    np.testing.assert_allclose(p[:, 1].mean(), 0.2, atol=0.1)


# -- edges --------------------------------------------------------------------------------------


def test_separable_classes(tuned):
    """Confident, as confident as 20 samples of a class allow, and never certain."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = 8.0 * y[:, None] + rng.standard_normal((40, 2))
    p = tuned.fit(X, y).predict_proba(X)
    assert_distributions(p, 40, 2)
    true = p[np.arange(40), y]
    assert true.min() > 0.75
    assert true.mean() < 0.99


@pytest.mark.parametrize("sizes", [(1, 1), (38, 1, 1), (39, 1), (2, 38)])
def test_tiny_classes(tuned, sizes):
    X, _ = make_samples(tuned, sum(sizes))
    p = tuned.fit(X, np.repeat(np.arange(len(sizes)), sizes)).predict_proba(queries())
    assert_distributions(p, 7, len(sizes))


def test_left_out_values_that_mislead_say_nothing(tuned):
    """Of two samples, each left out, the other names the wrong class."""
    p = tuned.fit([[0.0], [1.0]], [0, 1]).predict_proba([[0.0], [0.3], [1.0]])
    np.testing.assert_allclose(p, 0.5)


def test_a_declared_class_without_samples_is_improbable(classifier):
    X, y = make_samples(classifier)
    classifier.partial_fit(X, y, classes=[0, 1, 2])
    p = classifier.predict_proba(X)
    assert_distributions(p, 30, 3)
    assert p[:, 2].max() < 1 / 3  # what says nothing would have


def test_single_precision(classifier):
    X, y = make_samples(classifier, dtype=np.float32)
    single = clone(classifier).fit(X, y).predict_proba(queries().astype(np.float32))
    double = classifier.fit(X.astype(float), y).predict_proba(queries())
    # A few digits are lost to a condition of about 300.
    np.testing.assert_allclose(single, double, atol=1e-3)


def test_cross_validated_probabilities(tuned):
    X, y, truth = gaussians(150, (0.6, 0.4), seed=0)
    p = cross_val_predict(tuned, X, y, cv=3, method="predict_proba")
    assert log_loss(y, p) < log_loss(y, truth) + 0.1


def test_two_classes_are_platts_sigmoid(classifier):
    X, y = make_samples(classifier)
    f = classifier.fit(X, y).decision_function(queries())
    p = classifier.predict_proba(queries())[:, 1]
    slope, intercept = np.polyfit(f, np.log(p / (1 - p)), 1)
    np.testing.assert_allclose(p, expit(slope * f + intercept), atol=1e-9)  # of the line's fit
    assert slope > 0
