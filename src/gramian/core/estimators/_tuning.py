"""Samples that are set aside for the choice of hyper-parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines import is_number
from gramian.core.search._order import repeatable


def tuning_mask(fraction: Any, n: int, random_state: Any, groups: Array | None = None) -> Array:
    """Which of n samples to tune on, drawn at random; ValueError if one side would be empty.

    With groups, the fraction is one of groups, whose samples stay together.
    """
    if groups is not None:
        codes = np.unique(groups, return_inverse=True)[1]
        return tuning_mask(fraction, int(codes.max()) + 1, random_state)[codes]
    k = round(float(fraction) * n) if is_number(fraction) and 0.0 < fraction < 1.0 else 0
    if not 0 < k < n:
        raise ValueError(
            f"tuning_fraction must be None or a number between 0 and 1 that leaves some of the "
            f"{n} samples on both sides, got {fraction!r}."
        )
    # Not by a permutation: samples may have been shuffled with that of the same seed.
    return np.argsort(np.argsort(repeatable(random_state).uniform(size=n))) < k
