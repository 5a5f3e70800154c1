"""Windows that step on: one sample in, the oldest out, while the model is not looked at."""

import copy
import pickle
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from gramian import KernelDiscriminant, LeastSquaresSVC, LeastSquaresSVR
from gramian.stream import SlidingWindow, prequential
from tests.interrupts import interrupted, lines_of, places
from tests.stream.conftest import assert_equals_refit, make_stream
from tests.tolerance import tolerance

ESTIMATORS = {
    "kda": KernelDiscriminant(gamma=0.5, ridge=0.1),
    "kda-fisher": KernelDiscriminant(gamma=0.5, ridge=0.1, targets="fisher"),
    "lssvc": LeastSquaresSVC(gamma=0.5, C=10.0),
    "lssvc-laplacian": LeastSquaresSVC("laplacian", gamma=0.5, C=10.0),
    "lssvr": LeastSquaresSVR(gamma=0.5, C=10.0),
    "lssvr-widths": LeastSquaresSVR(gamma=np.array([0.5, 0.1, 0.0]), C=10.0),
    "lssvr-exponential-widths": LeastSquaresSVR(
        "exponential", gamma=np.array([0.5, 0.1, 0.0]), C=10.0
    ),
    "lssvr-targets": LeastSquaresSVR(gamma=0.5, C=10.0),
    "kda-classes": KernelDiscriminant(gamma=0.5, ridge=0.1),
    "kda-fisher-classes": KernelDiscriminant(gamma=0.5, ridge=0.1, targets="fisher"),
    "lssvc-classes": LeastSquaresSVC(gamma=0.5, C=10.0),
    "kda-weights": KernelDiscriminant(gamma=0.5, ridge=0.1, class_weight={"a": 3.0, "b": 0.5}),
    "kda-weights-classes": KernelDiscriminant(gamma=0.5, ridge=0.1, class_weight={"a": 3.0}),
    "lssvc-weights": LeastSquaresSVC(gamma=0.5, C=10.0, class_weight={"a": 3.0}),
}


def samples(name, n=80):
    X, labels, responses = make_stream(n=n, classes=3 if name.endswith("classes") else 2)
    if name.endswith("targets"):
        return X, np.column_stack([responses, X[:, 1] ** 2, 1.0 - responses])
    return X, labels if is_classifier(ESTIMATORS[name]) else responses


def moving(name, *, size=25, steps=5, n=80, **parameters):
    """A window that has made some steps, with its stream."""
    X, y = samples(name, n)
    window = SlidingWindow(ESTIMATORS[name], max_samples=size, **parameters).fit(X[:30], y[:30])
    step(window, X, y, range(30, 30 + steps))
    return window, X, y


def step(window, X, y, rows):
    for k in rows:
        window.predict(X[k : k + 1])
        window.partial_fit(X[k : k + 1], y[k : k + 1])


def is_moving(window):
    return window._moving() is not None and window._moving().left is None


@pytest.fixture
def no_pause(monkeypatch):
    """Windows step on as soon as they can."""
    monkeypatch.setattr("gramian.stream._state.PAUSE", 0)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_step_equals_a_refit(name):
    window, X, y = moving(name)
    estimator = ESTIMATORS[name]
    method = "decision_function" if is_classifier(estimator) else "predict"
    atol = tolerance(25, updates=100, cond=3 * 25 / 0.1, power=1)
    for k in range(35, 80):
        fresh = clone(estimator).fit(window.X_fit_, window.y_fit_)
        assert is_moving(window)
        for q in (k, k - 3, k):
            query = X[q : q + 1]
            expected = getattr(fresh, method)(query)
            np.testing.assert_allclose(getattr(window, method)(query), expected, atol=atol)
            if is_classifier(estimator):
                assert window.predict(query).tolist() == fresh.predict(query).tolist()
        window.partial_fit(X[k : k + 1], y[k : k + 1])
        assert is_moving(window)
        np.testing.assert_array_equal(window.ids_, np.arange(k - 24, k + 1))
        np.testing.assert_array_equal(window.times_, window.ids_)
        np.testing.assert_array_equal(window.X_fit_, X[k - 24 : k + 1])
        np.testing.assert_array_equal(window.y_fit_, y[k - 24 : k + 1])
    assert_equals_refit(window, updates=110)
    assert window.estimator_.drift() < 1e-12
    model = window.estimator_
    np.testing.assert_allclose(
        model.loo_decision_function(), model.refitted().loo_decision_function(), atol=1e-10
    )


@pytest.mark.parametrize("size", [25, 250])
def test_after_many_steps_it_is_a_refit(size):
    """Updates of the larger one are deferred; both have been checked a few times."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500 + size, 3))
    y = X[:, 0] + np.sin(2 * X[:, 1])
    window = SlidingWindow(ESTIMATORS["lssvr"], max_samples=size).fit(X[:size], y[:size])
    step(window, X, y, range(size, len(X)))
    fresh = clone(ESTIMATORS["lssvr"]).fit(X[-size:], y[-size:])
    np.testing.assert_allclose(window.predict(X[:50]), fresh.predict(X[:50]), atol=1e-11)
    assert window.estimator_.drift() < 1e-12
    assert window.estimator_.rebuilds_ == []


def test_labels_of_each_kind():
    X, labels, _ = make_stream()
    for y in (labels == "a", (labels == "a").astype(int), (labels == "a").astype(np.int8), labels):
        window = SlidingWindow(ESTIMATORS["kda"], max_samples=20).fit(X[:30], y[:30])
        step(window, X, y, range(30, 60))
        assert is_moving(window)
        assert window.y_fit_.dtype == y.dtype
        assert_equals_refit(window, updates=60)


def test_a_class_may_leave_and_come_back():
    X, labels, _ = make_stream(n=90)
    y = np.where(np.arange(90) % 45 < 20, labels, "a")  # for a while none of the other class comes
    window = SlidingWindow(ESTIMATORS["kda"], max_samples=20).fit(X[:20], y[:20])
    known = []
    for k in range(20, 90):
        window.partial_fit(X[k : k + 1], y[k : k + 1])
        known.append(window.__sklearn_is_fitted__())
        if known[-1]:
            assert set(window.estimator_.classes_) == {"a", "b"}
    assert not all(known)
    assert known[-1] is False
    window.partial_fit(X[:1], ["b"])
    assert_equals_refit(window, updates=20)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("most", [60, None])
def test_a_window_that_fills_steps_on(name, most):
    X, y = samples(name)
    window = SlidingWindow(ESTIMATORS[name], max_samples=most).fit(X[:30], y[:30])
    for k in range(30, 80):
        step(window, X, y, range(k, k + 1))
        assert is_moving(window)
        assert window._count() == len(window.ids_) == min(k + 1, most or k + 1)
        np.testing.assert_array_equal(window.y_fit_, y[: k + 1][-(most or 80) :])
    assert_equals_refit(window, updates=100)
    model = window.estimator_
    np.testing.assert_allclose(
        model.loo_decision_function(), model.refitted().loo_decision_function(), atol=1e-10
    )


def test_a_window_outgrows_its_room():
    X, _, y = make_stream(n=300)
    window = SlidingWindow(ESTIMATORS["lssvr"]).fit(X[:30], y[:30])
    moved = 0
    for k in range(30, 300):
        step(window, X, y, range(k, k + 1))
        moved += is_moving(window)
    assert moved > 255
    assert_equals_refit(window, updates=300)


def test_a_model_that_is_read_after_every_step_does_not_move():
    X, y = samples("kda", n=110)
    window = SlidingWindow(ESTIMATORS["kda"], max_samples=25).fit(X[:30], y[:30])
    moved = []
    for k in range(30, 90):
        window.predict(X[:5])
        window.partial_fit(X[k : k + 1], y[k : k + 1])
        moved.append(is_moving(window))
    assert 2 <= sum(moved) <= 60 // 16 + 1
    step(window, X, y, range(90, 110))
    assert is_moving(window)
    assert_equals_refit(window, updates=160)


def test_balanced_weights_go_the_long_way():
    X, y, _ = make_stream()
    estimator = LeastSquaresSVC(gamma=0.5, C=10.0, class_weight="balanced")
    window = SlidingWindow(estimator, max_samples=20).fit(X[:30], y[:30])
    step(window, X, y, range(30, 60))
    assert window._moving() is None
    assert_equals_refit(window, updates=60)


@pytest.mark.parametrize(
    ("estimator", "moves"),
    [
        (LeastSquaresSVR("linear", C=1.0), False),
        (LeastSquaresSVR(gamma=0.5, C=10.0, factor="cholesky"), False),
        (LeastSquaresSVR(gamma=0.01, C=1e5), False),
        (LeastSquaresSVR(gamma="loo", C=10.0), True),
    ],
)
def test_other_estimators_of_numbers(estimator, moves):
    X, _, y = make_stream()
    window = SlidingWindow(estimator, max_samples=20).fit(X[:30], y[:30])
    step(window, X, y, range(30, 60))
    assert is_moving(window) is moves
    model = window.estimator_
    fresh = model.refitted()
    np.testing.assert_array_equal(model.ids_, window.ids_)
    np.testing.assert_allclose(window.predict(X), fresh.predict(X), atol=1e-7)


@pytest.mark.parametrize("name", ["kda", "lssvr"])
def test_other_arrays_go_the_long_way(name):
    """Lists, tables of several rows, single precision and integers are learned as ever."""
    window, X, y = moving(name)
    for k, (new, target) in enumerate(
        [
            (X[35:36].tolist(), y[35:36].tolist()),
            (X[36:38], y[36:38]),
            (X[38:39].astype(np.float32), y[38:39]),
            (X[39:40], y[39:40].tolist()),
        ]
    ):
        window.partial_fit(new, target)
        assert window.ids_[-1] == (35, 37, 38, 39)[k]
        step(window, X, y, range(40, 42))
        window = SlidingWindow(ESTIMATORS[name], max_samples=25).fit(X[:30], y[:30])
        step(window, X, y, range(30, (36, 38, 39, 40)[k]))
    assert len(window.predict(X)) == len(X)


def test_numbers_that_are_no_numbers_are_refused():
    window, X, y = moving("lssvr")
    before, values = window.ids_, window.predict(X)
    step(window, X, y, range(35, 37))
    for bad, target, match in (
        (np.full((1, 3), np.nan), y[:1], "NaN"),
        (np.array([[np.inf, 0.0, 0.0]]), y[:1], "infinity"),
        (X[:1, :2], y[:1], "features"),
        (X[:1], np.array([np.nan]), "NaN"),
        (X[:1], y[:2], "inconsistent"),
    ):
        with pytest.raises(ValueError, match=match):
            window.partial_fit(bad, target)
        step(window, X, y, range(37, 38))
    with pytest.raises(ValueError, match="NaN"):
        window.predict(np.full((1, 3), np.nan))
    with pytest.raises(ValueError, match="times go with max_age"):
        window.partial_fit(X[:1], y[:1], times=[3])
    assert window.ids_[-1] == before[-1] + 7
    assert len(values) == len(X)
    assert_equals_refit(window, updates=20)


def test_a_sample_that_repeats_another_is_learned_the_long_way():
    window, X, y = moving("lssvr")
    window.set_params(estimator=LeastSquaresSVR(gamma=20.0, C=1e6)).fit(X[:30], y[:30])
    step(window, X, y, range(30, 33))
    assert is_moving(window)
    window.partial_fit(X[32:33], y[32:33])
    assert not is_moving(window)
    step(window, X, y, range(33, 36))
    fresh = clone(window.estimator).fit(window.X_fit_, window.y_fit_)
    np.testing.assert_allclose(window.predict(X), fresh.predict(X), atol=1e-8)


@pytest.mark.usefixtures("no_pause")
def test_a_third_class_may_come():
    window, X, y = moving("lssvc")
    window.partial_fit(X[35:36], np.array(["c"]))
    assert window.estimator_.classes_.tolist() == ["a", "b", "c"]
    step(window, X, y, range(36, 59))
    assert is_moving(window)
    assert_equals_refit(window, updates=60)
    step(window, X, y, range(59, 63))  # it has left
    assert window.estimator_.classes_.tolist() == ["a", "b"]
    step(window, X, y, range(63, 66))
    assert is_moving(window)
    assert_equals_refit(window, updates=60)


@pytest.mark.usefixtures("no_pause")
def test_a_model_that_was_taken_out_follows_the_window():
    window, X, y = moving("kda")
    model = window.estimator_
    for k in range(35, 40):
        step(window, X, y, range(k, k + 1))
        assert is_moving(window)
        np.testing.assert_array_equal(model.ids_, np.arange(k - 24, k + 1))
        assert window._moving() is not None  # the window does not know yet
        assert not is_moving(window)
    step(window, X, y, range(40, 43))
    assert "0.1" in repr(model)
    assert window.estimator_ is model
    step(window, X, y, range(43, 45))
    model.forget(model.ids_[3])  # behind its back
    step(window, X, y, range(45, 47))
    np.testing.assert_array_equal(np.sort(window.estimator_.ids_), window.ids_)
    assert_equals = clone(model).fit(window.X_fit_, window.y_fit_)
    np.testing.assert_allclose(
        window.decision_function(X), assert_equals.decision_function(X), atol=1e-10
    )


@pytest.mark.usefixtures("no_pause")
def test_parameters_may_change_on_the_way():
    window, X, y = moving("lssvr")
    window.set_params(max_samples=22)
    step(window, X, y, range(35, 37))
    assert len(window.ids_) == 22
    window.set_params(max_samples=24, min_samples=3)
    step(window, X, y, range(37, 42))
    assert len(window.ids_) == 24
    assert is_moving(window)
    assert_equals_refit(window, updates=20)


@pytest.mark.parametrize("every", [7, "alarm"])
def test_choices_are_made_as_often_as_without_steps(every, monkeypatch):
    X, y = samples("lssvr")
    estimator = LeastSquaresSVR(gamma="loo", C=10.0, random_state=0)
    window = SlidingWindow(estimator, max_samples=24, reselect_every=every).fit(X[:30], y[:30])
    slow = copy.deepcopy(window)
    monkeypatch.setattr(slow, "_step", lambda X, y: False)
    moved = 0
    for k in range(30, 80):
        for one in (window, slow):
            step(one, X, y, range(k, k + 1))
        moved += is_moving(window)
        assert window._moving() is None or window._moving().steps < 7
        assert vars(slow)["_state"].selected_at == vars(window)["_state"].selected_at
    assert moved > 20
    assert window.estimator_.gamma_ == slow.estimator_.gamma_


def test_copies_and_files_of_a_moving_window(tmp_path):
    window, X, y = moving("kda")
    values = window.decision_function(X[:1])
    for other in (pickle.loads(pickle.dumps(window)), copy.deepcopy(window), copy.copy(window)):
        step(window, X, y, range(35, 38))
        np.testing.assert_allclose(other.decision_function(X[:1]), values, atol=1e-12)
        step(other, X, y, range(50, 55))
        assert other.ids_[-1] == 39
        assert_equals_refit(other, updates=20)
        assert window.ids_[-1] == 37
        np.testing.assert_array_equal(window.X_fit_[-3:], X[35:38])
        window, X, y = moving("kda")


def test_nothing_is_kept_of_a_sample_that_left():
    window, _, _ = moving("kda", steps=40)
    model, inside = window._moving(), window._moving()._system
    held = np.zeros(len(model._X), dtype=bool)
    held[inside.slots] = True
    assert (model._X[~held] == np.inf).all()
    for array in (model._ids, model._targets._codes, model._targets.D):
        assert not array[~held].any()
    assert model._seen is None


def test_a_stream_is_judged_as_ever():
    X, y = samples("kda")
    window = SlidingWindow(ESTIMATORS["kda"], max_samples=25)
    found = prequential(window, zip(X, y, strict=True))
    assert is_moving(window)
    expected = []
    for k in range(20, 80):
        start = max(0, k - 25)
        fresh = clone(ESTIMATORS["kda"]).fit(X[start:k], y[start:k])
        expected.append(fresh.predict(X[k : k + 1])[0])
    assert found.y_pred.tolist() == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kda", "kda-weights-classes", "lssvr", "lssvr-targets"])
@pytest.mark.parametrize("what", ["step", "fill", "read", "check"])
def test_an_interrupt_while_it_moves(name, what, monkeypatch):
    """The window is the one before or the one after, wherever the interrupt comes."""
    X, y = samples(name)
    estimator = ESTIMATORS[name]
    if what == "check":
        monkeypatch.setattr("gramian.core.gram._moving.CHECKED", 3)
    method = "decision_function" if is_classifier(estimator) else "predict"
    atol = tolerance(25, updates=20, cond=25 / 0.1, power=1)

    def act(window):
        if what == "read":
            window.estimator_.loo_score()
        else:
            step(window, X, y, range(35, 36))

    size = 36 if what == "fill" else 25
    for k in places(lines_of(partial(act, moving(name, size=size)[0])), most=40):
        window, _, _ = moving(name, size=size)
        assert is_moving(window)
        assert interrupted(partial(act, window), k)
        last = int(window.ids_[-1])
        assert last in (34, 35)
        np.testing.assert_array_equal(window.X_fit_, X[: last + 1][-size:])
        np.testing.assert_array_equal(window.y_fit_, y[: last + 1][-size:])
        for query in (X[:1], X):
            fresh = clone(estimator).fit(window.X_fit_, window.y_fit_)
            expected = getattr(fresh, method)(query)
            np.testing.assert_allclose(
                getattr(window, method)(query), expected, atol=atol, err_msg=f"line {k}"
            )
            step(window, X, y, range(36, 38))
        np.testing.assert_array_equal(window.ids_, window.estimator_.ids_)


# -- River ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kda", "lssvr"])
def test_a_river_model_steps_on(name):
    river = pytest.importorskip("gramian.stream._river")
    X, y = samples(name)
    kind = river.RiverClassifier if is_classifier(ESTIMATORS[name]) else river.RiverRegressor
    model = kind(ESTIMATORS[name], max_samples=25, reselect_every=None)
    for k in range(80):
        row = dict(zip("uvw", X[k].tolist(), strict=True)) | ({"old": 1.0} if k < 40 else {})
        if k > 40:
            start = k - 25
            old = (np.arange(start, k + 1) < 40).astype(float)
            Z = np.column_stack([X[start : k + 1], old])
            fresh = clone(ESTIMATORS[name]).fit(Z[:-1], y[start:k])
            expected = fresh.predict(Z[-1:])[0]
            found = model.predict_one(row)
            assert found == (
                expected if is_classifier(fresh) else pytest.approx(expected, abs=1e-9)
            )
        model.learn_one(row, y[k].item())
        assert ("old" in model._features.places) == (k < 64)  # until the last that has it leaves
    assert is_moving(model._window)
    inside = model._window.estimator_
    assert model._window._used_features().tolist() == [False, True, True, True]
    model.learn_one(dict.fromkeys("uvw", 0.5), y[0].item())
    assert len(inside.ids_) == 25  # which ends the steps, unseen by the window
    assert model._window._used_features().tolist() == [False, True, True, True]
