"""A bet against exchangeability: the martingale that grows when the stream changes.

If samples are exchangeable, the smoothed p-value of each arriving one is uniform, whatever the
model (vovk2003). A bet ``ε p^(ε−1)`` on small p-values is then fair, and the capital from betting
again and again is a martingale::

    M_n = ∫₀¹ Π_i ε p_i^(ε−1) dε

By Ville's inequality it ever reaches 100 with a probability of at most 1/100. This needs p-values
that are independent, as they are for a model that holds all samples so far. Those of a sliding
window are uniform but not quite independent, so that 1/100 is then a guide, not a bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from gramian.core.arrays import Array

_NODES = 64


def mixture_martingale(p_values: Any) -> Array:
    """log₁₀ of the martingale after each p-value, O(64) each.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        Smoothed p-values, in the order of the stream.

    Returns
    -------
    ndarray of shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.stream import mixture_martingale
    >>> rng = np.random.default_rng(0)
    >>> same, changed = rng.uniform(size=200), rng.beta(0.3, 1.0, size=100)
    >>> path = mixture_martingale(np.append(same, changed))
    >>> bool(path[:200].max() < 2), bool(path[-1] > 2)        # alarm at 100 = 10²
    (True, True)
    """
    return Martingale().bet(p_values)


class Martingale:
    """The same martingale, one p-value or many at a time, in 64 numbers.

    Examples
    --------
    >>> from gramian.stream import Martingale
    >>> martingale = Martingale()
    >>> martingale.bet([0.2, 0.01]).round(2).tolist(), round(martingale.value, 2)
    ([-0.03, 0.6], 0.6)
    """

    def __init__(self) -> None:
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        self._powers, self._weights = 0.5 * (nodes + 1.0), 0.5 * weights
        self._capital = np.zeros(_NODES)

    @property
    def value(self) -> float:
        """log₁₀ of the martingale now."""
        return float(logsumexp(self._capital, b=self._weights) / np.log(10.0))

    def bet(self, p_values: Any) -> Array:
        """log₁₀ of the martingale after each of more p-values."""
        p = np.maximum(np.asarray(p_values, dtype=float), np.finfo(float).tiny)
        bets = np.log(self._powers) + (self._powers - 1.0) * np.log(p)[:, None]
        path = self._capital + np.cumsum(bets, axis=0)
        if len(p):
            self._capital = path[-1]
        return np.asarray(logsumexp(path, b=self._weights, axis=1) / np.log(10.0))
