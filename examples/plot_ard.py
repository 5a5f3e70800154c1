"""
One width per feature
=====================

In an ordinary RBF kernel, all features count equally, even irrelevant ones.
``metric="ard"`` gives each feature its own width, found by gradients of the leave-one-out error.
Features along which the function is curved get a large gamma, the others a small one.
"""

# %%
# Friedman's function depends on five of ten features.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1

from gramian import LeastSquaresSVR

X, y = make_friedman1(1350, noise=1.0, random_state=0)
X, X_test, y, y_test = X[:350], X[350:], y[:350], y[350:]

# %%
# One width for all, and one for each.
common = LeastSquaresSVR().fit(X, y)
each = LeastSquaresSVR(metric="ard").fit(X, y)
for name, model in {"one width": common, "one each": each}.items():
    print(
        f"{name}: R² {model.score(X_test, y_test):.3f} on 1,000 new samples, by itself it says "
        f"{model.loo_score():.3f}"
    )

# %%
# The widths show which features matter. Two of the five act linearly, and a wide kernel is enough
# for them: a small gamma alone does not prove that a feature is irrelevant.
_, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.bar(np.arange(10), each.gamma_, color=["#0072B2"] * 5 + ["#BBBBBB"] * 5)
ax.axhline(common.gamma_, color="#D55E00", linestyle="--", label="one width for all")
ax.set(xlabel="feature", ylabel="gamma", xticks=range(10))
ax.legend()
plt.show()
