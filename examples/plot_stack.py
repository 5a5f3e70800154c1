"""
Several kernels against one
===========================

A kernel defines which samples are similar. A stack combines several kernels, weighted by how well
each predicts samples of held-out folds. A fit takes about ten times as long as with one kernel;
learning and forgetting are exact, too.
"""

# %%
# Edges along the axes, a smooth part, and three irrelevant features.
import matplotlib.pyplot as plt
import numpy as np

from gramian import LeastSquaresSVR, StackedKernelRegressor

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (1150, 6))
y = np.sign(X[:, 0]) * (X[:, 1] > 0) + np.sin(3 * X[:, 2]) + 0.2 * rng.standard_normal(1150)
X, X_test, y, y_test = X[:150], X[150:], y[:150], y[150:]

# %%
# One RBF kernel, and the stack.
one = LeastSquaresSVR(random_state=0).fit(X, y)
stack = StackedKernelRegressor(random_state=0).fit(X, y)
scores = {"one RBF kernel": one.score(X_test, y_test), "stack": stack.score(X_test, y_test)}
for name, score in scores.items():
    print(f"{name}: R² {score:.3f} on 1,000 new samples")

# %%
# The weight of each part.
names = [part["kernel"] + ("" if part["metric"] is None else ", metric") for part in stack.parts_]
_, (left, right) = plt.subplots(1, 2, figsize=(8, 2.8), layout="constrained")
left.barh(list(scores), list(scores.values()), color=["#BBBBBB", "#0072B2"])
left.set(xlabel="R² on new samples", xlim=(0, 1))
right.barh(names, stack.weights_, color="#E69F00")
right.set(xlabel="weight in the stack")
plt.show()
