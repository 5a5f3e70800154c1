"""Draw docs/_figures/updating.svg: how a sample enters and leaves P. Run it without arguments.

The matrices are computed: eight samples on a line, an RBF kernel, one slot free.
"""

from pathlib import Path

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

RIDGE, FREE, LEAVING = 0.2, 3, 5
COLOURS = {"cmap": "PuOr_r", "vmin": -1.6, "vmax": 1.6}


def main():
    x = np.linspace(0, 4, 8)
    A = np.exp(-((x[:, None] - x) ** 2)) + RIDGE * np.eye(8)
    before = inverse(A, without=[FREE])
    entering = enter(before, A, FREE)
    between = before + entering
    leaving = -np.outer(between[LEAVING], between[LEAVING]) / between[LEAVING, LEAVING]
    after = between + leaving
    np.testing.assert_allclose(between, inverse(A, without=[]), atol=1e-12)
    np.testing.assert_allclose(after, inverse(A, without=[LEAVING]), atol=1e-12)

    plt.rcParams.update({"svg.hashsalt": "gramian", "svg.fonttype": "path", "font.size": 11})
    figure, axes = plt.subplots(2, 3, figsize=(7.6, 5.0))
    figure.subplots_adjust(left=0.13, right=0.99, top=0.93, bottom=0.01, wspace=0.28, hspace=0.2)
    draw_row(
        axes[0],
        "partial_fit",
        [
            ("$P$, with a free slot", before, FREE, ""),
            ("$u\\,u^T/\\,c$", entering, None, "+"),
            ("$P$ with the new sample", between, None, "="),
        ],
    )
    draw_row(
        axes[1],
        "forget",
        [
            ("$P$", between, None, ""),
            ("$p\\,p^T/\\,p_i$", -leaving, None, "−"),
            ("$P$ without sample $i$", after, LEAVING, "="),
        ],
    )
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None, "Creator": None})


def inverse(A, without):
    """P by slot: zero rows and columns where there is no sample."""
    held = np.setdiff1d(np.arange(len(A)), without)
    P = np.zeros_like(A)
    P[np.ix_(held, held)] = np.linalg.inv(A[np.ix_(held, held)])
    return P


def enter(P, A, slot):
    """The rank-one matrix that lets a sample into a free slot."""
    k = np.where(np.arange(len(A)) == slot, 0.0, A[slot])
    u = P @ k
    schur = A[slot, slot] - k @ u
    u[slot] = -1.0
    return np.outer(u, u) / schur


def draw_row(axes, name, panels):
    for axis, (title, matrix, empty, sign) in zip(axes, panels, strict=True):
        shown = np.sign(matrix) * np.sqrt(np.abs(matrix))  # small entries should be seen too
        axis.pcolormesh(shown, edgecolors="white", linewidth=1.0, **COLOURS)
        axis.set(aspect="equal", xticks=[], yticks=[])
        axis.invert_yaxis()
        axis.set_title(title, fontsize=12)
        axis.spines[:].set_visible(False)
        axis.text(-0.15, 0.5, sign, transform=axis.transAxes, fontsize=20, ha="center", va="center")
        if empty is not None:
            outline_slot(axis, empty, len(matrix))
    axes[0].text(
        -0.3, 0.5, name, transform=axes[0].transAxes, rotation=90, ha="center", va="center",
        family="monospace", fontsize=12,
    )  # fmt: skip


def outline_slot(axis, slot, n):
    """A row and a column of zeros."""
    for corner, width, height in [((slot, 0), 1, n), ((0, slot), n, 1)]:
        axis.add_patch(Rectangle(corner, width, height, fill=False, ls=":", lw=1.2, ec="0.3"))


if __name__ == "__main__":
    main()
