"""
Neither of these classes
========================

A classifier must choose among its classes, however strange the query.
``EllipsoidalFuzzyClassifier`` describes each class by an ellipsoid in feature space, and also says
how far a sample is outside all of them. About one in twenty samples of the known kind counts as
new.
"""

# %%
# It is fitted to two crescents.
import matplotlib.pyplot as plt
import numpy as np

from gramian import EllipsoidalFuzzyClassifier
from gramian.datasets import make_banana
from gramian.plots import MembershipDisplay

X, y = make_banana(200, noise=0.15, random_state=0)
model = EllipsoidalFuzzyClassifier(gamma=1.0, tau=1e-3).fit(X, y)

# %%
# Queries of the same kind, and a third group that it has never seen.
known, _ = make_banana(200, noise=0.15, random_state=1)
strange = np.random.default_rng(0).normal([-1.8, 1.0], 0.15, (80, 2))
for name, queries in {"known": known, "strange": strange}.items():
    new = model.novelty(queries) > model.novelty_threshold_
    print(f"{name}: {new.mean():.0%} count as new")

# %%
# Degrees of membership; outside the line, a sample is new.
display = MembershipDisplay.from_estimator(model, grid_resolution=80)
display.ax_.plot(*strange.T, "x", color="#D55E00")
plt.show()

# %%
# After learning them as a third class, they are no longer new.
model.partial_fit(strange[:40], np.full(40, 3))
new = model.novelty(strange[40:]) > model.novelty_threshold_
print(f"of the other forty, {new.mean():.0%} count as new")
print(f"{np.mean(model.predict(strange[40:]) == 3):.0%} are of class 3")
