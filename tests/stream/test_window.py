"""Sliding windows, against refits on the samples that they should hold."""

import copy
import pickle
from datetime import datetime, timedelta
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError

from gramian import KernelDiscriminant, LeastSquaresSVR
from gramian.core.engines import DenseEngine
from gramian.stream import SlidingWindow
from tests.estimators.conftest import ONE_OF_EACH
from tests.interrupts import interrupted, lines_of, places
from tests.stream.conftest import assert_equals_refit, make_stream
from tests.tolerance import tolerance

KDA = KernelDiscriminant(gamma=0.5, ridge=0.1)
SVR = LeastSquaresSVR(gamma=0.5, C=10.0)


# -- what stays ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_by_count_one_by_one(name):
    estimator = ONE_OF_EACH[name]
    X, labels, responses = make_stream(classes=3)
    y = labels if is_classifier(estimator) else responses
    window = SlidingWindow(estimator, max_samples=25, min_samples=5)
    for k in range(len(X)):
        window.partial_fit(X[k : k + 1], y[k : k + 1])
        np.testing.assert_array_equal(window.ids_, np.arange(max(0, k - 24), k + 1))
        if window.estimator_ is not None and k % 7 == 0:
            assert_equals_refit(window, updates=2 * k)
    assert_equals_refit(window, updates=120)
    np.testing.assert_array_equal(window.X_fit_, X[-25:])
    np.testing.assert_array_equal(window.y_fit_, y[-25:])


@pytest.mark.parametrize("batch", [1, 7, 25, 40])
def test_by_count_in_batches(batch):
    """Also batches as large as the window, and larger."""
    X, y, _ = make_stream(n=100)
    window = SlidingWindow(KDA, max_samples=25, min_samples=2)
    for start in range(0, len(X), batch):
        window.partial_fit(X[start : start + batch], y[start : start + batch])
    np.testing.assert_array_equal(window.ids_, np.arange(75, 100))
    assert_equals_refit(window, updates=200)


def test_by_age():
    X, y, _ = make_stream()
    times = np.cumsum(np.random.default_rng(1).exponential(size=len(X)))
    window = SlidingWindow(KDA, max_age=20.0, min_samples=2)
    for k in range(len(X)):
        window.partial_fit(X[k : k + 1], y[k : k + 1], times=times[k])
        expected = np.flatnonzero(times[k] - times[: k + 1] <= 20.0)
        np.testing.assert_array_equal(window.ids_, expected)
    np.testing.assert_array_equal(window.times_, times[expected])
    assert_equals_refit(window, updates=120)


def test_by_age_and_count():
    X, y, _ = make_stream()
    window = SlidingWindow(KDA, max_samples=10, max_age=20, min_samples=2)
    window.partial_fit(X, y, times=np.arange(60))
    np.testing.assert_array_equal(window.ids_, np.arange(50, 60))
    window.advance(72)
    np.testing.assert_array_equal(window.ids_, np.arange(52, 60))
    assert_equals_refit(window)


def test_samples_out_of_order():
    """A sample that is too old on arrival never enters; it has an id all the same."""
    X, y, _ = make_stream()
    window = SlidingWindow(KDA, max_age=10, min_samples=2)
    window.partial_fit(X[:30], y[:30], times=np.arange(30))
    window.partial_fit(X[30:33], y[30:33], times=[5, 25, 31])
    np.testing.assert_array_equal(window.ids_, [*range(21, 30), 31, 32])
    assert_equals_refit(window, updates=40)


def test_datetimes():
    X, y, _ = make_stream()
    start = datetime(2024, 2, 28)
    window = SlidingWindow(KDA, max_age=timedelta(hours=12), min_samples=2)
    for k in range(len(X)):
        window.partial_fit(X[k : k + 1], y[k : k + 1], times=start + k * timedelta(hours=1))
    np.testing.assert_array_equal(window.ids_, np.arange(47, 60))
    window.advance(start + timedelta(hours=65))
    np.testing.assert_array_equal(window.ids_, np.arange(53, 60))
    assert_equals_refit(window, updates=120)


def test_time_does_not_go_back():
    X, y, _ = make_stream()
    window = SlidingWindow(KDA, max_age=10, min_samples=2)
    assert window.advance(100).partial_fit(X, y, times=np.arange(60)) is window
    before = window.ids_
    np.testing.assert_array_equal(window.advance(3).ids_, before)


def test_without_limits_everything_stays():
    X, y, _ = make_stream()
    window = SlidingWindow(KDA).partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    assert len(window.ids_) == 60
    assert_equals_refit(window, updates=30)


def test_forget_by_id():
    X, y, _ = make_stream()
    window = SlidingWindow(KDA, max_samples=40).partial_fit(X, y).forget([25, 59])
    assert 25 not in window.ids_
    assert len(window.ids_) == 38
    assert_equals_refit(window, updates=2)
    with pytest.raises(ValueError, match="forget got id 25, which the model does not hold"):
        window.forget(25)


def test_sparse_samples():
    X, y, _ = make_stream()
    dense = SlidingWindow(KDA, max_samples=25).partial_fit(X, y)
    window = SlidingWindow(KDA, max_samples=25)
    for start in range(0, 60, 20):
        window.partial_fit(sparse.csr_matrix(X[start : start + 20]), y[start : start + 20])
    assert sparse.issparse(window.X_fit_)
    np.testing.assert_array_equal(window.predict(X), dense.predict(X))
    with pytest.raises(ValueError, match="stay sparse or stay dense"):
        window.partial_fit(X, y)


# -- when there is a model ----------------------------------------------------------------------


def test_no_model_before_enough_samples():
    X, y, _ = make_stream()
    window = SlidingWindow(KDA, min_samples=10)
    with pytest.raises(NotFittedError, match="holds 0 samples, and a model needs 10 of two"):
        window.predict(X)
    with pytest.raises(NotFittedError, match="has seen no samples"):
        window.ids_  # noqa: B018
    window.partial_fit(X[:9], y[:9])
    assert window.estimator_ is None
    with pytest.raises(NotFittedError, match="holds 9 samples"):
        window.predict(X)
    window.partial_fit(X[9:10], y[9:10])
    assert_equals_refit(window)


def test_no_model_of_one_class():
    """The model ends when the window has one class left, and is back with the second."""
    X, y, _ = make_stream()
    order = np.concatenate([np.flatnonzero(y == "a"), np.flatnonzero(y == "b")])
    X, y = X[order], y[order]
    window = SlidingWindow(KDA, max_samples=20, min_samples=5)
    ready = []
    for k in range(60):
        window.partial_fit(X[k : k + 1], y[k : k + 1])
        ready.append(window.estimator_ is not None)
        if ready[-1]:
            assert_equals_refit(window, updates=2 * k)
    np.testing.assert_array_equal(np.flatnonzero(ready), np.arange(30, 49))
    window.partial_fit(X[:1], y[:1])
    assert_equals_refit(window)


def test_no_model_when_age_leaves_too_few():
    X, y, _ = make_stream()
    window = SlidingWindow(KDA, max_age=100, min_samples=10)
    window.partial_fit(X, y, times=np.arange(60))
    assert window.advance(150).estimator_ is not None
    assert window.advance(151).estimator_ is None
    assert len(window.ids_) == 9
    assert len(window.advance(1e6).ids_) == 0
    window.partial_fit(X, y, times=2e6)
    assert_equals_refit(window)


def test_classes_come_and_go():
    X, y, _ = make_stream(n=90, classes=3)
    order = np.argsort(y, kind="stable")
    window = SlidingWindow(KDA, max_samples=40, min_samples=2)
    seen = []
    for k in order:
        window.partial_fit(X[k : k + 1], y[k : k + 1])
        if window.estimator_ is not None:
            seen.append("".join(window.estimator_.classes_))
    assert list(dict.fromkeys(seen)) == ["ab", "abc", "bc"]
    assert_equals_refit(window, updates=180)


def test_reselection():
    X, y, _ = make_stream(n=90)
    window = SlidingWindow(KernelDiscriminant(), max_samples=40, reselect_every=30)
    chosen = []
    for k in range(90):
        window.partial_fit(X[k : k + 1], y[k : k + 1])
        chosen.append(window.estimator_.gamma_ if window.estimator_ is not None else None)
    changes = [k for k in range(1, 90) if chosen[k] != chosen[k - 1]]
    assert changes == [19, 49, 79]
    model = window.estimator_
    fixed = KernelDiscriminant(gamma=model.gamma_, ridge=model.ridge_).fit(
        window.X_fit_, window.y_fit_
    )
    atol = tolerance(40, updates=60, cond=40 / model.ridge_, power=1)
    np.testing.assert_allclose(window.decision_function(X), fixed.decision_function(X), atol=atol)


# -- as an estimator ----------------------------------------------------------------------------


def test_estimator_is_left_alone():
    X, y, _ = make_stream()
    estimator = clone(KDA)
    window = SlidingWindow(estimator, max_samples=30).partial_fit(X, y)
    assert not estimator.__sklearn_is_fitted__()
    assert window.estimator_ is not estimator


def test_inputs_are_left_alone():
    X, y, _ = make_stream()
    before = X.copy(), y.copy()
    window = SlidingWindow(KDA, max_samples=30).partial_fit(X, y)
    window.X_fit_[:] = 0.0
    window.y_fit_[:] = "a"
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])
    assert_equals_refit(window)


def test_fit_starts_anew():
    X, y, _ = make_stream()
    window = SlidingWindow(KDA, max_samples=30).partial_fit(X, y).fit(X[:25], y[:25])
    np.testing.assert_array_equal(window.ids_, np.arange(25))
    assert_equals_refit(window)


def test_type_and_methods_follow_the_estimator():
    X, labels, responses = make_stream()
    classifier = SlidingWindow(KDA).partial_fit(X, labels)
    regressor = SlidingWindow(SVR).partial_fit(X, responses)
    assert is_classifier(classifier)
    assert is_regressor(regressor)
    assert not hasattr(regressor, "predict_proba")
    np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1.0)
    assert classifier.score(X, labels) > 0.9
    assert regressor.score(X, responses) > 0.9


def test_column_names():
    pd = pytest.importorskip("pandas", reason="pandas is not installed (extra: cli)")
    X, y, _ = make_stream()
    table = pd.DataFrame(X, columns=["u", "v", "w"])
    window = SlidingWindow(KDA).partial_fit(table, y)
    np.testing.assert_array_equal(window.predict(table), SlidingWindow(KDA).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names"):
        window.predict(table[["w", "v", "u"]])


def test_clone_and_pickle():
    X, y, _ = make_stream()
    window = SlidingWindow(KDA, max_samples=30).partial_fit(X, y)
    copy = pickle.loads(pickle.dumps(window)).partial_fit(X[:5], y[:5])
    window.partial_fit(X[:5], y[:5])
    atol = tolerance(30, updates=10, cond=30 / 0.1, power=1)
    np.testing.assert_allclose(copy.decision_function(X), window.decision_function(X), atol=atol)
    assert not hasattr(clone(window), "estimator_")


# -- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"max_samples": 0}, "max_samples must be an integer >= 1, got 0"),
        ({"max_samples": 2.5}, "max_samples must be an integer"),
        ({"min_samples": None}, "min_samples must be an integer"),
        ({"reselect_every": -1}, "reselect_every must be an integer"),
        ({"max_samples": 5, "min_samples": 6}, "at least min_samples"),
        ({"max_age": 0}, "max_age must be a number or timedelta > 0"),
        ({"max_age": 1.0}, "times go with max_age"),
        ({"estimator": KernelDiscriminant(kernel="precomputed")}, "a window needs samples"),
    ],
)
def test_bad_parameters(parameters, match):
    X, y, _ = make_stream()
    with pytest.raises(ValueError, match=match):
        SlidingWindow(**{"estimator": KDA, **parameters}).partial_fit(X, y)


def test_times_need_a_greatest_age():
    X, y, _ = make_stream()
    with pytest.raises(ValueError, match="times go with max_age"):
        SlidingWindow(KDA).partial_fit(X, y, times=np.arange(60))
    with pytest.raises(ValueError, match="advance needs a window by age"):
        SlidingWindow(KDA).advance(3)


def test_a_failed_call_changes_nothing():
    """ridge=0 cannot hold a sample twice: the model refuses, and the window stays as it was."""
    X, y, _ = make_stream()
    window = SlidingWindow(KernelDiscriminant(gamma=4.0, ridge=0.0), max_samples=20)
    window.partial_fit(X, y)
    before, values = window.ids_, window.decision_function(X)
    for bad in (X[[59]], np.full((1, 3), np.nan), X[:1, :2]):
        with pytest.raises(ValueError, match=r"duplicates|NaN|features"):
            window.partial_fit(bad, y[:1])
    np.testing.assert_array_equal(window.ids_, before)
    np.testing.assert_array_equal(window.decision_function(X), values)
    assert window.partial_fit(X[:1], y[:1]).ids_[-1] == 60


def test_a_failed_removal_takes_the_new_samples_back(monkeypatch):
    X, y, _ = make_stream()
    window = SlidingWindow(clone(KDA), max_samples=20).partial_fit(X, y)
    before, values = window.ids_, window.decision_function(X)

    def fail(*args):
        raise RuntimeError("no")

    with monkeypatch.context() as patch:
        patch.setattr(DenseEngine, "remove", fail)
        with pytest.raises(RuntimeError, match="no"):
            window.partial_fit(X[:3], y[:3])
    np.testing.assert_array_equal(window.ids_, before)
    np.testing.assert_array_equal(window.estimator_.ids_, before)
    atol = tolerance(20, updates=6, cond=20 / 0.1, power=1)
    np.testing.assert_allclose(window.decision_function(X), values, atol=atol)


# -- steps --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kda", "lssvr"])
def test_a_step_makes_no_checks_of_its_own(name, monkeypatch):
    """One sample in and one out go the short way, and what does not fit goes the long one."""
    estimator = {"kda": KDA, "lssvr": SVR}[name]
    X, labels, responses = make_stream(n=80)
    y = labels if is_classifier(estimator) else responses
    window = SlidingWindow(estimator, max_samples=30).fit(X[:40], y[:40])
    with monkeypatch.context() as patch:
        patch.setattr(type(estimator), "exchange", None)
        for k in range(40, 80):
            window.predict(X[k : k + 1])
            window.partial_fit(X[k : k + 1], y[k : k + 1])
    assert_equals_refit(window, updates=80)
    window.estimator_.forget(window.ids_[3])  # behind the back of the window: it comes back last
    for k in range(8):
        window.partial_fit(X[k : k + 1], y[k : k + 1])
        np.testing.assert_array_equal(np.sort(window.estimator_.ids_), window.ids_)
    window.partial_fit(X[8:40], y[8:40])
    assert_equals_refit(window, updates=130)


def test_integers_are_targets_of_a_regressor():
    X, _, responses = make_stream()
    y = np.rint(4 * responses).astype(int)
    window = SlidingWindow(SVR, max_samples=20).fit(X[:30], y[:30])
    for k in range(30, 60):
        window.partial_fit(X[k : k + 1], y[k : k + 1])
    assert_equals_refit(window, updates=60)
    assert window.estimator_.y_fit_.dtype == float


def test_a_step_leaves_nothing_of_the_sample_that_left():
    X, y, _ = make_stream()
    window = SlidingWindow(KDA, max_samples=20).fit(X[:30], y[:30])
    for k in range(30, 60):
        window.predict(X[k : k + 1])
        window.partial_fit(X[k : k + 1], y[k : k + 1])
    stored = pickle.dumps(window)
    assert not any(value.tobytes() in stored for value in X[:40].ravel())
    assert all(value.tobytes() in stored for value in X[40:].ravel())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kda", "lssvr"])
def test_a_step_interrupted_anywhere(name):
    """The window is the one before the step or the one after, and goes on from there."""
    estimator = {"kda": KDA, "lssvr": SVR}[name]
    X, labels, responses = make_stream()
    y = labels if is_classifier(estimator) else responses
    method = "decision_function" if is_classifier(estimator) else "predict"
    atol = tolerance(25, updates=12, cond=25 / 0.1, power=1)
    start = SlidingWindow(estimator, max_samples=25).fit(X[:30], y[:30])
    start.partial_fit(X[30:31], y[30:31])

    def step(window):
        window.predict(X[31:32])
        window.partial_fit(X[31:32], y[31:32])

    def living():
        window = copy.deepcopy(start)
        window.estimator_.loo_score()  # with its engine alive
        return window

    for k in places(lines_of(partial(step, living()))):
        window = living()
        assert interrupted(partial(step, window), k)
        assert int(window.ids_[-1]) in (30, 31)
        for more in range(3):
            window.partial_fit(X[32 + more : 33 + more], y[32 + more : 33 + more])
            np.testing.assert_array_equal(np.sort(window.estimator_.ids_), window.ids_)
        fresh = clone(estimator).fit(window.X_fit_, window.y_fit_)
        np.testing.assert_allclose(
            getattr(window, method)(X), getattr(fresh, method)(X), atol=atol, err_msg=f"line {k}"
        )
