"""How far each sample moves the decision values of all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gramian.arrays import Array, row_blocks
from gramian.engines import GramEngine, SumsEngine
from gramian.machines import decision_changes


class Influence(NamedTuple):
    """What the departure of each held sample does to the decision values of the held samples.

    Distances are Euclidean over the outputs. All of shape (n,), in the order of ``ids_``.
    """

    rms: Array
    """Root mean square over all held samples, the leaving one included."""
    largest: Array
    """The largest over the other samples."""
    own: Array
    """That of the sample itself: from its fitted to its leave-one-out value."""


def sample_influence(model: Any) -> Influence:
    """How far decision values move when one sample leaves, exactly, for every held sample.

    Equal to n refits, from the closed form of `gramian.machines.decision_changes`: O(n² t) for t
    outputs where the model holds an explicit inverse, O(n³) otherwise. Balanced class weights
    stay those of all samples.

    Parameters
    ----------
    model : estimator
        One that solves with all of its samples: KernelDiscriminant with a ridge above 0,
        KernelFisherDiscriminant, LeastSquaresSVC or LeastSquaresSVR.

    Examples
    --------
    >>> from gramian import KernelDiscriminant
    >>> from gramian.datasets import make_banana
    >>> from gramian.estimators import sample_influence
    >>> X, y = make_banana(100, random_state=0)
    >>> model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y)
    >>> sample_influence(model).rms.shape
    (100,)
    """
    with model._lock:
        now = model._serving()
        engine, held = now.engine, now.held
        if isinstance(engine, SumsEngine):
            engine = GramEngine(engine.plan, held)
        if not isinstance(engine, GramEngine):
            raise ValueError(
                f"the influence of samples is known in closed form for models that solve with "
                f"K + λD, λ > 0; this {type(model).__name__} does not."
            )
        return _influence(engine, held)


def _influence(engine: GramEngine, held: Any) -> Influence:
    machine, ridge, targets = engine.plan.machine, engine.plan.ridge, engine.plan.targets(held)
    X, Y = engine.system.solution(), targets.columns
    R, s, shift = X[:, 1:], X[:, 0], machine.shift(ridge, targets.weight)
    leaving = machine.departures(Y, engine.moments, ridge)
    intercept, _ = machine.coefficients(R, s, 1.0 / targets.weight, ridge)
    fitted = (Y - shift[:, None] * (R - s[:, None] * intercept)).real
    n, (squares, largest, own) = len(R), np.zeros((3, len(R)))
    for block in row_blocks(n, n * R.shape[1]):
        at = np.arange(n)[block]
        delta = decision_changes(leaving, at, engine.system.factor.columns(at).T, s, shift)
        # The class levels of Fisher's targets change with the sample that leaves, too.
        before = targets.combine(fitted[at])[:, None]
        moved = targets.combine_left_out(fitted[at][:, None] + delta) - before
        distance = np.linalg.norm(moved, axis=2)
        squares += np.sum(distance**2, axis=0)
        own[at] = distance[np.arange(len(at)), at]
        distance[np.arange(len(at)), at] = 0.0
        largest = np.maximum(largest, distance.max(axis=0))
    return Influence(np.sqrt(squares / n), largest, own)
