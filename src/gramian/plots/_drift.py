"""The measured residual of a model over its updates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.core.arrays import Array
from gramian.plots._display import BLUE, RED, Display, OptionalAxes


class DriftRecorder:
    """Record of a model's measured residual after each edit.

    The recorder passes edits on to the model and measures `drift` after each.

    A measurement costs O(n²), as much as an edit.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package.

    Attributes
    ----------
    model : estimator
    edits : ndarray of shape (m,)
        Number of samples learned or forgotten before each measurement.
    drift : ndarray of shape (m,)
        ``model.drift()`` at each measurement.
    rebuilt : list of (int, str)
        After which number of edits the factor was rebuilt, and why.

    Examples
    --------
    >>> from gramian import KernelDiscriminant
    >>> from gramian.datasets import make_banana
    >>> from gramian.plots import DriftRecorder
    >>> X, y = make_banana(60, random_state=0)
    >>> model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X[:40], y[:40])
    >>> recorder = DriftRecorder(model)
    >>> for i in range(20):
    ...     recorder.partial_fit(X[[40 + i]], y[[40 + i]])
    ...     recorder.forget(i)
    >>> int(recorder.edits[-1]), bool(recorder.drift.max() < 1e-10)
    (40, True)
    """

    def __init__(self, model: Any) -> None:
        check_is_fitted(model)
        self.model = model
        self._edits = [0]
        self._drift = [model.drift()]
        self._known = len(model.rebuilds_)
        self.rebuilt: list[tuple[int, str]] = []

    def partial_fit(self, X: Any, y: Any, **options: Any) -> None:
        """``model.partial_fit(X, y, **options)``, then a measurement."""
        before = len(self.model.ids_)
        self.model.partial_fit(X, y, **options)
        self.record(len(self.model.ids_) - before)

    def forget(self, ids: Any) -> None:
        """``model.forget(ids)``, then a measurement."""
        before = len(self.model.ids_)
        self.model.forget(ids)
        self.record(before - len(self.model.ids_))

    def record(self, edits: int = 0) -> None:
        """Measure after ``edits`` edits that were made directly on the model."""
        self._edits.append(self._edits[-1] + edits)
        self._drift.append(self.model.drift())
        events = self.model.rebuilds_
        self.rebuilt += [(self._edits[-1], event.reason) for event in events[self._known :]]
        self._known = len(events)

    @property
    def edits(self) -> Array:
        return np.array(self._edits)

    @property
    def drift(self) -> Array:
        return np.array(self._drift)


@dataclass(eq=False, repr=False)
class DriftDisplay(Display):
    """The measured relative residual over edits, and when the factor was rebuilt.

    Parameters
    ----------
    edits, drift : ndarray of shape (m,)
    rebuilt : list of (int, str)
        As a `DriftRecorder` keeps them.
    """

    edits: Array
    drift: Array
    rebuilt: Sequence[tuple[int, str]] = ()

    @classmethod
    def from_recorder(cls, recorder: DriftRecorder, *, ax: OptionalAxes = None) -> Self:
        """Draw the record of a `DriftRecorder`."""
        return cls(recorder.edits, recorder.drift, list(recorder.rebuilt)).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        drift = np.where(self.drift > 0, self.drift, np.nan)  # an exact 0 has no logarithm
        ax.plot(self.edits, drift, color=BLUE, linewidth=1.0, label="measured residual")
        if self.rebuilt:
            ax.plot(
                [edit for edit, _ in self.rebuilt],
                np.full(len(self.rebuilt), 0.03),
                transform=ax.get_xaxis_transform(),  # at the foot of the axes
                linestyle="none",
                marker="|",
                markersize=12,
                color=RED,
                label=f"factor rebuilt ({len(self.rebuilt)} ×)",
            )
        ax.set_yscale("log")
        ax.set_xlabel("samples that entered or left")
        ax.set_ylabel("relative residual")
        self._legend_above()
