"""Interrupts of what bases alone have: new classes, centres that leave, `grow`, rows.

test_interrupts.py does the same for what all estimators have.
"""

import pickle

import numpy as np
import pytest
from sklearn.base import is_classifier

from gramian import OrthogonalKernelClassifier, OrthogonalKernelRegressor
from tests.estimators.conftest import make_samples, queries, values
from tests.interrupts import interrupted, lines_of, places

SMALL = {"gamma": 0.5, "ridge": 0.1, "max_basis": 2, "patience": 2}
MODELS = {
    "oks": OrthogonalKernelClassifier(**SMALL),
    "one-vs-rest": OrthogonalKernelClassifier(**SMALL, basis="one-vs-rest", selection="residual"),
    "okr": OrthogonalKernelRegressor(
        **{**SMALL, "ridge": "gcv"}, penalty="orthogonal", selection="residual"
    ),
}


def samples(model, n=14):
    X, y = make_samples(model, n, classes=2)
    return X, np.array(["a", "b"])[y] if is_classifier(model) else y


def more(model):
    """Two samples; of a classifier, one is of a new class."""
    return queries(2), np.array(["b", "c"]) if is_classifier(model) else np.array([0.5, -1.0])


EDITS = {
    "partial_fit": lambda model: model.partial_fit(*more(model)),
    "forget": lambda model: model.forget([*np.unique(model.basis_ids_)[:1], 13]),
    "grow": lambda model: model.grow(1),
    "learn_rows": lambda model: model.learn_rows([more(model), samples(model)]),
    "forget_rows": lambda model: model.forget_rows(*(part[:2] for part in samples(model))),
}


def seen(model):
    """All that tells two versions of a model apart."""
    loo = model.loo_decision_function() if len(model.ids_) else np.empty(0)
    parts = [values(model), loo, model.basis_, model.dual_coef_]
    return model.ids_.tolist(), model.n_rows_, *(part.tobytes() for part in parts)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("edit", EDITS)
def test_an_interrupt_leaves_the_model_before_or_after(name, edit):
    model = MODELS[name]
    X, y = samples(model)
    if edit == "forget_rows":
        da = pytest.importorskip("dask.array", reason="Dask is not installed")
        model.fit(da.from_array(X, chunks=(7, 3)), da.from_array(y, chunks=7))
    else:
        model.fit(X, y)
    stored = pickle.dumps(model)
    before = seen(pickle.loads(stored))
    after = seen(EDITS[edit](pickle.loads(stored)))
    lines = lines_of(lambda: EDITS[edit](pickle.loads(stored)))
    for number, k in enumerate(places(lines, most=30, turn=list(MODELS).index(name))):
        model = pickle.loads(stored)
        assert interrupted(lambda model=model: EDITS[edit](model), k)
        found = seen(model)
        assert found in (before, after), f"torn at {lines[k]}"
        if number % 5 == 0:
            model.partial_fit(X[:2] + 1, y[[0, -1]], ids=[98, 99]).forget([98, 99])
            assert model.ids_.tolist() == found[0]
