"""Check samples and convert them to the form in which a model holds them.

There are two kinds: vectors, dense or CSR, and rows of a precomputed kernel. A model decides once
which kind it takes, when its parameters are read.
"""

from __future__ import annotations

import warnings
from math import isfinite
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import (
    _check_sample_weight,
    _get_feature_names,
    check_array,
    check_consistent_length,
    check_X_y,
    validate_data,
)

from gramian.core.arrays import Array, Device, find_device, from_tensor, to_device
from gramian.core.engines import HOST, DenseRows, Holdings, Spec, check_semidefinite, check_weight

_FLOATS = [np.float64, np.float32]
_TOO_LARGE = "X has a number that is too large for float64."
# A column's standard deviation may be so many times another one's whole range.
_UNEVEN = 100.0


def is_chunked(X: Any) -> bool:
    """Whether X is a Dask array."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "map_blocks")


class ScaleWarning(UserWarning):
    """The columns of X have very different scales, so that a kernel sees only the widest."""


class VectorSamples:
    """Samples that are vectors of features.

    Samples are checked in host memory, wherever they come from.

    Parameters
    ----------
    device : torch.device, optional
        Where the model holds them; in host memory by default.
    follows : bool
        Whether the model can hold tensors where they are.
    """

    device: Device
    follows: bool

    precomputed = False

    def __init__(self, device: Any = None, follows: bool = False) -> None:
        self.device, self.follows = device, follows

    def first(self, model: Any, X: Any, y: Any) -> tuple[Any, Any, Any]:
        """Return samples and targets of a fit, and the feature names or None."""
        names, device = _get_feature_names(X), self.device
        if type(X).__module__.startswith("torch"):  # on a device
            device = device or _followed(model, X, self.follows)
            X, y = from_tensor(X), from_tensor(y)
        try:
            X, y = check_X_y(
                X, y, accept_sparse="csr", dtype=_FLOATS, multi_output=True, estimator=model
            )
        except OverflowError as error:
            raise ValueError(_TOO_LARGE) from error
        if isinstance(X, np.ndarray) and not isinstance(getattr(model, "gamma", None), np.ndarray):
            with np.errstate(over="ignore", invalid="ignore"):  # an infinite spread is no warning
                spread, width = X.std(axis=0), np.ptp(X, axis=0)
            width[width == 0] = np.inf
            if _UNEVEN * width.min() < spread.max() < np.inf:
                _warn_of_scales(names, spread, width)
        return X if device is None else placed(X, device), y, names

    def more(self, model: Any, holdings: Holdings, X: Any, y: Any) -> tuple[Any, Any]:
        """Return more samples and targets, in the form of those held."""
        if _ready(model, holdings, X) and _plain(y) and len(X) == len(y):
            return X, y
        X, y = from_tensor(X), from_tensor(y)
        options = {"accept_sparse": "csr", "dtype": holdings.rows.dtype, "multi_output": True}
        try:
            X, y = validate_data(model, X, y, reset=False, y_numeric=False, **options)
        except OverflowError as error:
            raise ValueError(_TOO_LARGE) from error
        return holdings.rows.adopt(X), y

    def queries(self, model: Any, holdings: Holdings, X: Any) -> Any:
        """Return samples to predict for, in the form of those held."""
        if _ready(model, holdings, X):
            return X
        try:
            X = from_tensor(X)
            X = validate_data(model, X, reset=False, accept_sparse="csr", dtype=holdings.rows.dtype)
        except OverflowError as error:
            raise ValueError(_TOO_LARGE) from error
        return holdings.rows.adopt(X)

    adding = queries

    def keep(self, X: Any, some: Array) -> Any:
        """Return the new samples that the mask ``some`` selects."""
        return X[some]


class KernelSamples:
    """Samples of which only kernel values are known."""

    precomputed = True
    device: Any = None

    def first(self, model: Any, X: Any, y: Any) -> tuple[Any, Any, Any]:
        """Return the square kernel matrix and the targets of a fit."""
        X = check_kernel_rows(X, 0, _FLOATS)
        return X, _paired_targets(X, y), None

    def more(self, model: Any, holdings: Holdings, X: Any, y: Any) -> tuple[Any, Any]:
        """Return kernel values of new samples to the held ones, then to each other; and targets."""
        X = check_kernel_rows(X, len(holdings), holdings.rows.dtype)
        return X, _paired_targets(X, y)

    def queries(self, model: Any, holdings: Holdings, X: Any) -> Any:
        """Return kernel values of queries to the held samples, one row per query."""
        X = check_array(X, dtype=holdings.rows.dtype)
        if X.shape[1] != len(holdings):
            raise ValueError(
                f"X must hold the kernel values to each of the {len(holdings)} samples of the "
                f"model, in the order of ids_; got {X.shape[1]} columns."
            )
        return X

    def adding(self, model: Any, holdings: Holdings, X: Any) -> Any:
        """Return kernel values of queries to the held samples and, last, of each with itself."""
        X = check_array(X, dtype=holdings.rows.dtype)
        if X.shape[1] != len(holdings) + 1:
            raise ValueError(
                f"X must hold the kernel values to each of the {len(holdings)} samples of the "
                f"model, in the order of ids_, and k(x, x) in a last column: a query is added to "
                f"the samples. Got {X.shape[1]} columns."
            )
        return X

    def keep(self, X: Any, some: Array) -> Any:
        """Return the selected new samples, without their kernel values to the other new ones."""
        held = np.ones(X.shape[1] - len(X), dtype=bool)
        return X[np.ix_(some, np.concatenate([held, some]))]


VECTORS, FOLLOWING, KERNEL_ROWS = VectorSamples(), VectorSamples(follows=True), KernelSamples()


def sample_kind(spec: Spec[Any]) -> VectorSamples | KernelSamples:
    """How an estimator with this spec takes samples, and where it holds them."""
    if spec.precomputed:
        if spec.device is not None and spec.device is not HOST:  # on a device
            raise ValueError(
                f'kernel="precomputed" holds its values in host memory, got '
                f"device={spec.device!r}. Leave device=None."
            )
        return KERNEL_ROWS
    if spec.device is HOST:
        return VECTORS
    return FOLLOWING if spec.device is None else VectorSamples(find_device(spec.device), True)


def _followed(model: Any, X: Any, follows: bool) -> Any:  # on a device
    """The device on which a model holds the samples of a tensor; None in host memory."""
    if follows:
        return X.device
    if X.device.type != "cpu":
        raise ValueError(
            f"{type(model).__name__} computes in host memory, got a tensor on "
            f"{X.device}. Give X.cpu(), or use an estimator with the parameter device."
        )
    return None


def placed(X: Any, device: Any) -> Any:  # on a device
    """Dense samples on a device; ValueError for sparse ones."""
    if sparse.issparse(X):
        raise ValueError(
            "samples on a device must be dense, got a sparse matrix. Give X.toarray(), or leave "
            "device=None."
        )
    return to_device(X, device)


def check_kernel_rows(X: Any, n_held: int, dtype: Any) -> Any:
    """Return kernel values of k new samples to n_held held ones and to each other, (k, n_held + k).

    Raises
    ------
    ValueError
        If the shape is wrong, if the values among the new samples are not symmetric, or if they
        cannot come from a positive semi-definite kernel.
    """
    X = check_array(X, dtype=dtype)
    k = len(X)
    if X.shape[1] != n_held + k:
        what = (
            f"square, got shape {X.shape}"
            if n_held == 0
            else f"of shape ({k}, {n_held + k}): the values of {k} new samples to the {n_held} "
            f"held ones, in the order of ids_, and then to each other; got {X.shape}"
        )
        raise ValueError(f"a precomputed kernel must be {what}.")
    corner = X[:, n_held:]
    asymmetry = float(np.abs(corner - corner.T).max())
    if asymmetry > 1e3 * np.finfo(X.dtype).eps * np.abs(corner).max():
        raise ValueError(
            f"a precomputed kernel must be symmetric, but K and its transpose differ by "
            f"{asymmetry:.2g}."
        )
    check_semidefinite(corner)
    return X


def with_weight(kind: Any, X: Any, y: Any, sample_weight: Any, ids: Any) -> tuple[Any, ...]:
    """Return the samples of weight > 0; a weight of 0 means no copy, so the sample is dropped."""
    if not np.any(np.asarray(sample_weight)):
        raise ValueError("sample_weight must be > 0 for at least one sample, got zeros only.")
    weighed = np.empty((X.shape[0], 1))  # as many rows, in host memory
    weight = _check_sample_weight(sample_weight, weighed, dtype=float, ensure_non_negative=True)
    check_weight(weight)
    some = weight > 0
    if some.all():
        return X, y, weight, ids
    return kind.keep(X, some), y[some], weight[some], ids[some]


def _warn_of_scales(names: Any, spread: Any, width: Any) -> None:
    """Name the widest column and the narrowest, and the remedy."""
    widest, narrowest = int(np.argmax(spread)), int(np.argmin(width))
    named = [repr(j if names is None else names[j]) for j in (widest, narrowest)]
    warnings.warn(
        f"the columns of X have very different scales: column {named[0]} has a standard deviation "
        f"of {spread[widest]:.3g}, column {named[1]} a range of only {width[narrowest]:.3g}, which "
        f"a distance between samples hardly feels. Scale the columns first, as "
        f"make_pipeline(StandardScaler(), model) or gramian.TableModel do.",
        ScaleWarning,
        stacklevel=6,
    )


def _ready(model: Any, holdings: Holdings, X: Any) -> bool:
    """Whether X needs no conversion: a finite dense array of the model's own width and dtype."""
    return is_like(model, holdings, X) and isfinite(np.add.reduce(X, axis=None))


def is_like(model: Any, holdings: Holdings, X: Any) -> bool:
    """Whether X is a dense array of the model's own width and dtype, whatever its numbers."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype == holdings.rows.dtype
        and X.shape[1] == holdings.rows.width
        and len(X) > 0
        and type(holdings.rows) is DenseRows
        and model._now.names is None
    )


def _plain(y: Any) -> bool:
    """Whether y needs no conversion: an array of integers, texts, truths or finite numbers."""
    if type(y) is not np.ndarray or y.ndim == 0:
        return False
    return y.dtype.kind in "iUb" or (y.dtype == np.float64 and bool(np.isfinite(y.sum())))


def _paired_targets(X: Any, y: Any) -> Any:
    y = check_array(y, ensure_2d=False, allow_nd=False, dtype=None, input_name="y")
    check_consistent_length(X, y)
    return y
