"""Types of arrays, and of what is taken for one."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[Any]
"""An array of NumPy, or one on a device, which NumPy's functions take as well."""


class SupportsCSR(Protocol):
    """A sparse matrix or array of SciPy."""

    def tocsr(self) -> Any:
        """Return it in CSR format."""


MatrixLike: TypeAlias = ArrayLike | SupportsCSR
"""Samples as people give them: anything that becomes a matrix, dense or CSR."""
RandomSource: TypeAlias = int | np.random.RandomState | None
"""What scikit-learn takes for ``random_state``."""
Device: TypeAlias = Any
"""The name of a device of torch, a ``torch.device``, or None."""

__all__ = ["Array", "ArrayLike", "Device", "MatrixLike", "RandomSource", "SupportsCSR"]
