"""Draw docs/_figures/how_sure.svg: where a model of numbers is sure, and where one of classes is.

Run it without arguments.
"""

from pathlib import Path

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import make_moons

from gramian import KernelDiscriminant, LeastSquaresSVR

CONFIDENCE, MODELS = 0.9, 40
BLUE, ORANGE, BOTH, NONE = "#9dc6e0", "#f3cf8e", "#8a6fae", "#ffffff"
COLOURS = {"local": "#0072B2", "constant": "#E69F00"}


def main():
    plt.rcParams.update({"svg.hashsalt": "gramian", "svg.fonttype": "path", "font.size": 10})
    figure, axes = plt.subplots(1, 3, figsize=(11.5, 3.9), layout="constrained")
    draw_intervals(axes[0])
    draw_coverage(axes[1])
    model = KernelDiscriminant(gamma=1.0, ridge=1.0)
    draw_sets(axes[2], model.fit(*make_moons(250, noise=0.35, random_state=0)))
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None, "Creator": None})


def curve(rng, n):
    """A sine whose noise grows along x."""
    x = rng.uniform(0, 6, (n, 1))
    return x, np.sin(x[:, 0]) + 0.12 * x[:, 0] * rng.standard_normal(n)


def fitted(rng):
    return LeastSquaresSVR(gamma=0.5, C=3.0).fit(*curve(rng, 250))


def draw_intervals(ax):
    """Samples, and the intervals of both widths along x."""
    model, x = fitted(np.random.default_rng(0)), np.linspace(0, 6, 150)[:, None]
    ax.plot(model.X_fit_[:, 0], model.y_fit_, ".", color="#888888", markersize=3)
    low, high = model.predict_interval(x, CONFIDENCE, width="local").T
    ax.fill_between(x[:, 0], low, high, color=COLOURS["local"], alpha=0.25, label="follows x")
    for end in model.predict_interval(x, CONFIDENCE).T:
        ax.plot(x[:, 0], end, "--", color=COLOURS["constant"], label="constant")
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(handles[:2], labels[:2], loc="upper left", frameon=False)
    ax.set(xlabel=f"intervals at {CONFIDENCE:.0%}", yticks=[])


def draw_coverage(ax):
    """Coverage by fifths of x, on new samples of many models."""
    rng, found = np.random.default_rng(1), {"local": [], "constant": []}
    for _ in range(MODELS):
        model, (X, y) = fitted(rng), curve(rng, 250)
        place = np.minimum((X[:, 0] / 1.2).astype(int), 4)
        for width, rates in found.items():
            low, high = model.predict_interval(X, CONFIDENCE, "jackknife+", width).T
            inside = (low <= y) & (y <= high)
            rates.append([inside[place == k].mean() for k in range(5)])
    ax.axhline(CONFIDENCE, color="#999999", linestyle=":")
    for width, rates in found.items():
        name = {"local": "follows x", "constant": "constant"}[width]
        ax.plot(np.mean(rates, axis=0), "o-", color=COLOURS[width], label=name)
    ax.legend(loc="lower left", frameon=False)
    ax.set(ylim=(0.6, 1.01), ylabel="held the truth", xlabel="fifths of x")
    ax.set_xticks(range(5), ["quiet", "", "", "", "noisy"])


def draw_sets(ax, model):
    """The classes of the set at each point of the plane, and the samples."""
    X, y = model.X_fit_, model.y_fit_
    low, high = X.min(axis=0) - 0.2, X.max(axis=0) + 0.2
    grid = np.meshgrid(*(np.linspace(a, b, 90) for a, b in zip(low, high, strict=True)))
    sets = model.predict_set(np.column_stack([part.ravel() for part in grid]), 0.95)
    kind = (sets[:, 0] + 2 * sets[:, 1]).reshape(grid[0].shape)
    colours = ListedColormap([NONE, BLUE, ORANGE, BOTH])
    ax.pcolormesh(
        *grid, kind, cmap=colours, vmin=-0.5, vmax=3.5, shading="nearest", rasterized=True
    )
    for label, colour in zip(model.classes_, ("#0072B2", "#E69F00"), strict=True):
        ax.plot(
            *X[y == label].T,
            "o",
            color=colour,
            markersize=3,
            markeredgecolor="k",
            markeredgewidth=0.3,
        )
    for colour, words in ((BLUE, "one class"), (ORANGE, "the other"), (BOTH, "may be both")):
        ax.plot([], [], "s", color=colour, markersize=8, label=words)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.14), ncols=3, frameon=False, fontsize=9)
    ax.set(xticks=[], yticks=[], xlabel="sets of classes at 95%")


if __name__ == "__main__":
    main()
