"""`n_jobs`: the same model to the bit whatever it is, and BLAS as it was before."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone, is_classifier
from sklearn.model_selection import cross_val_score
from threadpoolctl import threadpool_info, threadpool_limits

import gramian
from gramian import LeastSquaresSVC, StackedKernelClassifier, StackedKernelRegressor
from gramian.core.arrays import _tiles
from gramian.estimators import ESTIMATORS


def samples(model, n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(n)
    return X, (f > 0).astype(int) if is_classifier(model) else f


def trained(model, n):
    """What a model answers after a fit and edits, with all that it says of the search."""
    X, y = samples(model, n + 2)
    model.fit(X[:n], y[:n]).partial_fit(X[n:], y[n:]).forget([0, 7])
    found = [model._loo_outputs(), model._outputs(X)[1]]
    selection = getattr(model, "selection_", None)
    if selection is not None:
        found += [selection.gammas, selection.ridges, selection.values, selection.sizes]
    return found


@pytest.fixture
def small_blocks(monkeypatch):
    """Matrices of some hundred rows are divided too."""
    monkeypatch.setattr(_tiles, "LARGE", 100)
    monkeypatch.setattr(_tiles, "_LEAST", 64)
    monkeypatch.setattr("gramian.stack._engine.MANY", 100)


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_same_to_the_bit_for_any_number_of_threads(name):
    n = 300 if "callback" in ESTIMATORS[name]().get_params() else 120  # 300: a ladder of two rungs
    one, three = (trained(ESTIMATORS[name](n_jobs=jobs), n) for jobs in (1, 3))
    for a, b in zip(one, three, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    "model",
    [
        LeastSquaresSVC(kernel="loo", random_state=np.random.RandomState(0)),
        LeastSquaresSVC(metric="diagonal", random_state=3),
        StackedKernelClassifier(("rbf", "laplacian"), random_state=np.random.RandomState(0)),
    ],
    ids=["kernels", "folds of a metric", "parts"],
)
@pytest.mark.filterwarnings("ignore:the metric was dropped")
def test_random_numbers_do_not_depend_on_threads(model):
    one, three = (trained(clone(model).set_params(n_jobs=jobs), 150) for jobs in (1, 3))
    for a, b in zip(one, three, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    "options",
    [
        {"method": "jackknife+", "width": "local"},
        {"method": "jackknife+", "width": "constant"},
        {"method": "full", "width": "density"},
    ],
)
def test_intervals_of_parts_do_not_depend_on_threads(options):
    X, y = samples(StackedKernelRegressor(), 120)
    given = {"gamma": 0.5, "C": 10.0, "weights": [0.3, 0.7]}
    one, three = (
        StackedKernelRegressor(("rbf", "laplacian"), n_jobs=jobs, **given).fit(X, y)
        for jobs in (1, 3)
    )
    found = three.predict_interval(X[:40] + 0.1, 0.9, **options)
    np.testing.assert_array_equal(found, one.predict_interval(X[:40] + 0.1, 0.9, **options))


def test_callbacks_of_all_parts_come_one_at_a_time():
    inside, trials = [], []

    def callback(trial):
        inside.append(1)
        assert len(inside) == 1
        trials.append(trial)
        inside.pop()

    X, y = samples(LeastSquaresSVC(), 120)
    for jobs in (1, 3):
        trials.clear()
        model = StackedKernelClassifier(("rbf", "laplacian"), callback=callback, n_jobs=jobs)
        model.fit(X, y)
        told = sum(len(set(part["selection"].gammas)) for part in model.parts_)
        assert len(trials) >= told > 0


def test_blas_has_its_threads_again_and_a_context_of_joblib_counts():
    def threads():
        return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}

    X, y = samples(LeastSquaresSVC(), 60)
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        during = []
        model = LeastSquaresSVC(callback=lambda trial: during.append(threads())).fit(X, y)
        assert all(found == {1} for found in during)
        model.predict(X)
        model.forget(3)
        assert threads() == before
        with pytest.raises(ValueError, match="forget got id 3"):
            model.forget(3)
        assert threads() == before
        with parallel_config(n_jobs=2, backend="threading"):
            scores = cross_val_score(LeastSquaresSVC(), X, y, cv=3, n_jobs=2)
        assert threads() == before
    np.testing.assert_array_equal(scores, cross_val_score(LeastSquaresSVC(), X, y, cv=3))


@pytest.mark.parametrize("jobs", [0, "many", 1.5])
def test_what_it_takes(jobs):
    X, y = samples(LeastSquaresSVC(), 20)
    with pytest.raises(
        ValueError, match=r"n_jobs must be None or a whole number other than 0, got"
    ):
        LeastSquaresSVC(n_jobs=jobs).fit(X, y)


def test_files_keep_it(tmp_path):
    X, y = samples(LeastSquaresSVC(), 20)
    gramian.save(LeastSquaresSVC(gamma=1.0, C=1.0, n_jobs=2).fit(X, y), tmp_path / "model.gram")
    assert gramian.load(tmp_path / "model.gram").n_jobs == 2
