"""
Decision boundary and doubtful samples
======================================

A model gives the leave-one-out loss of every sample. Samples with a large loss lie where classes
overlap, or their labels are wrong. Here we make five labels wrong, and find them.
"""

# %%
# Two interlocking arcs, with five wrong labels.
import matplotlib.pyplot as plt
import numpy as np

from gramian import KernelDiscriminant
from gramian.datasets import make_banana
from gramian.plots import LeaveOneOutBoundaryDisplay

X, y = make_banana(300, random_state=0)
turned = np.random.default_rng(1).choice(300, size=5, replace=False)
y[turned] *= -1

# %%
# ``fit`` chooses the width of the kernel and the ridge by exact leave-one-out.
model = KernelDiscriminant(random_state=0).fit(X, y)
print(f"leave-one-out accuracy {model.loo_score():.3f}")

# %%
# For large dark samples, the model without them gives their class a probability below one half.
display = LeaveOneOutBoundaryDisplay.from_estimator(model)
plt.show()

# %%
# The wrong labels are among the ten with the largest loss. Forgetting those ten is exact and needs
# no refit.
doubtful = model.ids_[np.argsort(-display.losses)[:10]]
print(f"turned: {sorted(turned.tolist())}")
print(f"most doubtful: {doubtful.tolist()}")

model.forget(doubtful)
LeaveOneOutBoundaryDisplay.from_estimator(model)
plt.show()
