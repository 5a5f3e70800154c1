"""
The influence of single samples
===============================

How far would the decision values move if one sample had never been there? For every sample there is
a closed form, computed from the inverse that the model already has. It equals a refit and needs
none.
"""

# %%
# A regression with one wrong target.
import matplotlib.pyplot as plt
import numpy as np

from gramian import LeastSquaresSVR
from gramian.datasets import make_sinc
from gramian.plots import InfluenceDisplay, sample_influence

X, y = make_sinc(80, noise=0.05, random_state=0)
y[17] += 1.0
model = LeastSquaresSVR(gamma=0.3, C=10.0).fit(X, y)

# %%
# Sample 17 stands out.
InfluenceDisplay.from_estimator(model, n_samples=12)
plt.show()

# %%
# To see that it is exact, forget the sample and compare.
influence = sample_influence(model)
before = model.predict(X)
model.forget(17)
moved = model.predict(X) - before
print(f"closed form: RMS {influence.rms[17]:.12f}, own value {influence.own[17]:.12f}")
print(f"forgotten:   RMS {np.sqrt(np.mean(moved**2)):.12f}, own value {abs(moved[17]):.12f}")

# %%
# With and without it.
line = np.linspace(-10, 10, 400)[:, None]
_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(X[:, 0], y, "o", color="#666666", markersize=4, label="samples")
ax.plot(line, model.predict(line), color="#0072B2", label="without sample 17")
model.partial_fit(X[[17]], y[[17]])
ax.plot(line, model.predict(line), color="#D55E00", linestyle="--", label="with it")
ax.set_xlabel("x")
ax.set_ylabel("y")
ax.legend()
plt.show()
