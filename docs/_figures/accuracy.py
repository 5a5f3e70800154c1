"""Draw docs/_figures/accuracy.svg from docs/benchmarks/selection.json and selection_times.json.

Run it without arguments after ``python -m evidence bench selection selection_times``.
"""

import json
from pathlib import Path

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt

HERE = Path(__file__)
OURS, PEER = "KernelDiscriminant", "GridSearchCV(SVC)"


def main():
    plt.rcParams.update({"svg.hashsalt": "gramian", "svg.fonttype": "path", "font.size": 11})
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.6), layout="constrained")
    errors = read("selection", OURS, PEER)
    seconds = read("selection_times", f"{OURS} (s)", f"{PEER} (s)")
    draw(axes[0], errors, "test error (%)", [2, 5, 10, 20])
    draw(axes[1], seconds, "fit with tuning (s)", [0.1, 1, 10])
    figure.savefig(HERE.with_suffix(".svg"), metadata={"Date": None, "Creator": None})


def read(name, *columns):
    """Pairs of numbers of the rows that are data sets."""
    table = json.loads((HERE.parents[1] / "benchmarks" / f"{name}.json").read_text())
    places = [table["columns"].index(column) for column in columns]
    rows = [row for row in table["rows"] if isinstance(row[1], int)]
    return [[float(str(row[j]).split(" ± ")[0]) for j in places] for row in rows]


def draw(ax, points, what, ticks):
    """Ours against the peer's: below the diagonal, ours is the smaller one."""
    ours, peer = zip(*points, strict=True)
    ends = [min(ours + peer) * 0.7, max(ours + peer) * 1.4]
    ax.fill_between(ends, ends[0], ends, color="#0072B2", alpha=0.08, linewidth=0)
    ax.plot(ends, ends, color="#999999", linestyle=":")
    ax.loglog(peer, ours, "o", color="#0072B2")
    ax.set(xlim=ends, ylim=ends, xlabel=PEER, ylabel=OURS, title=what, aspect="equal")
    ax.set(xticks=ticks, xticklabels=ticks, yticks=ticks, yticklabels=ticks)
    ax.minorticks_off()


if __name__ == "__main__":
    main()
