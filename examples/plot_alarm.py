"""
An alarm when a stream changes
==============================

While a stream does not change, the rank of each new sample among the others is uniform. A test
martingale bets against that, and its capital grows only if the stream has changed. By chance alone
it exceeds 100 in at most one stream out of a hundred.
"""

# %%
# After 400 of 700 samples, the curve turns upside down.
import matplotlib.pyplot as plt
import numpy as np

from gramian import LeastSquaresSVR
from gramian.plots import MartingaleDisplay
from gramian.stream import SlidingWindow, prequential

rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, (700, 1))
y = np.sin(X[:, 0]) + 0.2 * rng.standard_normal(700)
y[400:] *= -1

# %%
# Each sample is ranked and predicted before it is learned.
window = SlidingWindow(LeastSquaresSVR(gamma=0.5, C=5.0), max_samples=200)
result = prequential(window, zip(X, y, strict=True), confidence_level=0.9, window=80)
print(result)
print(f"intervals at 90 % held {result.coverage:.1%}; alarm at sample {result.alarm()}")

# %%
# The capital before the change (the grey line) and after it.
MartingaleDisplay.from_result(result)
plt.axvline(400, color="#999999")
plt.show()
