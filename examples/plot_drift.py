"""
Rounding over hundreds of updates
=================================

Every update has rounding errors. The model measures their effect on its solution, corrects the
solution before it is read, and rebuilds its factor if necessary. A recorder shows this.
"""

# %%
# A window of 150 samples slides over 450: 600 samples are learned or forgotten, with predictions
# now and then.
import matplotlib.pyplot as plt
import numpy as np

from gramian import KernelDiscriminant
from gramian.datasets import make_banana
from gramian.plots import DriftDisplay, DriftRecorder

X, y = make_banana(450, random_state=0)


def slide(model):
    recorder = DriftRecorder(model.fit(X[:150], y[:150]))
    for i in range(300):
        recorder.partial_fit(X[[150 + i]], y[[150 + i]])
        recorder.forget(i)
        if i % 15 == 0:
            model.predict(X[:1])
    return recorder


# %%
# With an ordinary ridge, the residual stays at rounding error.
recorder = slide(KernelDiscriminant(gamma=1.0, ridge=0.1))
DriftDisplay.from_recorder(recorder)
plt.show()

# %%
# A tiny ridge makes the system ill-conditioned. We ask for the explicit inverse, which ``"auto"``
# would not choose here. It drifts, and is rebuilt when the drift is too large.
model = KernelDiscriminant(gamma=1.0, ridge=1e-6, factor="inverse")
recorder = slide(model)
DriftDisplay.from_recorder(recorder)
plt.show()
print(recorder.rebuilt[0][1])

# %%
# Before a solution is read, it is corrected against the true system. A refit gives the same values.
fresh = KernelDiscriminant(gamma=1.0, ridge=1e-6).fit(model.X_fit_, model.y_fit_)
difference = np.abs(model.decision_function(X) - fresh.decision_function(X)).max()
print(f"decision values differ from a refit by {difference:.0e}")
