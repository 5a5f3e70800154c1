"""
Rounding over hundreds of updates
=================================

Every update rounds. The model measures what that does to its solution, repairs it when it is read,
and rebuilds its factor when it has to. A recorder shows it at work.
"""

# %%
# A window of 150 samples slides over 450: 600 samples enter or leave. Predictions are asked
# for now and then.
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
# would not take here. It drifts, and is rebuilt when it has drifted too far.
model = KernelDiscriminant(gamma=1.0, ridge=1e-6, factor="inverse")
recorder = slide(model)
DriftDisplay.from_recorder(recorder)
plt.show()
print(recorder.rebuilt[0][1])

# %%
# What is read is held to the true system, whatever the updates did: compare with a refit.
fresh = KernelDiscriminant(gamma=1.0, ridge=1e-6).fit(model.X_fit_, model.y_fit_)
difference = np.abs(model.decision_function(X) - fresh.decision_function(X)).max()
print(f"decision values differ from a refit by {difference:.0e}")
