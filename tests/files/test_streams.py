"""Windows and models for River in files: they go on where they were."""

import os
import stat
from datetime import datetime, timedelta

import numpy as np
import pytest

import gramian
from gramian import KernelDiscriminant, LeastSquaresSVR
from gramian.files import ModelFileError, fingerprint
from gramian.stream import SlidingWindow

KDA = KernelDiscriminant(gamma=0.5, ridge=0.1)
SVR = LeastSquaresSVR(gamma=0.5, C=10.0)


def samples(n=60):
    X = np.random.default_rng(0).standard_normal((n, 3))
    return X, np.where(X[:, 0] > 0, "up", "down"), X[:, 0] * X[:, 1]


@pytest.mark.parametrize("kind", ["labels", "numbers", "datetimes", "no model yet"])
def test_window_goes_on(kind, tmp_path):
    X, labels, numbers = samples()
    y = numbers if kind == "numbers" else labels
    window = SlidingWindow(SVR if kind == "numbers" else KDA, max_samples=30)
    times = None
    if kind == "datetimes":
        window = SlidingWindow(KDA, max_age=timedelta(hours=30))
        times = [datetime(2024, 1, 1) + i * timedelta(hours=1) for i in range(60)]
    start = 10 if kind == "no model yet" else 40
    window.partial_fit(X[:start], y[:start], **({} if times is None else {"times": times[:start]}))
    gramian.save(window, tmp_path / "w")
    twin = gramian.load(tmp_path / "w")
    assert fingerprint(twin) == fingerprint(window)
    for each in (window, twin):
        each.partial_fit(
            X[start:], y[start:], **({} if times is None else {"times": times[start:]})
        )
    np.testing.assert_array_equal(twin.ids_, window.ids_)
    np.testing.assert_array_equal(twin.times_, window.times_)
    if kind == "numbers":
        np.testing.assert_allclose(twin.predict(X), window.predict(X), atol=1e-12)
    else:
        np.testing.assert_array_equal(twin.predict(X), window.predict(X))


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_file_of_a_window_is_private(tmp_path):
    X, y, _ = samples()
    gramian.save(SlidingWindow(KDA).partial_fit(X, y), tmp_path / "w")
    assert stat.S_IMODE((tmp_path / "w").stat().st_mode) == 0o600


def test_unsound_window_is_refused():
    X, y, _ = samples()
    window = SlidingWindow(KDA, max_samples=30).partial_fit(X, y)
    from gramian.files._validate import check_parameters, check_state

    state = window._get_state()
    for change in (
        {"ids": state["ids"][::-1].copy()},
        {"next_id": 5},
        {"times": state["times"][:-1]},
        {"dated": None},
        {"estimator_": SVR},
        {"X": state["X"][:, :2]},
    ):
        with pytest.raises(ModelFileError, match="holds no valid model"):
            check_state(window, {**state, **change})
    for bad in ({"max_samples": 0}, {"max_age": -1.0}, {"estimator": None}):
        with pytest.raises(ModelFileError, match="holds no valid model"):
            check_parameters(SlidingWindow(**{"estimator": KDA, **bad}))


def test_river(tmp_path):
    pytest.importorskip("river")
    from gramian.stream import RiverClassifier, RiverRegressor

    X, labels, numbers = samples()
    for model, y in ((RiverClassifier(KDA, 30), labels), (RiverRegressor(SVR, 30), numbers)):
        for x, target in zip(X[:40], y.tolist(), strict=False):
            model.learn_one({"a": x[0], "b": x[1], 3: x[2]}, target)
        gramian.save(model, tmp_path / "r")
        twin = gramian.load(tmp_path / "r")
        for x, target in zip(X[40:], y[40:].tolist(), strict=True):
            row = {"a": x[0], "b": x[1], 3: x[2]}
            found, expected = twin.predict_one(row), model.predict_one(row)
            assert found == (expected if y is labels else pytest.approx(expected, rel=1e-9))
            model.learn_one(row, target)
            twin.learn_one(row, target)
