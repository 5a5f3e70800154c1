"""Checks of what a window is given: parameters, samples with their times, and queries."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.validation import (
    _get_feature_names,
    check_X_y,
    column_or_1d,
    validate_data,
)

from gramian.core.arrays import Array
from gramian.stream._choices import ALARM
from gramian.stream._holdings import Held, check_age, check_times
from gramian.stream._state import WindowState


def check_parameters(window: Any) -> None:
    """Raise ValueError unless the parameters of a window are as its docstring says."""
    if getattr(window.estimator, "kernel", None) == "precomputed":
        raise ValueError(
            'a window needs samples; kernel="precomputed" has none to keep. Give the kernel '
            "as a function."
        )
    counts = ("max_samples", "min_samples", "reselect_every")
    for name in counts[:2] if window.reselect_every == ALARM else counts:
        _check_count(name, getattr(window, name), optional=name != "min_samples")
    if window.max_samples is not None and window.max_samples < window.min_samples:
        raise ValueError(
            f"max_samples must be at least min_samples, or there is never a model; got "
            f"{window.max_samples} and {window.min_samples}."
        )
    if window.max_age is not None:
        check_age(window.max_age)


def check_samples(window: Any, before: WindowState | None, X: Any, y: Any, times: Any) -> Held:
    """Samples in the form of those that the window holds, with ids and times."""
    holdings, start = (None, 0) if before is None else (before.holdings, before.next_id)
    if holdings is not None and holdings.accepts(X) and holdings.accepts_targets(y, len(X)):
        ids = np.arange(start, start + len(X))
        return Held(X, y, ids, _times(window, times, ids), None)
    classifies = is_classifier(window.estimator)
    options = {"accept_sparse": "csr", "multi_output": True, "y_numeric": not classifies}
    if holdings is None:
        names, dtype = _get_feature_names(X), [np.float64, np.float32]
        X, y = check_X_y(X, y, dtype=dtype, estimator=window, **options)
    else:
        names = holdings.names
        X, y = validate_data(window, X, y, reset=False, dtype=holdings.X.dtype, **options)
    y = column_or_1d(y, warn=True) if classifies else y
    if holdings is not None and sparse.issparse(X) != sparse.issparse(holdings.X):
        raise ValueError("X must stay sparse or stay dense for as long as the window lives.")
    ids = np.arange(start, start + len(y))
    return Held(X, y, ids, _times(window, times, ids), names)


def check_queries(window: Any, holdings: Held, X: Any) -> Any:
    """Queries in the form of the samples held."""
    if holdings.is_like(X):
        return X  # the model looks at the numbers
    return validate_data(window, X, reset=False, accept_sparse="csr", dtype=holdings.X.dtype)


def _times(window: Any, times: Any, ids: Array) -> Array:
    """The times of samples; their ids in a window by number."""
    if (times is None) != (window.max_age is None):
        raise ValueError(
            f"times go with max_age: got times={times!r} and max_age={window.max_age!r}."
        )
    return ids if times is None else check_times(times, len(ids), check_age(window.max_age))


def _check_count(name: str, value: Any, *, optional: bool) -> None:
    if optional and value is None:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer >= 1, got {value!r}.")
