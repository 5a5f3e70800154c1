"""Forgetting with a receipt."""

from __future__ import annotations

import secrets
from copy import deepcopy
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from gramian.core.estimators._group_names import positions_of_groups
from gramian.files._lock import user_name
from gramian.files._models import fingerprint, whole_digest
from gramian.files._receipt import Receipt, now, versions
from gramian.tables import estimator_of

TOLERANCE = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-3}
"""What `verify` allows, relative, by the precision of the samples."""


def forget(
    model: Any,
    ids: Any = None,
    *,
    groups: Any = None,
    verify: bool = False,
    reselect: bool = False,
    tolerance: float | None = None,
    key: bytes | None = None,
) -> Receipt:
    """Forget samples, like ``model.forget(ids)``, and return a receipt.

    Parameters
    ----------
    model : fitted estimator of this package or TableModel
        Changed in place.
    ids : id or array-like of ids
    groups : group or array-like of groups, in place of ids
        All samples of these groups, such as those of one person; the receipt names their ids.
    verify : bool
        Whether to compare with a model that is built from scratch, O(n³).
    reselect : bool
        Whether to make all choices again on the remaining samples.
    tolerance : float, optional
        Relative difference that `verify` allows; by default 1e-8, or 1e-3 for samples in single
        precision.
    key : bytes, optional
        Your secret key for `fingerprint_before`; by default a random one that is discarded.

    Returns
    -------
    Receipt

    Notes
    -----
    If an id is not held, the model is unchanged. With ``verify`` or ``reselect``, everything runs
    on a copy first, so the model is also unchanged if the comparison or the search fails.

    Examples
    --------
    >>> import gramian
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = gramian.KernelDiscriminant(gamma=0.1, ridge=1e-2).fit(X, y)
    >>> receipt = gramian.forget(model, [3, 14, 15], verify=True)
    >>> receipt.count, receipt.n_after, receipt.verified
    (3, 147, True)
    """
    check_is_fitted(model)
    if (ids is None) == (groups is None):
        raise ValueError("forget needs ids, or groups=…, one of the two.")
    if ids is None:
        ids = model.ids_[positions_of_groups(model.groups_, groups)]
    n_before = len(model.ids_)
    before = fingerprint(model, key=key or secrets.token_bytes(32))
    allowed = default_tolerance(model) if tolerance is None else float(tolerance)
    seconds, difference = _forget(model, ids, verify=verify, reselect=reselect)
    salt = secrets.token_bytes(32)
    return Receipt(
        action="forget",
        model=type(estimator_of(model)).__name__,
        ids=tuple(np.atleast_1d(np.asarray(ids)).tolist()),
        count=n_before - len(model.ids_),
        n_before=n_before,
        n_after=len(model.ids_),
        seconds=seconds,
        drift=_drift(model),
        difference=difference,
        tolerance=None if difference is None else allowed,
        verified=None if difference is None else bool(difference <= allowed),
        chosen_on_data=() if reselect else tuple(model.chosen_on_data_),
        fingerprint_before=before,
        fingerprint_after=fingerprint(model, key=salt),
        salt=salt.hex(),
        user=user_name(),
        time=now(),
        versions=versions(),
    )


def difference_to_refit(model: Any) -> float:
    """How far decision values on the held samples are from those of a refit, relative. O(n³)."""
    estimator = estimator_of(model)
    X = estimator.X_fit_
    ours, theirs = decision_values(estimator, X), decision_values(estimator.refitted(), X)
    scale = np.abs(theirs).max()
    return float(np.abs(ours - theirs).max() / (scale if scale > 0 else 1.0))


def default_tolerance(model: Any) -> float:
    """What the difference may be, by the precision of the samples."""
    return TOLERANCE.get(estimator_of(model).X_fit_.dtype, max(TOLERANCE.values()))


def _forget(model: Any, ids: Any, *, verify: bool, reselect: bool) -> tuple[float, float | None]:
    """Seconds of forgetting, and the difference to a refit; what can fail is tried on a copy."""
    if not verify and not reselect:
        return _timed(model, ids, reselect=False), None
    trial = deepcopy(model)
    seconds = _timed(trial, ids, reselect=reselect)
    difference = difference_to_refit(trial) if verify else None
    if reselect:
        model.__dict__ = trial.__dict__  # a search is not run twice; one step, or none
        return seconds, difference
    expected = whole_digest(trial)
    seconds = _timed(model, ids, reselect=False)
    if verify and whole_digest(model) != expected:  # the copy went another way
        difference = difference_to_refit(model)
    return seconds, difference


def _timed(model: Any, ids: Any, *, reselect: bool) -> float:
    start = perf_counter()
    model.forget(ids)
    model.settle()
    if reselect:
        model.reselect(fresh=True)
    return perf_counter() - start


def _drift(model: Any) -> float | None:
    try:
        return float(model.drift())
    except (AttributeError, ValueError, ArithmeticError):  # what is forgotten stays so
        return None


def decision_values(model: Any, X: Any) -> Any:
    """Decision values, or predictions of a regressor."""
    return model.decision_function(X) if is_classifier(model) else model.predict(X)
