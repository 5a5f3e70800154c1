"""Hyper-parameters chosen on samples that are set aside."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from gramian import (
    EllipsoidalFuzzyClassifier,
    KernelDiscriminant,
    LagrangianSVC,
    LeastSquaresSVC,
    LeastSquaresSVR,
    OrthogonalKernelClassifier,
    OrthogonalKernelRegressor,
)

MODELS = [
    KernelDiscriminant(),
    LeastSquaresSVC("precomputed"),
    LeastSquaresSVR(),
    LagrangianSVC(),
    EllipsoidalFuzzyClassifier(),
    OrthogonalKernelClassifier(gamma=0.5),
    OrthogonalKernelClassifier(gamma=0.5, basis="one-vs-rest"),
    OrthogonalKernelRegressor(gamma=0.5),
]


def samples(model, n=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=n)
    y = np.digitize(y, [-0.5, 0.5]) if is_classifier(model) else y
    return (X @ X.T if getattr(model, "kernel", "") == "precomputed" else X), y


@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model))
def test_what_was_tuned_on_is_not_held_and_what_is_held_was_not_seen(model):
    X, y = samples(model)
    aside = np.arange(len(y)) % 3 == 0
    model = clone(model).fit(X, y, tune_on=aside)
    assert np.array_equal(model.ids_, np.flatnonzero(~aside))
    assert np.array_equal(model.y_fit_, y[~aside])
    assert model.chosen_on_data_ == ()
    square = getattr(model, "kernel", "") == "precomputed"
    first = clone(model).fit(X[np.ix_(aside, aside)] if square else X[aside], y[aside])
    for name in ("gamma_", "C_", "ridge_", "slopes_"):
        if getattr(first, name, None) is not None:
            assert np.allclose(getattr(model, name), getattr(first, name))
    if not square:
        model.partial_fit(X[aside][:3] + 0.1, y[aside][:3])
        assert np.array_equal(model.ids_[-3:], [40, 41, 42])
    assert model.forget([model.ids_[-2]]).chosen_on_data_ == ()
    assert model.reselect(fresh=True).chosen_on_data_ == first.chosen_on_data_


def test_a_basis_of_samples_set_aside_does_not_grow():
    model = OrthogonalKernelRegressor(gamma=0.5)
    X, y = samples(model)
    with pytest.raises(ValueError, match="grow starts from centres that the model holds"):
        model.fit(X, y, tune_on=0.5).grow(1)


def test_a_fraction_is_drawn_at_random():
    X, y = samples(LeastSquaresSVR())
    weight = np.ones(len(y))
    weight[:5] = 0
    ids = [f"sample {i}" for i in range(len(y))]
    model = LeastSquaresSVR(random_state=0).fit(X, y, weight, ids=ids, tune_on=0.4)
    assert 40 - 16 - 5 <= len(model.ids_) <= 40 - 16
    assert set(model.ids_) < set(ids[5:])


@pytest.mark.parametrize("tune_on", [0, 1.0, 1e-9, True, [True] * 3, [1] * 40, [True] * 40, "half"])
def test_some_samples_must_be_on_both_sides(tune_on):
    X, y = samples(LeastSquaresSVR())
    with pytest.raises(ValueError, match="tune_on must be a fraction between 0 and 1, or a mask"):
        LeastSquaresSVR().fit(X, y, tune_on=tune_on)


def test_dask_arrays_are_refused():
    array = pytest.importorskip("dask.array")
    X, y = samples(OrthogonalKernelRegressor())
    with pytest.raises(ValueError, match="tune_on needs samples that the model holds"):
        OrthogonalKernelRegressor().fit(array.from_array(X), array.from_array(y), tune_on=0.5)
