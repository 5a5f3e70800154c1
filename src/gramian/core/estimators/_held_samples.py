"""What a model holds, as its users read it."""

from __future__ import annotations

from typing import Any

from gramian.core.arrays import Array
from gramian.core.estimators._fitted import Fitted
from gramian.core.estimators._versioned import Versioned
from gramian.core.gram import Rebuild


def answered(now: Fitted, values: Array) -> Array:
    """Return an answer as the caller expects it: as a tensor, if the samples came as tensors."""
    return now.holdings.rows.answer(values) if now.holdings.rows.answer else values


class HeldSamples(Versioned):
    """The attributes of a fitted model that list its samples and what was chosen on them."""

    @property
    def ids_(self) -> Array:
        """Ids of the samples that the model holds, in order of arrival."""
        return self._fitted().holdings.ids.copy()

    @property
    def X_fit_(self) -> Any:
        """The samples that the model holds, in the order of `ids_`.

        With ``kernel="precomputed"``, their kernel matrix.
        """
        with self._lock:
            now = self._fitted()
            return answered(now, now.holdings.rows.samples_copy())

    @property
    def y_fit_(self) -> Array:
        """Labels or targets of the held samples, in the order of `ids_`."""
        return self._fitted().holdings.y.copy()

    @property
    def sample_weight_(self) -> Array:
        """Weights of the held samples, in the order of `ids_`."""
        return self._fitted().holdings.weight.copy()

    @property
    def groups_(self) -> Array | None:
        """Groups of the held samples, in the order of `ids_`; None if they have none."""
        groups = self._fitted().holdings.groups
        return None if groups is None else groups.copy()

    @property
    def n_features_in_(self) -> int:
        """Number of features; number of samples for a precomputed kernel."""
        return self._fitted().holdings.rows.width

    @property
    def feature_names_in_(self) -> Array:
        """Feature names, if all of them were strings."""
        names = self._fitted().names
        if names is None:
            raise AttributeError("the samples came without names of features.")
        return names

    @property
    def rebuilds_(self) -> list[Rebuild]:
        """Records of when and why something was rebuilt since the last fit."""
        return list(self._fitted().engine.history)

    @property
    def chosen_on_data_(self) -> tuple[str, ...]:
        """Names of values that were chosen on samples and stay when samples are forgotten.

        After `forget`, these still depend on the forgotten samples, until ``reselect(fresh=True)``.
        """
        now = self._fitted()
        return (*now.spec.chosen_on_data, *self._serving().engine.chosen_on_data)
