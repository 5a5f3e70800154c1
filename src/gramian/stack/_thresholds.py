"""The part of a stack that sees its samples as trees do: by the sides of thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines import DenseSpec, Engine, Holdings, Stored
from gramian.core.engines._rows import make_rows
from gramian.core.kernels import Kernel, ThresholdKernel
from gramian.core.kernels._thresholds import Thresholds
from gramian.core.validation import check_array, check_keys, refuse

MOST = 16
"""Thresholds of a feature, at its quantiles."""


@dataclass(frozen=True, eq=False)
class ThresholdSpec(DenseSpec):
    """A spec that is tuned on φ(x), and predicts with a kernel of x that maps it itself.

    Width, metric and searched path are those of φ; see `ThresholdKernel`.

    Parameters
    ----------
    thresholds : Thresholds, optional
        None until they are chosen.
    """

    thresholds: Thresholds | None = None

    @property
    def predicts_with(self) -> Kernel:
        kernel = super().predicts_with
        return kernel if self.thresholds is None else ThresholdKernel(kernel, self.thresholds)

    # -- choices --------------------------------------------------------------------------------

    def without_factors(self, holdings: Holdings, start: DenseSpec | None = None) -> Self:
        """Choose thresholds by the quantiles of the samples, then width and ridge."""
        found = Thresholds.of(holdings.rows.samples(), MOST, holdings.weight)
        tuned = self._inside().without_factors(_mapped(holdings, found), start)
        return self._outside(tuned, found)

    def with_factors(
        self, holdings: Holdings, unit: DenseSpec, engine: Engine | None = None
    ) -> Self:
        """Choose a factor for each threshold; the thresholds stay those of ``unit``."""
        assert isinstance(unit, ThresholdSpec)
        assert unit.thresholds is not None
        rows = _mapped(holdings, unit.thresholds)
        tuned = self._inside().with_factors(rows, unit._inside())
        return self._outside(tuned, unit.thresholds)

    def to_choose(self) -> tuple[str, ...]:
        return (*self._inside().to_choose(), "thresholds")

    def fitted_numbers(self, width: int) -> int:
        """A factor of each threshold, where labels have chosen them."""
        return super().fitted_numbers(width if self.thresholds is None else len(self.thresholds))

    def _inside(self) -> DenseSpec:
        """The same on φ(x)."""
        own = {field.name: getattr(self, field.name) for field in fields(DenseSpec)}
        return DenseSpec(**{**own, "chosen_on_data": ()})

    def _outside(self, tuned: DenseSpec, thresholds: Thresholds) -> Self:
        own = {field.name: getattr(tuned, field.name) for field in fields(DenseSpec)}
        return replace(self, **{**own, "chosen_on_data": self.to_choose()}, thresholds=thresholds)

    # -- files ----------------------------------------------------------------------------------

    def chosen(self) -> dict[str, Any]:
        kept = self.thresholds
        own = None if kept is None else {"columns": kept.columns, "edges": kept.edges}
        return {**super().chosen(), "thresholds": own}

    def with_chosen(self, values: Mapping[str, Any]) -> Self:
        known = Thresholds(**values["thresholds"])
        return replace(super().with_chosen(values), thresholds=known)

    def validate_chosen(self, values: Mapping[str, Any], stored: Stored) -> None:
        own = check_keys(values["thresholds"], "thresholds_", ("columns", "edges"))
        edges = check_array(own["edges"], "thresholds_", (None,), "f")
        columns = check_array(own["columns"], "thresholds_", (len(edges),), "i")
        if not len(edges) or not ((columns >= 0) & (columns < stored.d)).all():
            refuse("thresholds_", "names features that the samples do not have, or none")
        sides = np.broadcast_to(False, (stored.n, len(edges)))  # for its shape
        super().validate_chosen(values, replace(stored, X=sides))


def _mapped(holdings: Holdings, thresholds: Thresholds) -> Holdings:
    """The same holdings with φ(x) in place of each sample."""
    sides: Array = thresholds(holdings.rows.samples())
    return replace(holdings, rows=make_rows(sides), version=object())
