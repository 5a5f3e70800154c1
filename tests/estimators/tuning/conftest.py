"""Estimators with their defaults, which tune themselves, and samples for them."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from gramian import (
    KernelDiscriminant,
    KernelFisherDiscriminant,
    LeastSquaresSVC,
    LeastSquaresSVR,
)
from tests.estimators.conftest import values

TUNED = {
    "kda": KernelDiscriminant(),
    "kda-fisher": KernelDiscriminant(targets="fisher"),
    "kfd": KernelFisherDiscriminant(),
    "lssvc": LeastSquaresSVC(),
    "lssvr": LeastSquaresSVR(),
}
PLAIN = ("kda", "lssvc", "lssvr")  # where a test is long


@pytest.fixture(params=TUNED)
def model(request):
    """Each estimator with its defaults, unfitted."""
    return clone(TUNED[request.param])


@pytest.fixture(params=PLAIN)
def plain(request):
    """One with each intercept, and a regressor."""
    return clone(TUNED[request.param])


@pytest.fixture(params=[name for name in TUNED if name != "lssvr"])
def classifier(request):
    """Each classifier with its defaults, unfitted."""
    return clone(TUNED[request.param])


def waves(model, n=40, *, classes=2, seed=0):
    """Points of a square, and a wave across it: a response, or its level as a class."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, (n, 2))
    signal = 2.0 * np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(n)
    if not is_classifier(model):
        return X, signal
    return X, np.argsort(np.argsort(signal)) * classes // n


def strength(model):
    """The ridge λ that was chosen."""
    return 1.0 / model.C_ if hasattr(model, "C_") else model.ridge_


def chosen(model):
    return np.append(model.gamma_, strength(model))


def strength_name(model):
    return "C" if "C" in model.get_params() else "ridge"


def assert_tuned(model):
    """Hyper-parameters are numbers > 0 that the searched path has, and the model predicts."""
    found = model.selection_
    assert np.all(np.isfinite(chosen(model)) & (chosen(model) > 0))
    assert np.isfinite(found.values).all()
    np.testing.assert_allclose(strength(model), found.ridge)
    assert np.isfinite(values(model, model.X_fit_)).all()
    if is_classifier(model):
        assert set(model.predict(model.X_fit_)) <= set(model.classes_)
