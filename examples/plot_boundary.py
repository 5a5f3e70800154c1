"""
Decision boundary and doubtful samples
======================================

A model that knows its leave-one-out error knows it for every sample. The samples that all others
speak against are where classes overlap, or they are label errors. Here we plant five of those, and
find them.
"""

# %%
# Two arcs that interlock, and five labels turned over.
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
# Large dark samples have less than an even chance in the eyes of the model that never saw them.
display = LeaveOneOutBoundaryDisplay.from_estimator(model)
plt.show()

# %%
# The turned labels are among the ten with the largest loss. Forgetting those ten is exact, and
# takes no refit.
doubtful = model.ids_[np.argsort(-display.losses)[:10]]
print(f"turned: {sorted(turned.tolist())}")
print(f"most doubtful: {doubtful.tolist()}")

model.forget(doubtful)
LeaveOneOutBoundaryDisplay.from_estimator(model)
plt.show()
