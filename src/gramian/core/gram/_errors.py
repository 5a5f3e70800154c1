"""Errors of the layers below the estimators."""

from __future__ import annotations

import numpy as np


class NotPositiveDefiniteError(np.linalg.LinAlgError):
    """The matrix, or the matrix after an append, is not positive definite.

    Parameters
    ----------
    position : int
        The first sample that fails, in order of arrival; for new samples, counted among them.
    schur : float
        Its Schur complement, which must exceed ``threshold``.
    new : bool
        Whether the sample was being added.

    Attributes
    ----------
    asked : str or None
        The call that failed, such as "fit"; set by the layer that defines this call.
    """

    position: int
    schur: float
    threshold: float
    new: bool

    def __init__(self, position: int, schur: float, threshold: float, new: bool = False) -> None:
        super().__init__(position, schur, threshold, new)
        self.position, self.schur, self.threshold, self.new = position, schur, threshold, new
        self.asked: str | None = None

    def __str__(self) -> str:
        return (
            f"{self.asked or 'factoring'} failed at {'new ' if self.new else ''}sample "
            f"{self.position}: its Schur complement is {self.schur:.1e}, not above "
            f"{self.threshold:.1e}. For this kernel it repeats or nearly repeats other samples; "
            f"raise `ridge` (lower `C`) or drop it."
        )
