"""
Are the probabilities right?
============================

``predict_proba`` is fitted to the leave-one-out decision values, so no samples have to be set
aside. The same values show how reliable it is, without any test data.
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
# Of the samples with a predicted probability of 0.8, 8 out of 10 should belong to the class. The
# curve of the test data confirms that of the leave-one-out values.
CalibrationDisplay.from_estimator(model, X[400:], y[400:])
plt.show()

# %%
# With several classes, you can look at a single one.
CalibrationDisplay.from_estimator(model, X[400:], y[400:], pos_label=2)
plt.show()
