"""The path of a search, line by line."""

import numpy as np
import pytest

from gramian import KernelDiscriminant, LeastSquaresSVR
from gramian.plots import SelectionPathDisplay
from tests.plots.conftest import draw, make_samples


def curves(display):
    """Lines with data, less the ring of the chosen setting."""
    lines = [line for line in display.ax_.get_lines() if len(line.get_xdata())]
    ring = next(line for line in lines if line.get_label().startswith("chosen"))
    return [line for line in lines if line is not ring], ring


def test_one_line_per_width():
    X, y, _ = make_samples()
    model = KernelDiscriminant().fit(X, y)
    selection = model.selection_
    display = draw(SelectionPathDisplay.from_estimator(model))
    lines, ring = curves(display)
    assert len(lines) == len(np.unique(selection.gammas))
    drawn = np.concatenate([line.get_ydata() for line in lines])
    np.testing.assert_array_equal(np.sort(drawn), np.sort(selection.values))
    for line in lines:
        assert np.all(np.diff(line.get_xdata()) >= 0)
    np.testing.assert_array_equal(ring.get_xydata(), [[selection.ridge, selection.value]])
    assert display.ax_.get_xlabel() == "ridge λ"
    assert display.ax_.get_ylabel() == "leave-one-out log-loss"
    assert f"ridge {model.ridge_:.2g}" in ring.get_label()
    assert len(display.figure_.axes) == 2  # with the scale of widths


def test_first_stage_is_dashed():
    X, y, _ = make_samples(n=450)
    model = KernelDiscriminant(random_state=0).fit(X, y)
    assert set(model.selection_.stages) == {"subsample", "all samples"}
    lines, _ = curves(draw(SelectionPathDisplay.from_estimator(model)))
    assert {line.get_linestyle() for line in lines} == {"-", "--"}


def test_over_widths_where_the_ridge_is_given():
    X, y, _ = make_samples()
    model = KernelDiscriminant(ridge=0.1).fit(X, y)
    display = draw(SelectionPathDisplay.from_estimator(model))
    (line,), ring = curves(display)
    np.testing.assert_array_equal(line.get_xdata(), np.sort(model.selection_.gammas))
    np.testing.assert_array_equal(ring.get_xdata(), [model.gamma_])
    assert display.ax_.get_xlabel() == "width gamma"


def test_kernels_without_a_width():
    X, y, _ = make_samples()
    model = KernelDiscriminant(kernel="linear").fit(X, y)
    display = draw(SelectionPathDisplay.from_estimator(model))
    (line,), ring = curves(display)
    assert len(line.get_xdata()) == len(model.selection_.ridges)
    assert "gamma" not in ring.get_label()
    assert len(display.figure_.axes) == 1


def test_squared_errors_have_a_logarithmic_axis():
    X, _, response = make_samples()
    display = draw(SelectionPathDisplay.from_estimator(LeastSquaresSVR().fit(X, response)))
    assert display.ax_.get_yscale() == "log"
    assert display.ax_.get_ylabel() == "leave-one-out squared error"


def test_one_width_per_feature():
    """Steps of a descent are points, placed by the geometric mean of their widths."""
    X, y, _ = make_samples()
    model = KernelDiscriminant(metric="ard", random_state=0).fit(X, y)
    lines, ring = curves(draw(SelectionPathDisplay.from_estimator(model)))
    assert any(line.get_marker() == "o" for line in lines)
    np.testing.assert_array_equal(ring.get_xdata(), [model.ridge_])


def test_nothing_was_searched():
    X, y, _ = make_samples()
    model = KernelDiscriminant(gamma=0.5, ridge=0.1)
    for candidate in (model, model.fit(X, y)):
        with pytest.raises(ValueError, match="KernelDiscriminant has no searched path"):
            SelectionPathDisplay.from_estimator(candidate)
