"""Draw docs/_figures/how_sure.svg: where one class fits, where two, and how often that is right.

Run it without arguments.
"""

from pathlib import Path

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import make_moons

from gramian import KernelDiscriminant
from gramian.core.equations import accepted

CONFIDENCE, CONFIDENCES = 0.95, np.linspace(0.5, 0.98, 13)
BLUE, ORANGE, BOTH, NONE = "#9dc6e0", "#f3cf8e", "#8a6fae", "#ffffff"


def main():
    model = KernelDiscriminant(gamma=1.0, ridge=1.0).fit(*draw(250, 0))
    plt.rcParams.update({"svg.hashsalt": "gramian", "svg.fonttype": "path", "font.size": 10})
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 4.0), layout="constrained")
    draw_sets(left, model)
    draw_coverage(right, np.concatenate([p_values(seed) for seed in range(1, 101)]))
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None, "Creator": None})


def draw(n, seed):
    """Two half moons with so much noise that they overlap."""
    return make_moons(n, noise=0.35, random_state=seed)


def p_values(seed):
    """Of the true classes of 20 new samples, by a model of 250 others."""
    X, y = draw(270, seed)
    model = KernelDiscriminant(gamma=1.0, ridge=1.0).fit(X[:250], y[:250])
    return model.p_values(X[250:])[np.arange(20), y[250:]]


def draw_sets(ax, model):
    """The classes of the set at each point of the plane, and the samples."""
    X, y = model.X_fit_, model.y_fit_
    low, high = X.min(axis=0) - 0.2, X.max(axis=0) + 0.2
    grid = np.meshgrid(*(np.linspace(a, b, 90) for a, b in zip(low, high, strict=True)))
    sets = model.predict_set(np.column_stack([part.ravel() for part in grid]), CONFIDENCE)
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
        ax.plot([], [], "s", color=colour, markersize=9, label=words)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.14), ncols=3, frameon=False)
    ax.set(xticks=[], yticks=[], xlabel=f"sets at {CONFIDENCE:.0%}")


def draw_coverage(ax, p):
    """Asked for, and seen on new samples."""
    seen = [accepted(p, c).mean() for c in CONFIDENCES]
    ax.plot([0.5, 1.0], [0.5, 1.0], color="#999999", linestyle=":")
    ax.plot(CONFIDENCES, seen, "o-", color="#0072B2", markersize=4)
    ax.set(
        xlabel="asked for",
        ylabel="held the truth, of 2,000 new samples",
        xlim=(0.48, 1.0),
        ylim=(0.48, 1.0),
    )


if __name__ == "__main__":
    main()
