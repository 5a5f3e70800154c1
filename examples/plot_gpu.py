"""
On a GPU
========

``device="cuda"`` keeps the matrix on the GPU and computes there; nothing else changes. Without a
GPU this example runs on the CPU and says so. The values are the same up to rounding.
"""

# %%
# Is there one?
from importlib.util import find_spec
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

from gramian import LeastSquaresSVC
from gramian.datasets import make_waveform

device = None
if find_spec("torch") is None:
    print("No torch here (pip install torch): the CPU computes, device=None.")
else:
    import torch

    device = "cuda" if torch.cuda.is_available() else None
    print(f"torch {torch.__version__}; device={device!r}")

# %%
# Fit, learn, forget and leave one out, each timed.
X, y = make_waveform(1100, random_state=0)
model = LeastSquaresSVC(gamma=0.02, C=1.0, device=device)
steps = {
    "fit 1,000": lambda: model.fit(X[:1000], y[:1000]),
    "learn 100": lambda: model.partial_fit(X[1000:], y[1000:]),
    "forget 1": lambda: model.forget(7),
    "leave out each": lambda: model.loo_score(),
}
seconds = {}
for name, step in steps.items():
    start = perf_counter()
    step()
    seconds[name] = perf_counter() - start
print(f"exact leave-one-out accuracy {model.loo_score():.3f}")

# %%
# The CPU agrees.
twin = LeastSquaresSVC(gamma=0.02, C=1.0).fit(model.X_fit_, model.y_fit_)
difference = np.abs(model.decision_function(X[:50]) - twin.decision_function(X[:50])).max()
print(f"decision values differ from a refit on the CPU by {difference:.0e}")

# %%
# For 100,000 samples on a GPU, see the page of measurements.
_, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
ax.barh(list(seconds), [1e3 * s for s in seconds.values()], color="#0072B2")
ax.set(xlabel=f"milliseconds on {device or 'the CPU'}", xscale="log")
ax.invert_yaxis()
plt.show()
