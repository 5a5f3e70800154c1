"""
Prediction intervals with a promise
===================================

An interval at 90 % contains nine of ten new values, whatever the noise looks like. No samples are
set aside: each query is compared with all samples, each left out once, in closed form.
Here the noise is far from Gaussian.
"""

# %%
# A curve with skewed noise.
import matplotlib.pyplot as plt
import numpy as np

from gramian import LeastSquaresSVR
from gramian.plots import CoverageDisplay, IntervalDisplay

rng = np.random.default_rng(0)


def draw(n):
    X = rng.uniform(-3, 3, (n, 1))
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.exponential(size=n)


model = LeastSquaresSVR(gamma=1.0, C=1.0).fit(*draw(200))

# %%
# Outside the range of the samples nothing is known. The guarantee is for queries like the samples.
IntervalDisplay.from_estimator(model, confidence_level=0.9)
plt.show()

# %%
# The confidence asked for, and the coverage of 1,000 new samples.
X_test, y_test = draw(1000)
low, high = model.predict_interval(X_test, confidence_level=0.9).T
print(f"{np.mean((low <= y_test) & (y_test <= high)):.1%} of 1,000 new values are inside")
CoverageDisplay.from_estimator(model, X_test, y_test)
plt.show()
