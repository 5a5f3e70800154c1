"""The engine of the fuzzy classifier: one ellipsoidal region for each class (kaieda2004)."""

from gramian.engines.ellipsoidal._engine import RegionsEngine, RegionsReader, Tuning
from gramian.engines.ellipsoidal._regions import (
    InputRegion,
    KernelRegion,
    Region,
    SvdRegion,
    in_double,
)

__all__ = [
    "InputRegion",
    "KernelRegion",
    "Region",
    "RegionsEngine",
    "RegionsReader",
    "SvdRegion",
    "Tuning",
    "in_double",
]
