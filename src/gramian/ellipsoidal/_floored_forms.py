"""Quadratic forms in the inverses of many modified matrices with floored eigenvalues.

Computes ``yᵀ f(B) y`` with ``f(λ) = 1/max(λ, ε)``, ``B = P D P − κ y yᵀ`` and ``P = I − q qᵀ`` for
one diagonal matrix D and thousands of triples y, q, κ with P y = y. With the eigenvalues λ of B and
the squared components w of y along its eigenvectors this is ``Σ w f(λ)``. Most B need no
decomposition:

- The resolvent ``g(z) = yᵀ (B − z)⁻¹ y = Σ w / (λ − z)`` costs one pass. With the sums
  ``a = yᵀRy``, ``b = qᵀRy``, ``d = qᵀRq`` of ``R = (D − z)⁻¹``, and ``h = a − b²/d``, it is
  ``g = h / (1 − κ h)``.
- On points z of a circle of radius c around 0, with weights β that add up to 1, the sum of
  ``Re β g(z) (1 − z/ε)`` is ``Σ w (S/λ + (1 − S)/ε)`` with ``S = Σ Re β λ/(λ − z)``: a rational
  function of λ, 0 at 0 and 1 at infinity. With the points and weights of Zolotarev's best rational
  function for a step, S is 0 below c and 1 above, to rounding, except within 0.02 % of c. With c
  near ε the sum is correct for all λ except those near ε.
- The λ near ε are roots of ``κ h(z) = 1``. The signs of a 2 × 2 matrix count them (Sylvester's
  law), bisection separates them, Newton steps refine them, and ``w = h²/h'``. Each then
  contributes its difference from the mean.

Two circles, inside and outside ε, must give the same result, and no λ may be negative beyond
rounding; otherwise the result is marked as unsure.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ellipj, ellipkm1

from gramian.core.arrays import Array

_NODES, _GAP = 34, 1e-4
_CIRCLES = 1.0 - 3.0 * _GAP, 1.0 + 3.0 * _GAP
_BEYOND = (1.0 + _GAP) / (1.0 - _GAP)  # where S is within 1e-12 of 0 or 1
_NEGATIVE = -0.01  # S is 0 from here on, in units of ε
_HALVINGS, _STEPS = 24, 4
_AGREEMENT = 1e-10


def floored_forms(
    D: Array, Y: Array, Q: Array, kappa: Array, epsilon: Array
) -> tuple[Array, Array]:
    """``yᵀ f(P D P − κ y yᵀ) y`` for each row y of Y and q of Q, and whether it is reliable.

    Parameters
    ----------
    D : ndarray of shape (m,)
        Ascending.
    Y, Q : ndarray of shape (r, m)
        Rows y orthogonal to the rows q, which have length 1 or are 0.
    kappa, epsilon : ndarray of shape (r,)
        > 0.

    Notes
    -----
    O(r m) for each point of the circles, and about 30 r m for each eigenvalue near ε.
    """
    radii = [factor * float(np.median(epsilon)) for factor in _CIRCLES]
    first = np.minimum(epsilon, radii[0] / _BEYOND)
    last = np.maximum(epsilon, radii[1] * _BEYOND)
    with np.errstate(all="ignore"):  # a division by zero makes the result unsure
        all_of = _Resolvents(D, Y, Q, kappa)
        forms, other = (all_of.circle_means(radius, epsilon) for radius in radii)
        start, stop = all_of.at(first)[0], all_of.at(last)[0]
        for j in range(int(np.max(stop - start, initial=0))):
            i = np.flatnonzero(stop - start > j)
            z, w = all_of.some(i).roots(start[i] + j, first[i], last[i])
            for each, radius in zip((forms, other), radii, strict=True):
                each[i] += w * _lacking(z, epsilon[i], radius)
        agree = np.abs(forms - other) <= _AGREEMENT * np.abs(forms)
        return forms, agree & (all_of.at(_NEGATIVE * epsilon)[0] == 0)


def _lacking(z: Array, epsilon: Array, radius: float) -> Array:
    """``f(z)`` minus the contribution of an eigenvalue z to the mean over the circle."""
    S = (_WEIGHTS * z[:, None] / (z[:, None] - radius * _POINTS)).real.sum(axis=1)
    result: Array = 1.0 / np.maximum(z, epsilon) - S / z - (1.0 - S) / epsilon
    return result


def _zolotarev(nodes: int, gap: float) -> tuple[Array, Array]:
    """Points of the upper unit circle and weights β with ``Σ Re β λ/(λ − z)`` near 0 or 1.

    The fraction ``x = (λ − 1)/(λ + 1)`` takes the unit circle to the imaginary axis. There the
    poles ±i√c of Zolotarev's best approximation of the sign of x, ``gap <= |x| <= 1``, are those
    with odd numbers and its zeros those with even numbers of ``c = l² sn²(u)/cn²(u)``, at
    equidistant u.
    """
    m = 1.0 - gap**2
    squared = 1.0 - m
    sn, cn, _, _ = ellipj(np.arange(1, nodes + 1) * ellipkm1(squared) / (2 * nodes), m)
    half = squared * (sn / cn) ** 2
    c = np.append(half, squared / half[-2::-1])  # cn is accurate in the first half; c c' = l²
    poles, zeros = c[::2], c[1::2]
    others = (poles[:, None] - poles)[~np.eye(nodes, dtype=bool)].reshape(nodes, nodes - 1)
    ratios = (poles[:, None] - zeros) / others  # paired, so that no product overflows
    weights = np.abs(ratios.prod(axis=1)) / (1.0 + poles)
    return np.exp(2j * np.arctan(np.sqrt(poles))), weights / weights.sum()


_POINTS, _WEIGHTS = _zolotarev(_NODES, _GAP)


class _Resolvents:
    """The resolvents of all B, from D, Y, Q and κ."""

    def __init__(self, D: Array, Y: Array, Q: Array, kappa: Array) -> None:
        self.D, self.Y, self.Q, self.kappa = D, Y, Q, kappa
        self.products = Y * Y, Q * Y, Q * Q
        self.whole = ~Q.any(axis=1)  # P = I

    def some(self, i: Array) -> _Resolvents:
        """Return the resolvents of some rows."""
        if len(i) == len(self.Y):
            return self
        return _Resolvents(self.D, self.Y[i], self.Q[i], self.kappa[i])

    def circle_means(self, radius: float, epsilon: Array) -> Array:
        """Sums over half of the circle; the other half has the conjugate values."""
        z = radius * _POINTS
        R = 1.0 / (self.D[:, None] - z)
        a, b, d = (product @ R.real + 1j * (product @ R.imag) for product in self.products)
        d[self.whole] = 1.0
        h = a - b * b / d
        g = h / (1.0 - self.kappa[:, None] * h)
        return (g * (1.0 - z / epsilon[:, None])).real @ _WEIGHTS

    def at(self, z: Array) -> tuple[Array, Array, Array, Array]:
        """For one z per row: the number of eigenvalues below z, h, R and b/d."""
        R = 1.0 / (self.D - z[:, None])
        a, b, d = (np.einsum("ij,ij->i", R, product) for product in self.products)
        d[self.whole] = 1.0
        h = a - b * b / d
        # D − z bordered by q and y, with corner 0 and 1/κ, has one negative eigenvalue more than B
        # − z: those of D − z and those of the Schur complement, whose determinant is d (h − 1/κ).
        negative = np.where(d * (h - 1.0 / self.kappa) < 0, 1, np.where(d > 0, 2, 0))
        return np.searchsorted(self.D, z) + negative - 1, h, R, b / d

    def roots(self, below: Array, low: Array, high: Array) -> tuple[Array, Array]:
        """For each row, the eigenvalue with ``below`` others below it, and its square w."""
        for _ in range(_HALVINGS):
            z = 0.5 * (low + high)
            beyond = self.at(z)[0] > below
            low, high = np.where(beyond, low, z), np.where(beyond, z, high)
        z = 0.5 * (low + high)
        for _ in range(_STEPS):
            _, h, R, ratio = self.at(z)
            v = R * (self.Y - ratio[:, None] * self.Q)  # along the eigenvector
            slope = np.einsum("ij,ij->i", v, v)
            now, z = z, np.clip(z + (h - self.kappa * h * h) / slope, low, high)
        return now, h * h / slope
