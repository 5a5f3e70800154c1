"""Draw docs/_figures/accuracy.svg from docs/benchmarks/mixed_tables.json.

Run it without arguments after ``python -m evidence bench mixed_tables``.
"""

import json
from pathlib import Path

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt

HERE = Path(__file__)
OURS, PEER = "stack", "CatBoost"
PANELS = {
    "Test error (%)": ("classes: test error (%)", [0.5, 1, 2, 5, 10, 20, 50]),
    "Unexplained share of the test variance": (
        "numbers: unexplained variance (%)",
        [1, 2, 5, 10, 20, 50, 100],
    ),
}


def main():
    plt.rcParams.update({"svg.hashsalt": "gramian", "svg.fonttype": "path", "font.size": 11})
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.9), layout="constrained")
    for ax, (caption, (title, ticks)) in zip(axes, PANELS.items(), strict=True):
        draw(ax, read(caption), title, ticks)
    axes[0].legend(loc="upper left", fontsize=9, frameon=False, handletextpad=0.2)
    figure.savefig(HERE.with_suffix(".svg"), metadata={"Date": None, "Creator": None})


def read(caption):
    """Ours, the peer's and whether nothing was tried on it, of every table, in per cent."""
    page = json.loads((HERE.parents[1] / "benchmarks" / "mixed_tables.json").read_text())
    table = next(t for t in page["tables"] if t["caption"] == caption)
    ours, peer = (table["columns"].index(name) for name in (OURS, PEER))
    unit = 1.0 if "%" in caption else 100.0
    return [
        (unit * row[ours], unit * row[peer], not row[0].endswith("*"))
        for row in table["rows"]
        if row[ours] is not None and row[peer] is not None
    ]


def draw(ax, points, title, ticks):
    """Ours against the peer's: below the diagonal, ours is the smaller one."""
    values = [value for point in points for value in point[:2]]
    ends = [min(values) * 0.7, max(values) * 1.4]
    ax.fill_between(ends, ends[0], ends, color="#0072B2", alpha=0.08, linewidth=0)
    ax.plot(ends, ends, color="#999999", linestyle=":")
    for new, face, label in (
        (True, "#0072B2", "nothing tried on it"),
        (False, "white", "tried on"),
    ):
        some = [point[:2] for point in points if point[2] == new]
        if some:
            ours, peer = zip(*some, strict=True)
            ax.loglog(peer, ours, "o", color="#0072B2", mfc=face, ms=5, label=label)
    ax.set(xlim=ends, ylim=ends, xlabel=PEER, ylabel="stack of kernels", aspect="equal")
    ax.set_title(title, fontsize=11)
    shown = [tick for tick in ticks if ends[0] < tick < ends[1]]
    ax.set(xticks=shown, xticklabels=shown, yticks=shown, yticklabels=shown)
    ax.minorticks_off()


if __name__ == "__main__":
    main()
