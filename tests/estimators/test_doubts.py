"""Warnings of what makes an error look better than it is."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from gramian import ChoiceWarning, KernelDiscriminant, LeastSquaresSVC, LeastSquaresSVR
from gramian.core.estimators._doubts import repeated_samples, repeats_by_nature
from tests.estimators.conftest import ESTIMATORS, ONE_OF_EACH, make_samples


def noise(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.permutation(np.arange(n) % 2)


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_every_estimator_warns_of_copies_and_not_with_groups(name):
    model = clone(ESTIMATORS[name])
    X, y = make_samples(model, 15)
    twice = np.vstack([X, X + 1e-9]), np.tile(y, 2)
    with pytest.warns(ChoiceWarning, match="30 of 30 samples repeat another one, target included"):
        model.fit(*twice)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(model).fit(*twice, groups=np.arange(30) % 15)
        clone(model).fit(*make_samples(model, 30))


def test_a_warning_that_is_an_error_leaves_the_model_as_it_was():
    model = LeastSquaresSVC(gamma=0.5, C=1.0)
    X, y = make_samples(model, 15)
    model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ChoiceWarning):
            model.fit(np.vstack([X, X]), np.tile(y, 2))
    assert len(model.ids_) == 15


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix, np.float32])
def test_copies_are_counted(form):
    """By comparing all pairs."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6)) * [1, 10, 1e-3, 1, 1, 1e5]
    X[50:90], X[90:100] = X[:40], X[0]
    y = rng.integers(0, 2, 200)
    alike = (np.abs(X[:, None] - X) < 1e-9).all(axis=2) & ~np.eye(200, dtype=bool)
    same = alike & (y[:, None] == y)
    expected = (int(alike.any(axis=1).sum()), int(same.any(axis=1).sum()))
    assert repeated_samples(form(X), y) == expected == (90, expected[1])
    assert repeated_samples(form(X), y.astype(float)[:, None])[1] == expected[1]


def test_what_repeats_by_nature_or_disagrees_is_no_doubt():
    rng = np.random.default_rng(0)
    few = rng.integers(0, 2, (200, 3)).astype(float)
    assert repeats_by_nature(few)
    assert repeats_by_nature(sparse.csr_array(few))
    X = rng.standard_normal((100, 3))
    assert not repeats_by_nature(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LeastSquaresSVC(gamma=0.5, C=1.0).fit(few, (few[:, 0] > 0).astype(int))
        # measured twice, with an error of its own each time
        LeastSquaresSVR(gamma=0.5, C=1.0).fit(np.vstack([X, X]), rng.standard_normal(200))
        LeastSquaresSVR("precomputed", C=1.0).fit(np.tile(X @ X.T, (2, 2)), np.tile(X[:, 0], 2))


def test_numbers_beyond_all_measure_are_not_compared():
    X = np.array([[1e308, 2.0], [-1e308, 1.0], [1e308, 2.0]])
    assert repeated_samples(X, np.array([0, 1, 0])) == (0, 0)


def test_more_widths_than_samples():
    X, _ = noise(24, 30)
    with pytest.warns(ChoiceWarning, match="fitted 30 widths, one for each feature, to 24 samples"):
        LeastSquaresSVR(metric="ard", random_state=0).fit(X, X[:, 0])


@pytest.mark.parametrize("folds", [4, "auto"])
def test_a_class_that_is_never_predicted(folds):
    X, _ = noise(60, 2)
    y = np.where(np.arange(60) % 10 == 0, "rare", "usual")
    given = {"gamma": 0.1, "ridge": 10.0} if folds == "auto" else {}
    model = KernelDiscriminant(random_state=0, **given).fit(X, y)
    with pytest.warns(ChoiceWarning, match="the class rare is never predicted .*6 of 60 samples"):
        model.nested_score(folds)
    y[0] = "single"
    with pytest.warns(ChoiceWarning, match="the class rare is never"):  # one sample is no class
        model.fit(X, y).nested_score(folds)


def test_of_few_samples_nothing_is_said():
    X, _ = noise(16, 2)
    y = np.where(np.arange(16) < 5, "rare", "usual")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelDiscriminant(gamma=0.1, ridge=100.0).fit(X, y)
        model.nested_score("auto")
    assert "rare" not in model.loo_predict()


def test_a_choice_that_the_folds_contradict():
    """A width for each of 30 features, fitted to labels that are noise."""
    X, y = noise(40, 30, seed=3)
    model = LeastSquaresSVC(metric="ard", random_state=0).fit(X, y)
    with pytest.warns(ChoiceWarning, match="contradicted by samples that the choices have not"):
        found = model.nested_score(5)
    assert model.loo_score() > found.score + 2 * found.standard_error
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.nested_score() == found  # what is known was said


def test_a_stack_says_so_in_its_fit(monkeypatch):
    from gramian import StackedKernelClassifier

    X, y = make_samples(LeastSquaresSVC(), 30)
    model = StackedKernelClassifier(("rbf", "laplacian"), gamma=0.5, C=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.fit(X, y).loo_score() > 0.7
    monkeypatch.setattr(
        "gramian.stack._engine.StackEngine.loo",
        lambda engine, holdings: np.where(holdings.labels, 1.0, -1.0)[:, None],
    )
    with pytest.warns(ChoiceWarning, match="leave-one-out score with these choices, 1.000, is"):
        model.fit(X, y)
