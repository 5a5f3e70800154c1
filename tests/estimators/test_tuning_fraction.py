"""Hyper-parameters chosen on samples that are set aside."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.model_selection import cross_validate

from gramian import (
    EllipsoidalFuzzyClassifier,
    LeastSquaresSVC,
    LeastSquaresSVR,
    OrthogonalKernelClassifier,
    OrthogonalKernelRegressor,
)
from gramian.estimators import ESTIMATORS

MODELS = [
    *(cls() for cls in ESTIMATORS.values()),
    LeastSquaresSVC("precomputed"),
    EllipsoidalFuzzyClassifier("precomputed", transductive=None),
    OrthogonalKernelClassifier(gamma=0.5, basis="one-vs-rest"),
]
ATTRIBUTES = ("gamma_", "C_", "ridge_", "slopes_", "weights_")


def samples(model, n=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=n)
    y = np.digitize(y, [-0.5, 0.5]) if is_classifier(model) else y
    square = isinstance(model.kernel, str) and model.kernel == "precomputed"
    return (np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)) if square else X), y


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model))
def test_what_was_tuned_on_is_not_held_and_what_is_held_was_not_seen(model):
    X, y = samples(model)
    model = clone(model).set_params(tuning_fraction=0.4).fit(X, y)
    aside = ~np.isin(np.arange(len(y)), model.ids_)
    assert aside.sum() == 16
    assert np.array_equal(model.y_fit_, y[~aside])
    assert model.chosen_on_data_ == ()
    square = isinstance(model.kernel, str) and model.kernel == "precomputed"
    first = clone(model).set_params(tuning_fraction=None)
    first.fit(X[np.ix_(aside, aside)] if square else X[aside], y[aside])
    for name in ATTRIBUTES:
        if getattr(first, name, None) is not None:
            assert np.allclose(getattr(model, name), getattr(first, name)), name
    if not square:
        model.partial_fit(X[aside][:3] + 0.1, y[aside][:3])
        assert np.array_equal(model.ids_[-3:], [40, 41, 42])
    assert model.forget([model.ids_[-2]]).chosen_on_data_ == ()
    assert model.reselect(fresh=True).chosen_on_data_ == first.chosen_on_data_


def test_a_basis_of_samples_set_aside_does_not_grow():
    model = OrthogonalKernelRegressor(gamma=0.5, tuning_fraction=0.5)
    X, y = samples(model)
    with pytest.raises(ValueError, match="grow starts from centres that the model holds"):
        model.fit(X, y).grow(1)


def test_samples_of_weight_zero_are_on_neither_side():
    X, y = samples(LeastSquaresSVR())
    weight = np.ones(len(y))
    weight[:5] = 0
    ids = [f"sample {i}" for i in range(len(y))]
    model = LeastSquaresSVR(random_state=0, tuning_fraction=0.4).fit(X, y, weight, ids=ids)
    assert len(model.ids_) == 35 - 14
    assert set(model.ids_) < set(ids[5:])


@pytest.mark.parametrize("fraction", [0, 1.0, 1e-9, True, [True] * 40, "half"])
def test_some_samples_must_be_on_both_sides(fraction):
    X, y = samples(LeastSquaresSVR())
    with pytest.raises(
        ValueError, match="tuning_fraction must be None or a number between 0 and 1"
    ):
        LeastSquaresSVR(tuning_fraction=fraction).fit(X, y)


def test_cross_validation_takes_it_along():
    X, y = samples(LeastSquaresSVC())
    scores = cross_validate(LeastSquaresSVC(tuning_fraction=0.5), X, y, cv=3)["test_score"]
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()


def test_dask_arrays_are_refused():
    array = pytest.importorskip("dask.array")
    model = OrthogonalKernelRegressor(tuning_fraction=0.5)
    X, y = samples(model)
    with pytest.raises(ValueError, match="tuning_fraction needs samples that the model holds"):
        model.fit(array.from_array(X), array.from_array(y))
