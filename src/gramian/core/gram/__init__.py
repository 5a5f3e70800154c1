"""Gram matrices with exact appends and removals: inverses, factors, spectra and sums.

This layer does not depend on labels or scikit-learn. `LiveSystem` solves ``A X = B`` while rows are
added and removed; `LiveInverse`, `SingleInverse`, `LiveResolvent`, `CholeskyFactor` and `QRFactor`
store A; `Spectrum` serves a path of ridges; `LiveNormal` stores sums over samples for few features.
"""

from gramian.core.gram._cholesky import CholeskyFactor
from gramian.core.gram._errors import NotPositiveDefiniteError
from gramian.core.gram._factor import Factor
from gramian.core.gram._inverse import LiveInverse
from gramian.core.gram._qr import QRFactor
from gramian.core.gram._spectrum import Moments, Spectrum
from gramian.core.gram._system import FACTORS, LiveSystem, Rebuild, factorize

__all__ = [
    "FACTORS",
    "CholeskyFactor",
    "Factor",
    "LiveInverse",
    "LiveSystem",
    "Moments",
    "NotPositiveDefiniteError",
    "QRFactor",
    "Rebuild",
    "Spectrum",
    "factorize",
]
