"""Receipts: what was forgotten, and the evidence."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from gramian import __version__
from gramian.estimators.dense._gram import GramEstimator
from gramian.io._models import fingerprint
from gramian.tables._columns import CategoryColumn, NumberColumn
from gramian.tables._table_model import TableModel


@dataclass(frozen=True)
class Receipt:
    """Proof of a `forget`; it holds nothing of the samples but their ids.

    Attributes
    ----------
    model : str
        Class of the model.
    ids : tuple
    count : int
    n_before, n_after : int
        Samples held.
    seconds : float
        Of forgetting (and reselecting), without the checks.
    drift : float or None
        Measured relative residual of the solution after it, in the true system of the samples that
        stay; None for a model that has no such measure.
    difference : float or None
        With ``verify``: the largest difference of decision values on the held samples to those of
        a model of the same hyper-parameters that is fitted to them from scratch, relative to the
        largest.
    seen_by : tuple of str
        What was chosen while the samples were there, and has stayed.
    fingerprint_before, fingerprint_after : str
        See `gramian.io.fingerprint`.
    time : str
        UTC, ISO 8601.
    versions : dict of str
    """

    model: str
    ids: tuple[int | str, ...]
    count: int
    n_before: int
    n_after: int
    seconds: float
    drift: float | None
    difference: float | None
    seen_by: tuple[str, ...]
    fingerprint_before: str
    fingerprint_after: str
    time: str
    versions: dict[str, str]

    def to_json(self) -> str:
        """The receipt as JSON text."""
        return json.dumps(asdict(self), indent=2)


def forget(model: Any, ids: Any, *, verify: bool = False, reselect: bool = False) -> Receipt:
    """Forget samples, as ``model.forget(ids)``, and give a receipt.

    Parameters
    ----------
    model : fitted estimator of this package or TableModel
        Changed in place.
    ids : id or array-like of ids
    verify : bool
        Compare with a full refit, O(n³).
    reselect : bool
        Choose anew, on the samples that stay, all that was chosen while the others were there.

    Returns
    -------
    Receipt

    Notes
    -----
    If an id is not held, the model is as it was. If `reselect` fails, the samples are forgotten.

    Examples
    --------
    >>> import gramian
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = gramian.KernelDiscriminant(gamma=0.1, ridge=1e-2).fit(X, y)
    >>> receipt = gramian.forget(model, [3, 14, 15], verify=True)
    >>> receipt.count, receipt.n_after, receipt.difference < 1e-10
    (3, 147, True)
    """
    check_is_fitted(model)
    if reselect and not hasattr(model, "reselect"):
        raise ValueError(f"{type(model).__name__} chooses nothing that could be chosen anew.")
    n_before, before = len(model.ids_), fingerprint(model)
    seconds = _timed_forget(model, ids, reselect)
    inner = model.estimator_ if isinstance(model, TableModel) else model
    return Receipt(
        model=type(inner).__name__,
        ids=tuple(np.atleast_1d(np.asarray(ids)).tolist()),
        count=n_before - len(model.ids_),
        n_before=n_before,
        n_after=len(model.ids_),
        seconds=seconds,
        drift=inner.drift() if hasattr(inner, "drift") else None,
        difference=difference_to_refit(inner) if verify else None,
        seen_by=() if reselect else _seen_by(model),
        fingerprint_before=before,
        fingerprint_after=fingerprint(model),
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=_versions(),
    )


def difference_to_refit(model: Any) -> float:
    """How far decision values on the held samples are from those of a refit, relative. O(n³)."""
    X, y, weight = model.X_fit_, model.y_fit_, model._weight
    fresh = clone(model).set_params(**_chosen(model))
    if is_classifier(model):
        fresh.partial_fit(X, y, classes=model.classes_, sample_weight=weight)
    else:
        fresh.fit(X, y, sample_weight=weight)
    ours, theirs = _values(model, X), _values(fresh, X)
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def _timed_forget(model: Any, ids: Any, reselect: bool) -> float:
    start = perf_counter()
    model.forget(ids)
    if reselect:
        # Others choose from nothing as they are.
        model.reselect(**({"fresh": True} if isinstance(model, GramEstimator) else {}))
    return perf_counter() - start


def _values(model: Any, X: Any) -> np.ndarray:
    return model.decision_function(X) if is_classifier(model) else model.predict(X)


def _chosen(model: Any) -> dict[str, Any]:
    """Hyper-parameters that were chosen from the samples, and their values."""
    named = {k: v for k, v in model.get_params(deep=False).items() if isinstance(v, str)}
    values = {name: getattr(model, f"{name}_", None) for name in named}
    return {k: v for k, v in values.items() if v is not None and not isinstance(v, str)}


def _seen_by(model: Any) -> tuple[str, ...]:
    if not isinstance(model, TableModel):
        return tuple(_chosen(model))
    kinds = {type(column) for column in model.columns_}
    scales = ("means and deviations of columns",) if NumberColumn in kinds else ()
    levels = ("choice of levels of columns",) if CategoryColumn in kinds else ()
    return (*_chosen(model.estimator_), *scales, *levels)


def _versions() -> dict[str, str]:
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"gramian": __version__, "python": platform.python_version(), **libraries}
