"""Checks of what was chosen for a kernel, as a file gives it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.core.engines._state import Stored
from gramian.core.search import Selection
from gramian.core.validation import check_array, check_number, check_sequence, check_text, refuse


def validate_gamma(gamma: Any, where: str, stored: Stored) -> None:
    """A width, one for each feature, or a list of such; None for kernels without one."""
    if gamma is None:
        return
    for width in gamma if isinstance(gamma, list) and gamma else [gamma]:
        if np.ndim(width) == 0:
            check_number(width, where, 0.0, above=True)
            continue
        check_array(width, where, (stored.d,), "iuf")
        if not (width >= 0).all():
            refuse(where, "has a width below 0")


def validate_metric(metric: Any, where: str, d: int, *, needed: bool) -> None:
    """A factor for each feature, or None where there is no metric."""
    if (metric is not None) != needed:
        refuse(where, "is there without the parameter metric, or missing with it")
    if metric is not None:
        check_array(metric, where, (d,), "f")
        if not (metric >= 0).all() or not metric.any():
            refuse(where, "has factors below 0, or none above")


def validate_selection(selection: Any) -> None:
    """The path of a search, or None."""
    if selection is None:
        return
    if type(selection) is not Selection:
        refuse("selection_", f"is a {type(selection).__name__}")
    length = len(check_array(selection.values, "the search", (None,), "f", finite=False))
    for part, kinds in [("stages", "UO"), ("sizes", "iuf"), ("gammas", "fO"), ("ridges", "f")]:
        check_array(getattr(selection, part), "the search", (length,), kinds, finite=False)
    check_text(selection.criterion, "the criterion")
    check_number(selection.value, "the criterion", finite=False)
    check_number(selection.ridge, "the ridge of the search", 0.0)
    if selection.common is not None:
        for value in check_sequence(selection.common, "the start of the search", 2):
            check_number(value, "the start of the search", 0.0)
