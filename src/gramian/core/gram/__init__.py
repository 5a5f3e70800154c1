"""Gram matrices with exact appends and removals: inverses, factors, spectra and sums.

This layer does not depend on labels or scikit-learn. `LiveSystem` solves ``A X = B`` while rows are
added and removed; `LiveInverse`, `SingleInverse`, `LiveResolvent`, `CholeskyFactor`
and `QRFactor` store A;
`Spectrum` serves a path of ridges; `LiveNormal` stores sums over samples for few features.
"""

from gramian.core.gram._cholesky import CholeskyFactor
from gramian.core.gram._errors import NotPositiveDefiniteError
from gramian.core.gram._factor import Factor
from gramian.core.gram._inverse import LiveInverse
from gramian.core.gram._memory import available_memory, require_memory
from gramian.core.gram._normal import LOST, CompensatedSum, LiveNormal
from gramian.core.gram._qr import QRFactor
from gramian.core.gram._resolvent import LiveResolvent, check_schur
from gramian.core.gram._single import SINGLE, SingleInverse
from gramian.core.gram._slots import RowBlock, SlotMatrix, spare_capacity
from gramian.core.gram._spectrum import Moments, Spectrum, decompose
from gramian.core.gram._system import FACTORS, LiveSystem, Rebuild, factorize
from gramian.core.gram._thin import ThinSpectrum, thin_spectrum

__all__ = [
    "FACTORS",
    "LOST",
    "SINGLE",
    "CholeskyFactor",
    "CompensatedSum",
    "Factor",
    "LiveInverse",
    "LiveNormal",
    "LiveResolvent",
    "LiveSystem",
    "Moments",
    "NotPositiveDefiniteError",
    "QRFactor",
    "Rebuild",
    "RowBlock",
    "SingleInverse",
    "SlotMatrix",
    "Spectrum",
    "ThinSpectrum",
    "available_memory",
    "check_schur",
    "decompose",
    "factorize",
    "require_memory",
    "spare_capacity",
    "thin_spectrum",
]
