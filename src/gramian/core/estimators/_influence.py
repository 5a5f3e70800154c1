"""How far each sample moves the decision values of all samples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gramian.core.arrays import Array, one_blas_thread, row_blocks
from gramian.core.engines import DenseEngine, PrimalEngine
from gramian.core.equations import decision_changes


class Influence(NamedTuple):
    """How far the decision values of the held samples move when each held sample is removed.

    Distances are Euclidean over the outputs. All arrays have shape (n,), in the order of ``ids_``.
    """

    rms: Array
    """Root mean square over all held samples, including the removed one."""
    largest: Array
    """The largest over the other samples."""
    own: Array
    """Distance of the sample itself, from its fitted to its leave-one-out value."""


def sample_influence(model: Any) -> Influence:
    """Compute exactly how far decision values move when each held sample is removed.

    Equals n refits, but uses the closed form of `decision_changes`: O(n² t) for t
    outputs if the model holds an explicit inverse, O(n³) otherwise. Balanced class weights are not
    recomputed without the sample.

    Parameters
    ----------
    model : estimator
        A model that solves a system of all its samples: KernelDiscriminant with a ridge above 0,
        KernelFisherDiscriminant, LeastSquaresSVC or LeastSquaresSVR.

    Examples
    --------
    >>> from gramian import KernelDiscriminant
    >>> from gramian.datasets import make_banana
    >>> from gramian.core.estimators._influence import sample_influence
    >>> X, y = make_banana(100, random_state=0)
    >>> model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y)
    >>> sample_influence(model).rms.shape
    (100,)
    """
    with model._lock, one_blas_thread():
        now = model._serving()
        engine, holdings = now.engine, now.holdings
        if isinstance(engine, PrimalEngine):
            engine = DenseEngine(engine.spec, holdings)
        if not isinstance(engine, DenseEngine):
            raise ValueError(
                f"the influence of samples is known in closed form for models that solve with "
                f"K + λD, λ > 0; this {type(model).__name__} does not. Use "
                f"gramian.data.sample_values, which every estimator has."
            )
        return _influence(engine, holdings)


def _influence(engine: DenseEngine, holdings: Any) -> Influence:
    spec = engine.spec
    equations, ridge, targets = spec.equations, spec.shift, spec.targets(holdings)
    X, Y = engine.system.solution(), targets.columns
    R, s, shift = X[:, 1:], X[:, 0], equations.shift(ridge, targets.weight)
    leaving = equations.removals(Y, engine.moments, ridge)
    intercept, _ = equations.coefficients(R, s, 1.0 / targets.weight, ridge)
    fitted = (Y - shift[:, None] * (R - s[:, None] * intercept)).real
    n, (squares, largest, own) = len(R), np.zeros((3, len(R)))
    for block in row_blocks(n, n * R.shape[1]):
        at = np.arange(n)[block]
        delta = decision_changes(leaving, at, engine.system.factor.columns(at).T, s, shift)
        # The levels of Fisher's targets also change when a sample is removed.
        before = targets.combine(fitted[at])[:, None]
        moved = targets.combine_left_out(fitted[at][:, None] + delta) - before
        distance = np.linalg.norm(moved, axis=2)
        squares += np.sum(distance**2, axis=0)
        own[at] = distance[np.arange(len(at)), at]
        distance[np.arange(len(at)), at] = 0.0
        largest = np.maximum(largest, distance.max(axis=0))
    return Influence(np.sqrt(squares / n), largest, own)
