"""Records of drift and their figure."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from gramian import KernelDiscriminant
from gramian.plots import DriftDisplay, DriftRecorder
from tests.plots.conftest import draw, make_samples


def make_recorder():
    X, y, _ = make_samples()
    model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X[:30], y[:30])
    return DriftRecorder(model), X, y


def test_edits_are_passed_on_and_measured():
    recorder, X, y = make_recorder()
    recorder.partial_fit(X[30:33], y[30:33], ids=[100, 101, 102])
    recorder.forget([0, 101])
    assert set(recorder.model.ids_) == {*range(1, 30), 100, 102}
    np.testing.assert_array_equal(recorder.edits, [0, 3, 5])
    assert recorder.drift[-1] == recorder.model.drift()
    assert recorder.rebuilt == []


def test_edits_made_elsewhere():
    recorder, X, y = make_recorder()
    recorder.model.partial_fit(X[30:], y[30:])
    recorder.record(10)
    recorder.record()
    np.testing.assert_array_equal(recorder.edits, [0, 10, 10])


def test_rebuildings_are_noted_with_their_reason():
    recorder, _, _ = make_recorder()
    recorder.model.rebuild()
    recorder.forget(3)
    recorder.forget(4)
    assert recorder.rebuilt == [(1, "asked for")]
    display = draw(DriftDisplay.from_recorder(recorder))
    curve, marks = display.ax_.get_lines()
    np.testing.assert_array_equal(curve.get_xdata(), [0, 1, 2])
    np.testing.assert_array_equal(marks.get_xdata(), [1])
    assert marks.get_label() == "factor rebuilt (1 ×)"


def test_a_residual_of_zero_is_a_gap():
    display = draw(DriftDisplay(np.arange(3), np.array([1e-16, 0.0, 1e-15])).plot())
    (curve,) = display.ax_.get_lines()
    np.testing.assert_array_equal(np.isnan(curve.get_ydata()), [False, True, False])


def test_the_model_must_be_fitted():
    with pytest.raises(NotFittedError):
        DriftRecorder(KernelDiscriminant())
