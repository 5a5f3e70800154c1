"""When and why an estimator rebuilt what it keeps, for those that hold no factor that knows."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from gramian.estimators.live._base import LiveEstimator
from gramian.gram import Refactorization


class KeepsHistory(LiveEstimator):
    """`refactorizations_`, and the count of edits that its records have.

    A machine counts its edits in `_edits` and names what it rebuilds.
    """

    _rebuilt: str
    _refactorizations: list[Refactorization]
    _edits: int

    @property
    def refactorizations_(self):
        """Records of when and why the model was rebuilt from its samples since the last fit."""
        check_is_fitted(self)
        return list(self._refactorizations)

    def _begin_history(self) -> None:
        self._refactorizations, self._edits = [], 0

    def _record(self, reason: str) -> None:
        event = Refactorization(reason, len(self._ids), self._edits, self._rebuilt)
        self._refactorizations = [*self._refactorizations, event]
