"""What every display shares."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

from gramian import KernelDiscriminant
from gramian.plots import DriftDisplay, LeaveOneOutBoundaryDisplay
from gramian.plots._display import COLORS, MARKERS, Display, class_color, class_marker, label_text
from gramian.plots._svg import draw_svg


def test_axes_are_made_or_taken():
    display = Display()
    made = display._begin(None)
    assert display.ax_ is made
    assert tuple(display.figure_.get_size_inches()) == (6.0, 4.0)
    figure, ax = plt.subplots()
    assert display._begin(ax) is ax
    assert display.figure_ is figure


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'needs matplotlib: pip install "gramian\[plot\]"'):
        DriftDisplay([0, 1], [1e-16, 1e-15]).plot()


def test_importing_loads_neither_matplotlib_nor_river():
    code = (
        "import sys, gramian.plots, gramian.stream; "
        "sys.exit(any(name in sys.modules for name in ('matplotlib', 'river')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_colours_and_markers_repeat():
    assert class_color(len(COLORS)) == COLORS[0]
    assert class_marker(len(MARKERS) + 1) == MARKERS[1]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cat", "cat"),
        ("$\\frac{", r"\$\frac{"),
        ("a$b$", r"a\$b\$"),
        ("_x", " _x"),
        ("\x1b\u202e", r"\x1b\u202e"),
        (3, "3"),
        ("a" * 100, "a" * 39 + "…"),
    ],
)
def test_names_from_the_data_are_text(name, expected):
    from matplotlib.cbook import is_math_text

    assert label_text(name) == expected
    assert not is_math_text(label_text(name))


def test_labels_that_look_like_formulas_are_drawn():
    X = np.random.default_rng(0).standard_normal((20, 2))
    labels = np.array(["_$\\frac{", "_$x^"])[(X[:, 0] > 0).astype(int)]
    model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, labels)
    draw_svg(lambda f: LeaveOneOutBoundaryDisplay.from_estimator(model, ax=f.subplots()), (6, 4))
