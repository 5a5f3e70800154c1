"""Dask arrays: the same model as in memory, on threads and on workers that die."""

import os
import pickle
import signal

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from gramian import OrthogonalKernelClassifier, OrthogonalKernelRegressor, load, save
from gramian.orthogonal import _chunked
from gramian.orthogonal._normal_equations import Axes
from tests.estimators.conftest import close_values, queries, values
from tests.scale.conftest import weighted_samples

da = pytest.importorskip("dask.array", reason="Dask is not installed")

MODELS = {
    "shared": OrthogonalKernelClassifier(gamma=0.5, max_basis=12),
    "one-vs-rest": OrthogonalKernelClassifier(gamma=0.5, max_basis=8, basis="one-vs-rest"),
    "epsilon": OrthogonalKernelRegressor(gamma=0.5, max_basis=12, epsilon=0.01),
    "regressor": OrthogonalKernelRegressor(gamma=0.5, max_basis=12),
}


@pytest.fixture(params=MODELS)
def estimator(request):
    return clone(MODELS[request.param])


def chunked(*arrays, rows=25):
    return [da.from_array(a, chunks=(rows, *a.shape[1:])) for a in arrays]


@pytest.mark.parametrize("rows", [120, 25, 1])
def test_fit_equals_the_fit_in_memory(estimator, rows):
    X, y, _ = weighted_samples(estimator, 120 if rows > 1 else 40)
    model = clone(estimator).fit(*chunked(X, y, rows=rows))
    estimator.fit(X, y)
    np.testing.assert_array_equal(model.basis_, estimator.basis_)
    np.testing.assert_array_equal(model.ridge_, estimator.ridge_)
    close_values(values(model), values(estimator), n=len(y))
    assert (len(model.ids_), model.n_rows_, model.X_fit_.shape) == (0, len(y), (0, 3))


def test_weights(estimator):
    X, y, weight = weighted_samples(estimator)
    dX, dy, dw = chunked(X, y, weight)
    model = clone(estimator).fit(dX, dy, sample_weight=dw)
    close_values(values(model), values(estimator.fit(X, y, sample_weight=weight)), n=120)


def test_centres_are_chosen_on_some_rows_and_sums_are_over_all(estimator, monkeypatch):
    monkeypatch.setattr(_chunked, "CHOSEN_ON", 40)
    X, y, _ = weighted_samples(estimator)
    model = clone(estimator).set_params(ridge=0.1).fit(*chunked(X, y))
    rows = np.sort(np.random.RandomState(0).choice(120, 40, replace=False))
    some = clone(model).fit(X[rows], y[rows])
    np.testing.assert_array_equal(model.basis_, some.basis_)
    rest = np.setdiff1d(np.arange(120), rows)
    close_values(values(model), values(some.partial_fit(X[rest], y[rest])), n=120, updates=80)
    tuned = estimator.set_params(ridge="gcv").fit(*chunked(X, y))
    for basis in tuned._now.engine.bases:  # λ is at the minimum of GCV over all rows
        gcv = Axes.of(basis.live.sums, basis.live.free).shrinkage.gcv
        for factor in (0.9, 1.1):
            assert gcv(basis.live.ridge) <= gcv(factor * basis.live.ridge)


def test_partial_fit_in_memory_and_by_chunks(estimator):
    X, y, _ = weighted_samples(estimator)
    whole = clone(estimator).fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
    model = clone(estimator).fit(X[:60], y[:60]).partial_fit(*chunked(X[60:90], y[60:90], rows=7))
    model.partial_fit(X[90:], y[90:])
    close_values(values(model), values(whole), n=120, updates=60)
    np.testing.assert_array_equal(model.ids_, [*range(60), *range(90, 120)])
    model.forget(range(95, 120))
    close_values(values(model), values(whole.forget(range(95, 120))), n=120, updates=90)
    first = clone(estimator).partial_fit(*chunked(X[:60], y[:60]))
    close_values(values(first), values(clone(estimator).fit(X[:60], y[:60])), n=60)


def test_classes_of_later_chunks():
    model = clone(MODELS["shared"])
    X, y, _ = weighted_samples(model)
    some = y != 1
    model.fit(*chunked(X[some], y[some])).partial_fit(*chunked(X[~some], y[~some]))
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    whole = clone(model).fit(X[some], y[some]).partial_fit(X[~some], y[~some])
    close_values(values(model), values(whole), n=120, updates=40)


def test_rows_given_again_are_forgotten(estimator):
    X, y, weight = weighted_samples(estimator)
    model = clone(estimator).fit(*chunked(X, y, weight))
    estimator.fit(X, y, sample_weight=weight)
    gone = np.union1d(estimator.basis_ids_[:2], np.setdiff1d(np.arange(120), [5])[:9])
    assert model.forget_rows(X[gone], y[gone], weight[gone]) is model
    estimator.forget(gone)
    np.testing.assert_array_equal(model.basis_, estimator.basis_)
    close_values(values(model), values(estimator), n=120, updates=20)
    after = pickle.dumps(model)
    assert not any(X[i].tobytes() in after for i in gone)


def test_forget_rows_refuses_what_cannot_be(estimator):
    X, y, _ = weighted_samples(estimator)
    model = clone(estimator).fit(*chunked(X, y))
    for rows in (X, np.vstack([X, X])):
        with pytest.raises(ValueError, match="the model has learned 120 that it does not hold"):
            model.forget_rows(rows, np.resize(y, len(rows)))
    with pytest.raises(ValueError, match="has learned 0 that it does not hold"):
        estimator.fit(X, y).forget_rows(X[:1], y[:1])


def test_leave_one_out_of_rows_given_again():
    for name in ("shared", "one-vs-rest", "regressor"):
        model = clone(MODELS[name])
        X, y, weight = weighted_samples(model)
        arrays = chunked(X, y, weight)
        lazy = clone(model).fit(*arrays).loo_decision_function(*arrays)
        expected = model.fit(X, y, sample_weight=weight).loo_decision_function()
        assert lazy.shape == expected.shape
        close_values(lazy.compute(), expected, n=120)


@pytest.mark.parametrize("classes", [2, 3])
def test_predictions_are_lazy_and_equal(estimator, classes):
    X, y, _ = weighted_samples(estimator, classes=classes)
    by_chunks = clone(estimator).fit(*chunked(X, y))
    for model in (estimator.fit(X, y), by_chunks):
        names = ["predict"]
        if is_classifier(model):
            names += ["decision_function", "predict_proba"]
        for name in names:
            lazy = getattr(model, name)(da.from_array(X, chunks=(25, 2)))
            expected = getattr(model, name)(X)
            assert isinstance(lazy, da.Array)
            assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
            if expected.dtype.kind == "f":
                close_values(lazy.compute(), expected)
            else:
                np.testing.assert_array_equal(lazy.compute(), expected)


def test_probabilities_are_calibrated_on_the_rows_chosen_on():
    model = clone(MODELS["shared"])
    X, y, _ = weighted_samples(model)
    whole = clone(model).fit(X, y).predict_proba(queries())
    found = model.fit(*chunked(X, y)).predict_proba(queries())
    np.testing.assert_allclose(found, whole, atol=1e-8)  # Newton stops at 1e-10


def test_model_file(estimator, tmp_path):
    X, y, _ = weighted_samples(estimator)
    save(estimator.fit(*chunked(X, y)), tmp_path / "model")
    twin = load(tmp_path / "model")
    np.testing.assert_array_equal(values(twin), values(estimator))
    if is_classifier(twin):
        np.testing.assert_array_equal(
            twin.predict_proba(queries()), estimator.predict_proba(queries())
        )
    for model in (twin, estimator):
        model.partial_fit(X[:5] + 0.1, y[:5]).forget_rows(X[:3], y[:3])
    close_values(values(twin), values(estimator), updates=8)


def test_what_needs_the_samples_says_so(estimator):
    X, y, _ = weighted_samples(estimator)
    estimator.fit(*chunked(X, y))
    for call in (estimator.grow, estimator.reselect):
        with pytest.raises(ValueError, match="holds 0 of the 120 that it has learned"):
            call()
    with pytest.raises(ValueError, match="which the model does not hold"):
        estimator.forget(3)
    assert estimator.rebuild().drift() < 1e-12  # a fresh solve


def test_bad_arrays(estimator):
    X, y, _ = weighted_samples(estimator)
    dX, dy = chunked(X, y)
    for call, match in [
        (lambda: estimator.fit(dX, y), "y must be a Dask array"),
        (lambda: estimator.fit(dX, dy[:50]), "as many rows, got 120 and 50"),
        (lambda: estimator.fit(dX, dy, ids=np.arange(120)), "have no ids"),
        (lambda: estimator.fit(dX[:, 0], dy), "two dimensions"),
        (lambda: estimator.fit(dX[dX[:, 0] > 0], dy), "compute_chunk_sizes"),
        (lambda: estimator.fit(da.where(dX > 2, np.nan, dX), dy), "NaN"),
    ]:
        with pytest.raises(ValueError, match=match):
            call()
        assert not hasattr(estimator, "_now")


def test_chunks_without_rows_or_weight(estimator):
    X, y, weight = weighted_samples(estimator)
    weight[25:50] = 0.0
    empty = (0, 25, 0, 95, 0)
    dX, dy, dw = (da.from_array(a, chunks=(empty, *a.shape[1:])) for a in (X, y, weight))
    model = clone(estimator).fit(dX, dy, sample_weight=dw)
    close_values(values(model), values(estimator.fit(X, y, sample_weight=weight)), n=120)
    assert model.n_rows_ == 95
    lazy = model.predict(dX)
    assert lazy.shape == model.predict(X).shape
    np.testing.assert_allclose(lazy.compute(), model.predict(X), rtol=1e-12)
    assert model.loo_decision_function(dX, dy, dw).compute().shape[0] == 120


def test_a_class_without_weight_is_none():
    model = clone(MODELS["shared"])
    X, y, _ = weighted_samples(model)
    dX, dy, dw = chunked(X, y, (y != 1) * 1.0)
    np.testing.assert_array_equal(model.fit(dX, dy, sample_weight=dw).classes_, [0, 2])


def test_chunks_that_are_not_what_they_say(estimator):
    X, y, weight = weighted_samples(estimator)
    estimator.fit(X, y)
    before = values(estimator)
    dX, dy, dw = chunked(X, y, weight)

    def lying(array, change):
        meta = np.empty((0,) * array.ndim, array.dtype)
        return array.map_blocks(change, dtype=array.dtype, chunks=array.chunks, meta=meta)

    for arrays, match in [
        ((lying(dX, lambda a: a[1:]), dy, dw), "a chunk of X has shape"),
        ((lying(dX, lambda a: a[:, 1:]), dy, dw), "a chunk of X has shape"),
        ((dX, lying(dy, lambda a: a[:1]), dw), "a chunk of .* has shape"),
        ((dX, dy, lying(dw, lambda a: a[:1])), "a chunk of sample_weight has shape"),
        ((dX, dy, 1e300 * dw), "between 1e-30 and 1e\\+30"),
        ((dX, dy, -dw), "between 1e-30 and 1e\\+30, got -"),
        ((dX, dy, 0 * dw), "got zeros only"),
        ((dX, dy, dw[:50]), "X and sample_weight must have as many rows, got 120 and 50"),
        ((dX, dy, dw[:, None]), "sample_weight must have one dimension"),
        ((dX, dy, dw[dw > 0]), "compute_chunk_sizes"),
        ((dX, None, dw), "y must be a Dask array"),
        ((dX, dy[0], dw), "y must have one dimension"),
        ((dX[:0], dy[:0], dw[:0]), "one row or more"),
    ]:
        with pytest.raises(ValueError, match=match):
            estimator.partial_fit(arrays[0], arrays[1], sample_weight=arrays[2])
        np.testing.assert_array_equal(values(estimator), before)


def test_labels_of_two_kinds_do_not_merge():
    model = clone(MODELS["shared"])
    X, y, _ = weighted_samples(model)
    texts = np.array(["0", "1", "2"], dtype=object)[y]
    model.fit(X, texts)
    dX, dy = chunked(X, texts)
    mixed = dy.map_blocks(
        lambda a, block_info: a if block_info[0]["chunk-location"][0] else a.astype(int),
        dtype=object,
    )
    with pytest.raises(ValueError, match="strings alone or numbers alone"):
        model.partial_fit(dX, mixed)


# -- workers ------------------------------------------------------------------------------------


@pytest.fixture
def workers():
    """Two worker processes."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            memory_limit=0,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def deadly(X, folder, block_info=None):
    """The chunk, but its second visitor is killed: the first reads a sample, the next adds up."""
    if block_info[0]["chunk-location"][0] == 3:
        marks = len(os.listdir(folder))
        if marks < 2:
            (folder / f"{marks}").touch()
        if marks == 1:
            os.kill(os.getpid(), signal.SIGKILL)
    return X


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # a worker that is killed is mourned in warnings
def test_a_worker_that_dies_on_the_way(workers, tmp_path):
    model = clone(MODELS["shared"])
    X, y, _ = weighted_samples(model)
    dX, dy = chunked(X, y, rows=10)
    dX = dX.map_blocks(deadly, tmp_path, dtype=X.dtype, meta=X[:0])
    before = set(workers.run(os.getpid).values())
    model.fit(dX, dy)
    assert len(os.listdir(tmp_path)) == 2
    assert set(workers.run(os.getpid).values()) != before
    close_values(values(model), values(clone(model).fit(X, y)), n=120)
    np.testing.assert_array_equal(model.predict(dX).compute(), model.predict(X))


def test_groups_are_for_samples_that_are_held(estimator):
    X, y, _ = weighted_samples(estimator, 50)
    groups = np.arange(50) // 5
    with pytest.raises(ValueError, match="those of Dask arrays are not held"):
        estimator.fit(*chunked(X, y), groups=groups)
    estimator.fit(*chunked(X, y))
    before = values(estimator)
    with pytest.raises(ValueError, match="those of Dask arrays are not held"):
        estimator.partial_fit(*chunked(X, y), groups=groups)
    np.testing.assert_array_equal(values(estimator), before)
