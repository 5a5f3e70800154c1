"""What every live estimator shares: validation, ids, samples and transactions."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from gramian.estimators.live._ids import check_ids, check_new, next_ids, positions_of
from gramian.estimators.live._rows import make_rows
from gramian.gram import NotPositiveDefiniteError

_HELD = ("_ids", "_y", "_weight", "_next_id")


class LiveEstimator(BaseEstimator, metaclass=ABCMeta):
    """An estimator that learns one more sample and forgets one, by id.

    A machine fills in four methods: `_build` from all samples, `_enter` for new ones, `_leave` for
    those that go, and `_check_targets` for y. Each is called before the samples themselves are
    stored or dropped, and either does all of its work or raises: then the model is as it was.
    """

    _ids: Any
    _rows: Any
    _y: Any
    _weight: Any
    _precomputed: Any = False  # whether samples come as kernel values

    # -- the contract ---------------------------------------------------------------------------

    def fit(self, X, y, sample_weight=None, ids=None):
        """Learn from scratch.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            With ``kernel="precomputed"``, the square kernel matrix of the samples.
        y : array-like of shape (n_samples,) or, for regressors, (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional
            A weight of k means the same as k copies of the sample. Samples of weight 0 are not
            held.
        ids : array-like of shape (n_samples,), optional
            Unique integers or strings to forget samples by; 0, 1, 2, … by default.

        Returns
        -------
        self
        """
        with self._transaction("fit"):
            self._reset()
            self._check_parameters()
            X, y = self._check_samples(X, y, reset=True)
            weight = self._check_weight(sample_weight, X)
            self._begin(X, y, weight, None if ids is None else check_ids(ids, len(y)))
        return self

    def forget(self, ids):
        """Forget samples exactly: the model becomes the one that never saw them.

        Hyper-parameters that were chosen by leave-one-out have seen them, and stay until
        `reselect` or `fit`.

        Parameters
        ----------
        ids : id or array-like of ids

        Returns
        -------
        self
        """
        check_is_fitted(self)
        positions = positions_of(self._ids, ids)
        if len(positions) == 0:
            return self
        with self._transaction("forget"):
            self._leave(positions)
            self._rows.remove(positions)
            self._ids = np.delete(self._ids, positions)
            self._y = np.delete(self._y, positions, axis=0)
            self._weight = np.delete(self._weight, positions)
            self._changed()
        return self

    @property
    def ids_(self):
        """Ids of the samples that the model holds, in order of arrival."""
        check_is_fitted(self)
        return self._ids.copy()

    @property
    def X_fit_(self):
        """The samples that the model holds, in the order of `ids_`."""
        check_is_fitted(self)
        return self._rows.rows.copy()

    @property
    def y_fit_(self):
        """Their labels or targets, in the order of `ids_`."""
        check_is_fitted(self)
        return self._y.copy()

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_ids")

    # -- for the machines -----------------------------------------------------------------------

    @abstractmethod
    def _check_parameters(self):
        """Raise ValueError if a constructor parameter cannot be used."""

    @abstractmethod
    def _check_targets(self, y):
        """Targets as an array, ready to be stored."""

    @abstractmethod
    def _build(self, X, y, weight):
        """Learn from these samples alone."""

    @abstractmethod
    def _enter(self, X, y, weight):
        """Learn these samples besides those held."""

    @abstractmethod
    def _leave(self, positions):
        """Forget the samples at these positions."""

    # -- state ----------------------------------------------------------------------------------

    def _get_state(self):
        """All that the fitted model is, as plain values and arrays: for model files.

        Samples, ids and targets, public fitted attributes, and what a machine adds. Nothing that
        can be computed from these needs to be here.
        """
        check_is_fitted(self)
        public = {
            name: value
            for name, value in vars(self).items()
            if name.endswith("_") and not name.startswith("_")
        }
        held = {name: getattr(self, name) for name in _HELD}
        return {"held": held, "X": self.X_fit_, "public": public}

    def _set_state(self, state):
        """The inverse of `_get_state`, on an estimator with the same parameters."""
        for name in _HELD:
            setattr(self, name, state["held"][name])
        for name, value in state["public"].items():
            setattr(self, name, value)
        self._rows = self._make_rows(state["X"])
        self._changed()

    # -- inside ---------------------------------------------------------------------------------

    def _partial_fit(self, X, y, ids, sample_weight):
        """Learn more samples; the first call learns from scratch."""
        fitted = self.__sklearn_is_fitted__()
        with self._transaction("partial_fit"):
            if not fitted:
                self._check_parameters()
            X, y = self._check_samples(X, y, reset=not fitted)
            weight = self._check_weight(sample_weight, X)
            own = None if ids is None else check_ids(ids, len(y))
            if fitted:
                self._extend(X, y, weight, own)
            else:
                self._begin(X, y, weight, own)
        return self

    def _reset(self):
        """Forget what parameters were when the model was fitted before."""

    def _begin(self, X, y, weight, ids):
        ids = np.arange(len(y)) if ids is None else ids
        after = _after(ids, 0)
        X, y, weight, ids = self._weighty(X, y, weight, ids)
        self._build(X, y, weight)
        self._rows = self._make_rows(X)
        self._ids, self._y, self._weight = np.array(ids), np.array(y), np.array(weight)
        self._next_id = after
        self._changed()

    def _extend(self, X, y, weight, ids):
        if ids is None:
            ids = next_ids(self._ids, self._next_id, len(y))
        check_new(self._ids, ids)
        after = _after(ids, self._next_id)
        _check_kind(self._y, y)
        X, y, weight, ids = self._weighty(X, y, weight, ids)
        self._rows.reserve(len(y))
        self._enter(X, y, weight)
        self._rows.append(X)
        self._ids = np.concatenate([self._ids, ids])
        self._y = np.concatenate([self._y, y.astype(np.result_type(self._y, y), copy=False)])
        self._weight = np.concatenate([self._weight, weight])
        self._next_id = after
        self._changed()

    def _make_rows(self, X):
        """Storage for the samples."""
        return make_rows(X)

    def _changed(self):
        """Drop what was derived from the samples before."""
        self._derived = {}
        if self._precomputed:
            self.n_features_in_ = len(self._ids)

    def _derive(self, name, compute):
        """A value derived from what the model holds, computed once between edits."""
        if name not in self._derived:
            self._derived[name] = compute()
        return self._derived[name]

    @contextmanager
    def _transaction(self, asked: str | None = None) -> Iterator[None]:
        """Restore every attribute if the block raises; a refused sample says in which call.

        Attributes are replaced, not changed, within a transaction; what is changed in place
        (factor, rows) changes in one atomic step after everything that can fail.
        """
        before = dict(self.__dict__)
        try:
            yield
        except BaseException as error:
            self.__dict__.clear()
            self.__dict__.update(before)
            if isinstance(error, NotPositiveDefiniteError):
                error.asked = error.asked or asked
            raise

    def _check_samples(self, X, y, *, reset) -> tuple[Any, Any]:
        X, y = validate_data(
            self,
            X,
            y,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32] if reset else self._rows.dtype,
            multi_output=True,
            y_numeric=False,
        )
        return X if reset else self._rows.adopt(X), self._check_targets(y)

    def _check_queries(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=self._rows.dtype)
        return self._rows.adopt(X)

    def _weighty(self, X, y, weight, ids):
        """The samples of weight > 0: the others say nothing and are left out."""
        some = weight > 0
        if some.all():
            return X, y, weight, ids
        if not some.any():
            raise ValueError("sample_weight must be > 0 for at least one sample, got zeros only.")
        return self._keep(X, some), y[some], weight[some], ids[some]

    def _keep(self, X, some):
        """Some of the samples just given."""
        return X[some]

    def _check_weight(self, sample_weight, X):
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = bool(self._precomputed)
        return tags


def _check_kind(held, new):
    """Raise ValueError if labels are strings on one side and numbers on the other."""
    strings = [labels.dtype.kind in "UO" for labels in (held, new)]
    if strings[0] != strings[1]:
        kinds = ("numbers", "strings")
        raise ValueError(
            f"y must be {kinds[strings[0]]}, as the labels that the model holds; got "
            f"{kinds[strings[1]]}."
        )


def _after(ids, start):
    """The first number that no sample has had yet."""
    return max(start, int(ids.max()) + 1) if ids.dtype.kind == "i" and len(ids) else start
