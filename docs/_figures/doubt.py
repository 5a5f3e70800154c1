"""Draw docs/_figures/doubt.svg: labels to doubt, and samples to label. Run it without arguments."""

from pathlib import Path

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import numpy as np

from gramian import LeastSquaresSVC
from gramian.data import label_issues, labelling_curve
from gramian.datasets import make_banana

BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#888888"
N, FLIPS, START, K, RUNS = 200, 20, 8, 30, 4


def main():
    plt.rcParams.update({"svg.hashsalt": "gramian", "svg.fonttype": "path", "font.size": 11})
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
    draw_doubts(axes[0])
    draw_strategies(axes[1])
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None, "Creator": None})


def draw_doubts(ax):
    X, y = make_banana(N, noise=0.15, random_state=0)
    wrong = np.random.default_rng(1).choice(N, FLIPS, replace=False)
    y[wrong] *= -1
    model = LeastSquaresSVC(gamma=1.0, C=1.0).fit(X, y)
    doubted = label_issues(model, top=FLIPS).ids
    for label, color, marker in ((-1, BLUE, "o"), (1, ORANGE, "s")):
        mine = y == label
        ax.scatter(*X[mine].T, color=color, marker=marker, s=26, linewidths=0)
    ax.scatter(*X[wrong].T, color="black", marker="x", s=34, label="label was flipped")
    ring = {"facecolors": "none", "edgecolors": RED, "s": 150, "linewidths": 1.6}
    ax.scatter(*X[doubted].T, **ring, label="the model without it doubts it")
    found = np.isin(doubted, wrong).sum()
    ax.set_title(f"{found} of {FLIPS} wrong labels, found by the model itself", fontsize=11)
    ax.legend(loc="lower left", frameon=False, bbox_to_anchor=(0.0, -0.18), ncols=2)
    ax.set(xticks=[], yticks=[])


def draw_strategies(ax):
    for strategy, color, words in (
        ("random", GREY, "at random"),
        ("variance", GREEN, "largest variance"),
        ("uncertainty", ORANGE, "most uncertain"),
        ("expected-error", RED, "least expected error"),
    ):
        losses = np.mean([labelled(seed, strategy) for seed in range(RUNS)], axis=0)
        ax.plot(START + np.arange(K + 1), 100 * losses, color=color, label=words, linewidth=2)
    ax.set_title("Which sample to label next", fontsize=11)
    ax.set_xlabel("labelled samples")
    ax.set_ylabel("test error (%)")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)


def labelled(seed, strategy):
    X, y = make_banana(1200, noise=0.15, random_state=seed)
    first = np.concatenate([np.flatnonzero(y == c)[: START // 2] for c in (-1, 1)])
    rest = np.setdiff1d(np.arange(300), first)
    model = LeastSquaresSVC(gamma=1.0, C=10.0).fit(X[first], y[first])
    test = X[300:], y[300:]
    curve = labelling_curve(
        model, X[rest], y[rest], *test, k=K, strategy=strategy, random_state=seed
    )
    return curve.losses


if __name__ == "__main__":
    main()
