"""Hyper-parameters chosen by `fit` itself: what is chosen, for all kinds of samples."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar
from sklearn.base import clone, is_classifier

from tests.estimators.conftest import values
from tests.estimators.tuning.conftest import (
    PLAIN,
    TUNED,
    assert_tuned,
    chosen,
    strength,
    strength_name,
    waves,
)

# -- what is chosen -----------------------------------------------------------------------------


def test_defaults_give_a_tuned_model(model):
    X, y = waves(model, 150)
    unseen, expected = waves(model, 300, seed=1)
    assert model.fit(X, y).score(unseen, expected) > 0.88  # a straight line reaches 0.74
    assert_tuned(model)


def test_units_do_not_matter(model):
    """A thousandfold unit of X changes gamma by its square and nothing else."""
    X, y = waves(model)
    small, large = clone(model).fit(X, y), model.fit(1000.0 * X, y)
    # The search stops when it moves by less than 15 %, from points that differ by rounding.
    np.testing.assert_allclose(1e6 * large.gamma_, small.gamma_, rtol=1e-6)
    np.testing.assert_allclose(strength(large), strength(small), rtol=1e-6)


def left_out_by_solving(name, K, y, ridge):
    """Decision value at each sample of the model solved without it."""
    n, left_out = len(K), np.empty(len(K))
    for i in range(n):
        stay = np.arange(n) != i
        A = K[np.ix_(stay, stay)] + ridge * np.eye(n - 1)
        if name == "kda":  # the least-norm solution of [1, A] [b; z] = y
            solution = np.linalg.lstsq(np.column_stack([np.ones(n - 1), A]), y[stay], rcond=None)[0]
        else:  # the bordered system of the least squares SVM
            ones = np.ones((n - 1, 1))
            system = np.block([[np.zeros((1, 1)), ones.T], [ones, A]])
            solution = np.linalg.solve(system, np.append(0.0, y[stay]))
        left_out[i] = K[i, stay] @ solution[1:] + solution[0]
    return left_out


def log_loss(f, y):
    """Mean log-loss of two classes with Platt's labels, at the best temperature."""
    sizes = np.where(y > 0, np.sum(y > 0), np.sum(y < 0))
    q = np.where(y > 0, sizes + 1, 1) / (sizes + 2)
    loss = lambda a: np.mean(np.logaddexp(0.0, a * f) - q * a * f)  # noqa: E731
    return minimize_scalar(loss, bounds=(0.0, 100.0), method="bounded").fun


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAIN)
def test_the_choice_is_the_minimum_over_real_refits(name):
    model = clone(TUNED[name])
    n = 16
    X, y = waves(model, n)
    model.fit(X, y)
    y = np.where(y > 0, 1.0, -1.0) if is_classifier(model) else y
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    centre = 1.0 / np.median(distances[np.triu_indices(n, 1)])

    def criterion_and_objective(gamma, ridge):
        f = left_out_by_solving(name, np.exp(-gamma * distances), y, ridge)
        nats = 0.5 * (np.log(gamma / centre) / 2.0) ** 2 / n
        if is_classifier(model):
            return log_loss(f, y), log_loss(f, y) + nats
        return np.mean((f - y) ** 2), np.mean((f - y) ** 2) * np.exp(2.0 * nats)

    value, reached = criterion_and_objective(model.gamma_, strength(model))
    np.testing.assert_allclose(model.selection_.value, value, rtol=1e-6)  # of the temperature
    grid = [
        criterion_and_objective(gamma, ridge)[1]
        for gamma in centre * 2.0 ** np.arange(-6, 6)
        for ridge in np.geomspace(1e-7, n, 25)
    ]
    # A width is found to 15 %, which is worth less than a fiftieth of a nat here.
    assert reached < min(grid) + 0.02 / n * (1.0 if is_classifier(model) else 2.0 * min(grid))


@pytest.mark.parametrize("given", ["gamma", "strength"])
def test_a_number_is_taken_as_it_is(model, given):
    name = "gamma" if given == "gamma" else strength_name(model)
    X, y = waves(model)
    model.set_params(**{name: 0.7}).fit(X, y)
    assert getattr(model, f"{name}_") == 0.7
    assert (len(np.unique(model.selection_.gammas)) == 1) == (given == "gamma")
    assert_tuned(model)


def test_two_numbers_are_not_searched(model):
    X, y = waves(model)
    model.set_params(gamma=0.7, **{strength_name(model): 0.1}).fit(X, y)
    assert model.selection_ is None


@pytest.mark.parametrize("criterion", ["log", "squared", "hinge", "error"])
def test_criteria(classifier, criterion):
    X, y = waves(classifier, classes=3)
    classifier.set_params(criterion=criterion).fit(X, y)
    assert classifier.selection_.criterion == criterion
    assert_tuned(classifier)


def test_one_width_per_feature_finds_those_that_matter(plain):
    X, y = waves(plain, 100)
    noise = np.random.default_rng(1).uniform(-2.0, 2.0, (100, 3))
    X = np.hstack([X, noise])
    common = clone(plain).fit(X, y)
    plain.set_params(metric="ard").fit(X, y)
    assert plain.gamma_.shape == (5,)
    assert plain.gamma_[0] > 1.5 * plain.gamma_[2:].max()
    assert plain.selection_.value < common.selection_.value
    assert_tuned(plain)


# -- kernels and kinds of input -----------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "poly", "laplacian"])
def test_other_kernels(model, kernel):
    X, y = waves(model)
    model.set_params(kernel=kernel).fit(X, y)
    assert np.isfinite(model.selection_.value)
    if kernel == "laplacian":
        assert len(np.unique(model.selection_.gammas)) > 7
    elif kernel == "poly":  # has no width: "loo" means "scale"
        np.testing.assert_allclose(model.gamma_, 1.0 / (2 * X.var()))
    else:
        assert model.gamma_ is None


def test_precomputed_kernels(model):
    X, y = waves(model)
    K = np.exp(-0.7 * ((X[:, None] - X) ** 2).sum(axis=2))
    by_function = clone(model).set_params(gamma=0.7).fit(X, y)
    model.set_params(kernel="precomputed").fit(K, y)
    # The two matrices differ by rounding, and the ridge is one of a grid.
    np.testing.assert_allclose(strength(model), strength(by_function), rtol=1e-6)


def test_sparse_samples(model):
    X, y = waves(model)
    dense, compressed = clone(model).fit(X, y), model.fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(chosen(compressed), chosen(dense), rtol=1e-6)  # other rounding


def test_single_precision(model):
    X, y = waves(model)
    double, single = clone(model).fit(X, y), model.fit(X.astype(np.float32), y)
    assert values(single, X[:2]).dtype == np.float32
    again = clone(model).set_params(gamma=single.gamma_, **{strength_name(model): "loo"})
    # The criterion has fewer digits in single precision, and is flat where it is least.
    best = double.selection_.value
    assert again.fit(X, y).selection_.value < best + (0.02 if is_classifier(model) else 0.1 * best)


def test_names_of_classes_do_not_matter(classifier):
    X, y = waves(classifier, classes=3)
    named = clone(classifier).fit(X, np.array(["ant", "bee", "cow"])[y])
    np.testing.assert_array_equal(chosen(named), chosen(classifier.fit(X, y)))
    assert set(named.predict(X)) <= {"ant", "bee", "cow"}


# -- awkward samples ----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 5, 9])
@pytest.mark.parametrize("metric", [None, "ard"])
def test_few_samples(model, n, metric):
    assert_tuned(model.set_params(metric=metric).fit(*waves(model, n)))


def test_copies(model):
    X, y = waves(model, 12)
    assert_tuned(model.fit(np.repeat(X, 3, axis=0), np.repeat(y, 3)))


def test_a_constant_feature_says_nothing(model):
    X, y = waves(model)
    more = np.column_stack([X, np.full(40, 3.0)])
    plain, with_more = clone(model).fit(X, y), model.fit(more, y)
    np.testing.assert_allclose(chosen(with_more), chosen(plain), rtol=1e-6)  # other rounding


@pytest.mark.parametrize("metric", [None, "ard"])
def test_only_constant_features(plain, metric):
    """The answer is the most frequent class, or the mean."""
    _, y = waves(plain)
    y = y if not is_classifier(plain) else (np.arange(40) < 25).astype(int)
    plain.set_params(metric=metric).fit(np.full((40, 2), 3.0), y)
    answer = 1 if is_classifier(plain) else y.mean()
    np.testing.assert_allclose(plain.predict([[3.0, 3.0]]), answer, atol=1e-2)  # shrunk a little
    assert_tuned(plain)


@pytest.mark.parametrize("sizes", [(38, 1, 1), (39, 1), (35, 5), (20, 18, 2)])
def test_tiny_classes(classifier, sizes):
    X, _ = waves(classifier)
    y = np.repeat(np.arange(len(sizes)), sizes)
    classifier.fit(X, y)
    assert_tuned(classifier)
    assert len(classifier.classes_) == len(sizes)


@pytest.mark.parametrize("class_weight", ["balanced", {1: 5.0}])
def test_class_weights_are_part_of_the_criterion(classifier, class_weight):
    if classifier.get_params().get("targets") == "fisher":
        classifier.set_params(targets="signs")  # Fisher targets refuse class weights
    X, _ = waves(classifier)
    y = (X[:, 0] > 1.0).astype(int)
    weight = {"balanced": 40 / (2 * np.bincount(y)), "dict": np.array([1.0, 5.0])}
    weight = weight["balanced" if class_weight == "balanced" else "dict"][y]
    weighted = clone(classifier).fit(X, y, sample_weight=weight)
    classifier.set_params(class_weight=class_weight).fit(X, y)
    np.testing.assert_allclose(chosen(classifier), chosen(weighted), rtol=1e-9)


def test_samples_without_weight_are_not_there(model):
    X, y = waves(model, 50)
    weight = np.where(np.arange(50) % 5, 1.0, 0.0)
    some = weight > 0
    weighted, fewer = clone(model).fit(X, y, sample_weight=weight), model.fit(X[some], y[some])
    np.testing.assert_array_equal(chosen(weighted), chosen(fewer))


def test_equal_weights_scale_the_ridge():
    model = TUNED["lssvr"]
    X, y = waves(model)
    light, heavy = clone(model).fit(X, y), clone(model).fit(X, y, sample_weight=np.full(40, 4.0))
    np.testing.assert_allclose(heavy.gamma_, light.gamma_, rtol=1e-6)
    np.testing.assert_allclose(4.0 * heavy.C_, light.C_, rtol=1e-6)
