"""Scores along a stream."""

import numpy as np
import pytest

from gramian.plots import PrequentialDisplay
from gramian.stream import Prequential
from tests.plots.conftest import draw


def make_result(metric="accuracy", window=5):
    scores = np.random.default_rng(0).integers(0, 2, 40).astype(float)
    steps = np.arange(10, 50)
    return Prequential(metric, window, 50, steps, np.ones(40), scores, scores)


def test_one_result():
    result = make_result()
    display = draw(PrequentialDisplay.from_results(result))
    recent, so_far = display.ax_.get_lines()
    np.testing.assert_array_equal(recent.get_xdata(), result.steps)
    np.testing.assert_array_equal(recent.get_ydata(), result.windowed)
    np.testing.assert_array_equal(so_far.get_ydata(), result.running)
    assert recent.get_label() == "last 5"
    assert display.ax_.get_ylabel().startswith("accuracy")


def test_several_results():
    results = {"short": make_result(), "long": make_result(window=20)}
    display = draw(PrequentialDisplay.from_results(results))
    labels = [line.get_label() for line in display.ax_.get_lines()]
    assert labels[0] == "short, last 5"
    assert labels[2] == "long, last 20"
    colors = [line.get_color() for line in display.ax_.get_lines()]
    assert colors[0] == colors[1] != colors[2]


def test_results_must_share_a_metric():
    results = {"a": make_result(), "b": make_result("squared error")}
    with pytest.raises(ValueError, match=r"one metric to share an axis, got \['accuracy', 'sq"):
        PrequentialDisplay.from_results(results)
