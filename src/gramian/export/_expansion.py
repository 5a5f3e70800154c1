"""What a prediction needs of a fitted estimator, and nothing else: centres and coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from gramian.core.arrays import Array

KERNELS = ("rbf", "laplacian", "poly", "linear")


class ExportError(ValueError):
    """A model that has no form outside of gramian."""


@dataclass(frozen=True)
class Expansion:
    """``f(x) = k(x, centres) Z + b``, without ids and without targets.

    Attributes
    ----------
    kernel : {"rbf", "laplacian", "poly", "linear"}
    gamma : float or ndarray of shape (n_features,)
    degree, coef0 : float
        Of the polynomial kernel.
    centres : ndarray of shape (m, n_features)
        Samples that the model holds and that have a coefficient. The linear kernel has none: its
        coefficients belong to features.
    coefficients : ndarray of shape (m, t), or (n_features, t) for the linear kernel
    intercept : ndarray of shape (t,)
    classes : ndarray of shape (c,) or None
        Of a classifier; with two classes, t = 1.
    scale : float or None
        Probabilities are the softmax of the outputs times this, or of (0, f) times this.
    flat : bool
        Whether predictions are one number for each sample, as for a regression with one target.
    """

    kernel: str
    gamma: Any
    degree: float
    coef0: float
    centres: Array
    coefficients: Array
    intercept: Array
    classes: Any = None
    scale: float | None = None
    flat: bool = True


def expansion_of(model: Any) -> Expansion:
    """The expansion of a fitted estimator of this package.

    Raises
    ------
    ExportError
        If its kernel is a function or precomputed, or if it is no such expansion.
    """
    name = type(model).__name__
    if not isinstance(model.kernel, str) or model.kernel not in KERNELS:
        raise ExportError(f"cannot export kernel={model.kernel!r}; known are {', '.join(KERNELS)}.")
    several = hasattr(model, "basis_kernels_") and isinstance(model.gamma_, list)
    if several or not hasattr(model, "dual_coef_"):
        raise ExportError(f"cannot export this {name}: it is no expansion in a single kernel.")
    centres = model.basis_ if hasattr(model, "basis_") else model.X_fit_
    centres = centres.toarray() if sparse.issparse(centres) else centres
    coefficients = np.asarray(model.dual_coef_, dtype=float).reshape(len(centres), -1)
    used = np.any(coefficients != 0, axis=1)
    centres, coefficients = np.asarray(centres, dtype=float)[used], coefficients[used]
    if model.kernel == "linear":
        centres, coefficients = centres[:0], centres.T @ coefficients
    classifies = is_classifier(model)
    return Expansion(
        model.kernel,
        1.0 if model.gamma_ is None else np.asarray(model.gamma_, dtype=float)[()],
        float(model.degree),
        float(model.coef0),
        centres,
        coefficients,
        np.atleast_1d(np.asarray(model.intercept_, dtype=float)),
        model.classes_ if classifies else None,
        float(model.calibration_) if classifies else None,
        classifies or model.y_fit_.ndim == 1,
    )
