"""
A stream whose concept changes
==============================

A sliding window learns each new sample and forgets the oldest, each by an exact update. Short
windows recover fast from a change, long ones are better while nothing changes. Test-then-train
evaluation shows both.
"""

# %%
# Halfway through the stream, the boundary turns by 90 degrees.
import matplotlib.pyplot as plt
import numpy as np

from gramian import KernelDiscriminant
from gramian.plots import PrequentialDisplay
from gramian.stream import SlidingWindow, prequential

rng = np.random.default_rng(0)
X = rng.standard_normal((700, 2))
turned = np.arange(700) >= 350
y = np.where(turned, X[:, 1], X[:, 0]) + 0.3 * rng.standard_normal(700) > 0
y = y.astype(int)

# %%
# Each sample is predicted first and learned afterwards.
results = {}
for size in (50, 250):
    window = SlidingWindow(KernelDiscriminant(gamma=0.3, ridge=0.1), max_samples=size)
    results[f"window of {size}"] = prequential(window, zip(X, y, strict=True), window=80)

PrequentialDisplay.from_results(results)
plt.show()

# %%
# The window's model is the one fitted to its samples: after a thousand updates, it agrees with a
# refit to rounding.
fresh = KernelDiscriminant(gamma=0.3, ridge=0.1).fit(window.X_fit_, window.y_fit_)
difference = np.abs(window.decision_function(X) - fresh.decision_function(X)).max()
print(f"holds samples {window.ids_[0]} to {window.ids_[-1]}")
print(f"decision values differ from a refit by {difference:.0e}")
print(f"exact leave-one-out accuracy of the window {window.estimator_.loo_score():.3f}")
