"""
How the hyper-parameters were chosen
====================================

``gamma="loo"`` and ``ridge="loo"``, the defaults, minimise a leave-one-out criterion. One
eigendecomposition of the kernel matrix gives it for a whole path of ridges, so the search
tries far more settings than a cross-validation would.
"""

# %%
# ``selection_`` is the record of the search.
import matplotlib.pyplot as plt

from gramian import KernelDiscriminant
from gramian.datasets import make_banana
from gramian.plots import SelectionPathDisplay

X, y = make_banana(300, random_state=0)
model = KernelDiscriminant(random_state=0).fit(X, y)
search = model.selection_
print(f"{len(search.values)} settings, of {len(set(search.gammas))} widths")
print(f"chosen: gamma = {model.gamma_:.3g}, ridge = {model.ridge_:.3g}")

# %%
# One line per width. Narrow kernels (large gamma, bright) need a ridge that is not too small; wide
# ones (dark) need a small one, and are never as good.
SelectionPathDisplay.from_estimator(model)
plt.show()

# %%
# With the ridge given, the criterion is a curve over the width.
model = KernelDiscriminant(ridge=0.1, random_state=0).fit(X, y)
SelectionPathDisplay.from_estimator(model)
plt.show()
