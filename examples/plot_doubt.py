"""
Labels to doubt and values of samples
=====================================

Closed forms give what the model would predict without any of its samples. So it can judge its own
data: which labels are probably wrong, and which samples do harm.
"""

# %%
# Two crescents, with a tenth of the labels wrong.
import matplotlib.pyplot as plt
import numpy as np

from gramian import LeastSquaresSVC
from gramian.data import label_issues, sample_values
from gramian.datasets import make_banana
from gramian.plots import CurveDisplay, LabelIssuesDisplay

X, y = make_banana(1000, noise=0.2, random_state=0)
train, check, test = slice(0, 200), slice(200, 500), slice(500, None)
wrong = np.random.default_rng(0).choice(200, 20, replace=False)
y[wrong] *= -1
model = LeastSquaresSVC(gamma=1.0, C=10.0).fit(X[train], y[train])

# %%
# Each sample is judged by the model without it.
LabelIssuesDisplay.from_estimator(model, n_samples=15)
plt.show()

# %%
# Most of the flipped labels are among the twenty most doubtful.
issues = label_issues(model, top=20)
print(f"{np.isin(issues.ids, wrong).sum()} of {len(wrong)} wrong labels found")

# %%
# Values say how much each sample lowers the loss on other samples, exactly and without a refit.
# Without its worst samples the model gets better, without its best samples it gets worse.
values = sample_values(model, X[check], y[check])
CurveDisplay.from_values(model, values, X[test], y[test])
plt.show()

# %%
# Relabelling is an exact edit, too.
before = model.score(X[test], y[test])
model.relabel(issues.ids, issues.suggested)
print(f"test accuracy {before:.3f} before, {model.score(X[test], y[test]):.3f} after")
