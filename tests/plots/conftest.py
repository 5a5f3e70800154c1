"""Figures are drawn without a screen and closed after each test."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra: plot)")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


def make_samples(n=40, *, classes=2, features=2, seed=0):
    """Overlapping classes, as strings, and a response."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, features))
    response = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.standard_normal(n)
    labels = np.argsort(np.argsort(response)) * classes // n
    return X, np.array(["a", "b", "c"])[labels], response


def draw(display):
    """Render it, so that nothing is left to fail later."""
    display.figure_.canvas.draw()
    return display
