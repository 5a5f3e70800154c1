"""What can go wrong below the estimators."""

from __future__ import annotations

import numpy as np


class NotPositiveDefiniteError(np.linalg.LinAlgError):
    """The matrix, or the matrix after an append, is not positive definite.

    Parameters
    ----------
    position : int
        The first sample that fails, counted from 0 among those just given.
    schur : float
        Its Schur complement, which had to exceed ``threshold``.
    """

    def __init__(self, position: int, schur: float, threshold: float) -> None:
        super().__init__(
            f"Cannot append sample {position}: its Schur complement is {schur:.1e}, below "
            f"{threshold:.1e}. It repeats or nearly repeats a stored sample; raise `ridge` or "
            f"drop it."
        )
        self.position, self.schur, self.threshold = position, schur, threshold
