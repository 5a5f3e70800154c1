"""
Prediction sets: one digit, or two that fit
===========================================

If a classifier cannot tell classes apart, it should say so. A set at 99 % contains the true class
in 99 of 100 cases, and is small where that is possible: most images get one digit, a few get
several. Those are the images to look at.
"""

# %%
# Handwritten digits, shuffled, because the guarantee needs new images of the same kind. The
# parameters were not chosen on them.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from gramian import KernelDiscriminant

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
X, y = X[order] / 16.0, y[order]
train, test = slice(0, 300), slice(300, 1300)
model = KernelDiscriminant(gamma=0.3, ridge=0.1).fit(X[train], y[train])

# %%
# How large the sets are, and how often they are right.
sets = model.predict_set(X[test], confidence_level=0.99)
sizes = sets.sum(axis=1)
right = sets[np.arange(len(sets)), y[test]]
print(f"{right.mean():.1%} of the sets hold the true digit")
for size in np.unique(sizes):
    print(f"sets of {size}: {np.sum(sizes == size)} images")

# %%
# Ten images for which two digits fit.
unsure = np.flatnonzero(sizes == 2)[:10]
_, axes = plt.subplots(2, 5, figsize=(7, 3.2), layout="constrained")
for ax, i in zip(axes.flat, unsure, strict=True):
    ax.imshow(X[test][i].reshape(8, 8), cmap="gray_r")
    one, other = model.classes_[sets[i]]
    ax.set(title=f"{one} or {other}: {y[test][i]}", xticks=[], yticks=[])
plt.show()
