"""Kernels of the inner product of two samples: linear and polynomial.

The product is that of BLAS, with an error of about eps · |x| · |y|: small relative to the lengths
of the two samples, though not to a product that happens to be near zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array
from gramian.core.kernels._base import Kernel, checked_gamma, float_type


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, y) = x·y.

    Examples
    --------
    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """

    name: ClassVar[str] = "linear"

    def _values(self, X: Any, Y: Any) -> Array:
        return _finite(_products(X, Y))

    def diagonal(self, X: Any) -> Array:
        return _finite(_squared_lengths(X))


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, y) = (gamma x·y + coef0)^degree.

    Parameters
    ----------
    gamma : float
    degree : int
        At least 1.
    coef0 : float
        At least 0.

    Examples
    --------
    >>> Polynomial(gamma=1.0, degree=2, coef0=1.0)(np.array([[1.0]]), np.array([[2.0]]))
    array([[9.]])
    """

    name: ClassVar[str] = "poly"
    parameters: ClassVar[tuple[str, ...]] = ("gamma", "degree", "coef0")
    takes_gamma: ClassVar[bool] = True

    gamma: float = 1.0
    degree: int = 3
    coef0: float = 1.0

    def __post_init__(self) -> None:
        degree, coef0 = self.degree, self.coef0
        whole = 1 <= degree < np.inf and degree == int(degree)
        if not (whole and 0 <= coef0 < np.inf):
            raise ValueError(
                f"the polynomial kernel needs degree >= 1 and coef0 >= 0, got {degree!r} and "
                f"{coef0!r}. The degree must be a whole number."
            )
        object.__setattr__(self, "gamma", checked_gamma(self.gamma, self.name))
        object.__setattr__(self, "degree", int(degree))
        object.__setattr__(self, "coef0", float(coef0))

    def _values(self, X: Any, Y: Any) -> Array:
        return self._powers(_products(X, Y))

    def diagonal(self, X: Any) -> Array:
        return self._powers(_squared_lengths(X))

    def _powers(self, products: Array) -> Array:
        """The kernel values, in place of the products x·y."""
        with np.errstate(all="ignore"):  # the check below says more than a warning
            products *= self.gamma
            products += self.coef0
            products **= self.degree
        return _finite(products)


def _products(X: Any, Y: Any) -> Array:
    """x·y for all pairs, as a new array."""
    with np.errstate(all="ignore"):
        product = X @ Y.T
    dense = product.toarray() if sparse.issparse(product) else product
    result: Array = dense.astype(float_type(X), copy=False)
    return result


def _squared_lengths(X: Any) -> Array:
    """x·x for each sample."""
    with np.errstate(all="ignore"):
        if sparse.issparse(X):
            squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        else:
            squares = np.einsum("ij,ij->i", X, X)
        return squares.astype(float_type(X), copy=False)


def _finite(values: Array) -> Array:
    """The values themselves, if all are finite."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"kernel values are not finite: the samples are too large for products in "
            f"{values.dtype}. Please scale the samples, for example with StandardScaler."
        )
    return values
