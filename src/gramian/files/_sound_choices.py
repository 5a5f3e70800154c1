"""Whether what was chosen or solved for is of a form that an estimator works with."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gramian.core.engines import WIDTH_KERNELS
from gramian.core.search import Selection
from gramian.core.text import shown
from gramian.files._checks import check_array, check_number, check_sequence, check_text, refuse


def check_gamma(gamma: Any, where: str, X: Any, d: int) -> None:
    """A width, one for each feature, or a list of such."""
    if gamma is None:
        return
    for width in gamma if isinstance(gamma, list) and gamma else [gamma]:
        if np.ndim(width) == 0:
            check_number(width, where, 0.0, above=True)
            continue
        check_array(width, where, (d,), "iuf")
        if sparse.issparse(X) or not (width >= 0).all():
            refuse(where, "has one width for each feature, which these samples do not allow")


def check_chosen(model: Any, public: Any, d: int) -> None:
    """The kernel that was chosen, and the metric; files of 0.1.0 have neither."""
    asked = getattr(model, "kernel", None)
    kernel = public.get("kernel_", asked)
    known = WIDTH_KERNELS if isinstance(asked, str) and asked == "loo" else (asked,)
    if kernel not in known:
        refuse("kernel_", f"is {shown(kernel)!r}, which the parameter kernel does not allow")
    check_metric(public.get("metric_"), "metric_", d, needed=getattr(model, "metric", None))


def check_metric(metric: Any, where: str, d: int, needed: Any) -> None:
    """A factor for each feature, or None where there is no metric."""
    if (metric is None) != (needed is None):
        refuse(where, "is there without the parameter metric, or missing with it")
    if metric is not None:
        check_array(metric, where, (d,), "f")
        if not (metric >= 0).all() or not metric.any():
            refuse(where, "has factors below 0, or none above")


def check_selection(selection: Any) -> None:
    if type(selection) is not Selection:
        refuse("selection_", f"is a {type(selection).__name__}")
    length = len(check_array(selection.values, "the search", (None,), "f", finite=False))
    for part, kinds in [("stages", "UO"), ("sizes", "iuf"), ("gammas", "fO"), ("ridges", "f")]:
        check_array(getattr(selection, part), "the search", (length,), kinds, finite=False)
    check_text(selection.criterion, "the criterion")
    check_number(selection.value, "the criterion", finite=False)
    check_number(selection.ridge, "the ridge of the search", 0.0)


def check_pair(pair: Any, where: str, rows: int, outputs: int) -> None:
    """An intercept for each output, and a column of coefficients."""
    intercept, Z = check_sequence(pair, where, 2)
    check_array(intercept, where, (outputs,), "f")
    check_array(Z, where, (rows, outputs), "f")
