"""Rows that a generator yields: the model of one fit on the same centres to all of them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier

from gramian import OrthogonalKernelClassifier, OrthogonalKernelRegressor
from gramian.orthogonal._chunked import ahead
from tests.estimators.conftest import close_values, values
from tests.scale.conftest import weighted_samples

MODELS = {
    "shared": OrthogonalKernelClassifier(gamma=0.5, max_basis=12, ridge=0.1),
    "one-vs-rest": OrthogonalKernelClassifier(
        gamma=0.5, max_basis=8, ridge=0.1, basis="one-vs-rest"
    ),
    "regressor": OrthogonalKernelRegressor(gamma=[0.3, 1.0], max_basis=12, ridge=0.1),
}


@pytest.fixture(params=MODELS)
def estimator(request):
    return clone(MODELS[request.param])


def chunks(*arrays, rows=25):
    for start in range(0, len(arrays[0]), rows):
        yield tuple(array[start : start + rows] for array in arrays)


def solved(model, X, y, weight):
    """Outputs by ridge regression on the model's centres, from all rows at once."""
    columns = []
    for basis in model._now.engine.bases:
        K = np.column_stack([np.ones(len(X)), basis.centres.rows(X)])
        penalty = basis.live.ridge * basis.live.U.T @ basis.live.U
        penalty[0, 0] = 0.0  # the bias is free
        targets = np.where(y[:, None] == basis.outputs, 1.0, -1.0)
        targets = targets if is_classifier(model) else y.reshape(len(y), -1)
        V = weight[:, None] * K
        w = np.linalg.solve(V.T @ K + penalty, V.T @ targets)
        columns.append(K @ w)
    return np.concatenate(columns, axis=1)[:, model._now.engine.order()]


def outputs(model, X):
    return (model.decision_function if is_classifier(model) else model.predict)(X)


def test_chunks_are_learned_and_forgotten_exactly(estimator):
    X, y, weight = weighted_samples(estimator)
    model = clone(estimator).fit(X[:40], y[:40], sample_weight=weight[:40])
    assert model.learn_rows(chunks(X[40:], y[40:], weight[40:])) is model
    found = outputs(model, X)
    expected = solved(model, X, y, weight)
    np.testing.assert_allclose(found.reshape(expected.shape), expected, atol=1e-8)
    assert (len(model.ids_), model.n_rows_) == (40, 120)
    whole = clone(estimator).fit(X[:40], y[:40], sample_weight=weight[:40])
    whole.partial_fit(X[40:], y[40:], sample_weight=weight[40:])
    close_values(values(model), values(whole), n=120, updates=80)
    model.forget_rows(X[60:100], y[60:100], weight[60:100]).forget(3)
    close_values(values(model), values(whole.forget([3, *range(60, 100)])), n=120, updates=80)
    with pytest.raises(ValueError, match="learn_rows are not held"):
        model.reselect()


def test_arrays_weights_of_zero_and_nothing_at_all(estimator):
    X, y, weight = weighted_samples(estimator)
    weight[50:60] = 0.0
    model = clone(estimator).fit(X[:40], y[:40]).learn_rows(X[40:], y[40:], weight[40:])
    assert model.n_rows_ == 110
    whole = clone(estimator).fit(X[:40], y[:40])
    whole.partial_fit(X[40:], y[40:], sample_weight=weight[40:])
    close_values(values(model), values(whole), n=110, updates=80)
    before = values(model)
    np.testing.assert_array_equal(values(model.learn_rows(iter([]))), before)


def test_classes_of_later_chunks(estimator):
    if not is_classifier(estimator):
        pytest.skip("a regressor has no classes")
    X, y, weight = weighted_samples(estimator, classes=4)
    order = np.argsort(y[30:], kind="stable") + 30
    start = np.flatnonzero(y[:30] < 2)
    model = clone(estimator).fit(X[start], y[start])
    model.learn_rows(chunks(X[order], y[order], weight[order], rows=17))
    np.testing.assert_array_equal(model.classes_, [0, 1, 2, 3])
    rows = np.concatenate([start, order])
    expected = solved(model, X[rows], y[rows], np.concatenate([np.ones(len(start)), weight[order]]))
    np.testing.assert_allclose(model.decision_function(X[rows]), expected, atol=1e-8)
    third = order[y[order] == 3]
    model.forget_rows(X[third], y[third], weight[third])
    np.testing.assert_array_equal(model.classes_, [0, 1, 2, 3])  # declared by their rows


def test_what_cannot_be_learned_leaves_the_model_as_it_was(estimator):
    X, y, weight = weighted_samples(estimator)
    model = clone(estimator).fit(X[:40], y[:40])
    before = values(model)

    def failing():
        yield X[40:60], y[40:60]
        raise RuntimeError("the disk is gone")

    with pytest.raises(RuntimeError, match="disk"):
        model.learn_rows(failing())
    for bad, message in [
        ([(X[40:60], y[40:60]), (X[:3, :1], y[:3])], "features"),
        ([(X[40:60], y[40:60]), (np.full((1, 3), np.nan), y[:1])], "NaN"),
        ([X[40:60]], "got one of type ndarray"),
        (X[40:60], "an array without y"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.learn_rows(bad)
    with pytest.raises(ValueError, match="weights beside the iterable"):
        model.learn_rows(iter([]), sample_weight=weight)
    np.testing.assert_array_equal(values(model), before)
    assert (model.n_rows_, len(model.ids_)) == (40, 40)


def test_sparse_rows_and_dask_arrays(estimator):
    X, y, _ = weighted_samples(estimator)
    model = clone(estimator).fit(sparse.csr_matrix(X[:40]), y[:40])
    model.learn_rows((sparse.csr_matrix(X), y) for X, y in chunks(X[40:], y[40:]))
    whole = clone(estimator).fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    close_values(values(model), values(whole), n=120, updates=80)
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    other = clone(estimator).fit(X[:40], y[:40])
    other.learn_rows(da.from_array(X[40:], chunks=(30, 3)), da.from_array(y[40:], chunks=30))
    close_values(values(other), values(whole), n=120, updates=80)


def test_chunks_made_ahead_of_their_use():
    """All of them in order, one made while the one before is used; errors come through."""
    made, seen = [], []

    def numbers():
        for number in range(4):
            made.append(number)
            yield number
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="disk"):
        seen.extend(ahead(numbers()))
    assert seen == made == [0, 1, 2, 3]
