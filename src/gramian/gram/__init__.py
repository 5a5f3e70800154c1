"""The heart: a Gram matrix that samples enter and leave exactly. No labels, no scikit-learn."""

from gramian.gram._cholesky import CholeskyFactor
from gramian.gram._errors import NotPositiveDefiniteError
from gramian.gram._factor import Factor
from gramian.gram._inverse import LiveInverse
from gramian.gram._memory import available_memory, require_memory
from gramian.gram._qr import QRFactor
from gramian.gram._resolvent import LiveResolvent
from gramian.gram._slots import SlotMatrix
from gramian.gram._spectrum import Moments, decompose
from gramian.gram._system import FACTORS, LiveSystem, Refactorization, factorize

__all__ = [
    "FACTORS",
    "CholeskyFactor",
    "Factor",
    "LiveInverse",
    "LiveResolvent",
    "LiveSystem",
    "Moments",
    "NotPositiveDefiniteError",
    "QRFactor",
    "Refactorization",
    "SlotMatrix",
    "available_memory",
    "decompose",
    "factorize",
    "require_memory",
]
