"""
Are the probabilities right?
============================

``predict_proba`` is fitted to the leave-one-out decision values, so that it needs no samples set
aside. The same values show how reliable it is, before any test data are seen.
"""

# %%
# Three classes that overlap.
import matplotlib.pyplot as plt

from gramian import KernelDiscriminant
from gramian.datasets import make_waveform
from gramian.plots import CalibrationDisplay

X, y = make_waveform(1200, random_state=0)
model = KernelDiscriminant(random_state=0).fit(X[:400], y[:400])
print(f"leave-one-out accuracy {model.loo_score():.3f}")
print(f"accuracy on 800 others {model.score(X[400:], y[400:]):.3f}")

# %%
# What was given a probability of 0.8 should come true in 8 cases out of 10. The curve of the test
# data confirms the one that the model drew of itself.
CalibrationDisplay.from_estimator(model, X[400:], y[400:])
plt.show()

# %%
# Of several classes, one can be looked at alone.
CalibrationDisplay.from_estimator(model, X[400:], y[400:], pos_label=2)
plt.show()
