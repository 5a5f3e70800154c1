"""What every display shares."""

import subprocess
import sys

import matplotlib.pyplot as plt
import pytest

from gramian.plots import DriftDisplay
from gramian.plots._display import COLORS, MARKERS, Display, class_color, class_marker


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
