"""What every kernel offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from gramian.core.arrays import Array, on_device


class Kernel(ABC):
    """A function k(x, y) of two samples, with its parameters.

    A kernel cannot be changed after it is made. Samples are the rows of a dense array, also on a
    device, or of a CSR matrix. The value for two samples depends on these two alone, whatever
    other samples are passed in the same call. To add a kernel, write a frozen dataclass with
    `_values` and `diagonal`, and enter it by `register_kernel`.
    """

    name: ClassVar[str]
    parameters: ClassVar[tuple[str, ...]] = ()
    """Which of gamma, degree and coef0 it has."""
    takes_gamma: ClassVar[bool] = False
    """Whether gamma is one of its parameters."""
    has_width: ClassVar[bool] = False
    """Whether k(x, y) = exp(−gamma · distance), so that gamma sets how far a sample reaches."""
    has_feature_widths: ClassVar[bool] = False
    """Whether gamma may be an array, one number per feature."""

    def __call__(self, X: Any, Y: Any) -> Array:
        """All k(x, y), of shape (len(X), len(Y)) and in the precision of X."""
        if X.shape[0] == 0 or Y.shape[0] == 0:
            like = X if on_device(X) else None
            return np.empty((X.shape[0], Y.shape[0]), dtype=float_type(X), like=like)
        return self._values(X, Y)

    @abstractmethod
    def _values(self, X: Any, Y: Any) -> Array:
        """The kernel values where neither X nor Y is empty."""

    @abstractmethod
    def diagonal(self, X: Any) -> Array:
        """k(x, x) for each sample, in the precision of X."""

    def with_gamma(self, gamma: Any) -> Kernel:
        """The kernel with another gamma; itself if gamma is None or the kernel has no gamma."""
        if gamma is None or not self.takes_gamma:
            return self
        return replace(self, gamma=gamma)  # type: ignore[type-var]

    def with_scales(self, scales: Array) -> Kernel:
        """The kernel of samples whose features are multiplied by ``scales``, as widths of its own.

        The new kernel takes the samples as they are: k'(x, y) = k(x ∘ scales, y ∘ scales).
        """
        raise TypeError(f"the {self.name} kernel has no width.")

    def typical_gamma(self, X: Any) -> float:
        """One over the median distance between different samples; 1 if all are equal."""
        raise TypeError(f"the {self.name} kernel has no width.")

    def gamma_gradient(self, K: Array, G: Array, X: Any) -> Array:
        """∂E/∂log gamma for a number E that depends on ``K = k(X, X)``, given G = ∂E/∂K.

        The shape is (1,) for one gamma and (n_features,) for one per feature.
        """
        raise TypeError(f"the {self.name} kernel has no width.")

    def slopes(self, K: Array, X: Array, Z: Array) -> Array:
        """∂f/∂x at each sample for ``f(x) = Σ_j k(x, x_j) z_j``, of shape (n, n_features, t).

        Pairs of equal samples add nothing. The cost is O(n² n_features t).

        Parameters
        ----------
        K : ndarray of shape (n, n)
            k(X, X), with one gamma for all features.
        X : ndarray of shape (n, n_features)
            Some or all features of the samples, dense.
        Z : ndarray of shape (n, t)
        """
        raise TypeError(f"the {self.name} kernel has no width.")


def float_type(X: Any) -> np.dtype:
    """Type of the kernel values: that of the samples, or double precision for integers."""
    return X.dtype if X.dtype.kind == "f" else np.dtype(float)


def checked_gamma(gamma: Any, name: str, *, per_feature: bool = False) -> Any:
    """``gamma`` as a Python float, or as an array where each feature may have its own.

    A feature with a width of 0 is ignored; at least one is > 0. A Python float leaves float32
    samples in float32, where a NumPy scalar does not.
    """
    try:
        widths = np.array(None if isinstance(gamma, bool) else gamma, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"gamma must be a number > 0, got {gamma!r}.") from None
    if not np.all((widths >= 0) & (widths < np.inf)) or not widths.any():
        raise ValueError(f"gamma must be > 0, got {gamma!r}.")
    if widths.ndim == 0:
        return float(widths)
    if not per_feature:
        raise ValueError(f"gamma must be one number for the {name} kernel, got {gamma!r}.")
    if widths.ndim > 1:
        raise ValueError(f"gamma must be one number or one per feature, got shape {widths.shape}.")
    widths.flags.writeable = False
    return widths
