"""
Which sample to label next
==========================

If few samples have labels and many do not, some labels are worth more than others. For each
candidate and each label that it could have, the leave-one-out error of the model with it is known
in closed form.
"""

# %%
# Eight labelled samples, and a pool.
import matplotlib.pyplot as plt
import numpy as np

from gramian import LeastSquaresSVC
from gramian.data import labelling_curve, suggest
from gramian.datasets import make_banana
from gramian.plots import CurveDisplay

X, y = make_banana(1000, noise=0.2, random_state=1)
first = np.concatenate([np.flatnonzero(y == c)[:4] for c in (-1, 1)])
rest = np.setdiff1d(np.arange(200), first)
model = LeastSquaresSVC(gamma=1.0, C=10.0).fit(X[first], y[first])

# %%
# The next five, by two strategies. A batch spreads out, because each chosen sample is
# learned with its predicted label before the next one is chosen.
_, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
for ax, strategy in zip(axes, ("expected-error", "uncertainty", "variance"), strict=True):
    chosen = rest[suggest(model, X[rest], 5, strategy=strategy).positions]
    ax.plot(*X[rest].T, ".", color="#BBBBBB")
    for label, color in ((-1, "#0072B2"), (1, "#E69F00")):
        ax.plot(*X[first][y[first] == label].T, "o", color=color)
    ax.plot(*X[chosen].T, "o", markersize=11, markerfacecolor="none", color="#D55E00")
    ax.set(title=strategy, xticks=[], yticks=[])
plt.show()

# %%
# The test error with each strategy, compared with samples chosen at random.
test = slice(200, None)
curves = {
    strategy: labelling_curve(
        model, X[rest], y[rest], X[test], y[test], k=30, strategy=strategy, random_state=0
    )
    for strategy in ("random", "expected-error", "uncertainty", "variance")
}
CurveDisplay.from_curves(curves)
plt.show()
