"""The one source of tolerances: a small multiple of the rounding error to be expected."""

import numpy as np


def tolerance(n, *, updates=0, cond=1.0, power=0, dtype=float, factor=32.0):
    """``factor · (n + updates) · eps · cond^power``.

    ``power`` is 0 for residuals of a factorisation, 1 for solutions by Cholesky, 2 for an explicit
    inverse and for least squares by QR.
    """
    return factor * (n + updates) * np.finfo(dtype).eps * cond**power
