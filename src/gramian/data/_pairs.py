"""What two samples are to each other: predictions by the model that has seen neither."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.core.arrays import Array, one_blas_thread
from gramian.core.estimators import (
    coded_targets,
    output_pair_effects,
    outputs_without_pairs,
    positions_of,
)
from gramian.core.gram._memory import require_memory
from gramian.tables import estimator_of
from gramian.tables._model_rows import model_rows


@dataclass(frozen=True, eq=False)
class LeftOutPairs:
    """Outputs at every held sample of the models without it and without one other sample.

    Attributes
    ----------
    ids : ndarray of shape (n,)
        In the order of the model's ``ids_``.
    values : ndarray of shape (n, n, t)
        ``values[i, j]`` is the output at sample j of the model without samples i and j; where j is
        i, the leave-one-out output. One column for two classes or one target. Where samples have
        groups, the groups of both are left out.
    targets : ndarray of shape (n, t)
        The outputs that the samples should have: their targets, or 1 for their class and −1 for
        the others.
    effects : ndarray of shape (m, n, n, t), optional
        Of each query, if there were any: ``effects[q, i, j]`` is what its output loses without
        samples i and j, and where j is i, without sample i alone.
    """

    ids: Array
    values: Array
    targets: Array
    effects: Array | None = None

    @property
    def residuals(self) -> Array:
        """Targets minus `values`, of shape (n, n, t)."""
        return np.asarray(self.targets - self.values)

    @property
    def influence(self) -> Array:
        """What the presence of i adds to the left-out output of j, (n, n, t); 0 where j is i."""
        n = len(self.ids)
        return np.asarray(self.values[np.arange(n), np.arange(n)] - self.values)

    def explain(self, id: Any, k: int = 5) -> list[tuple[Any, float]]:
        """The k samples that influence the left-out prediction of a sample most.

        Returns
        -------
        list of (id, influence)
            The largest first; of several outputs, the one that changes most counts.
        """
        j, names = int(positions_of(self.ids, [id])[0]), self.ids.tolist()
        parts = self.influence[:, j]
        which = np.abs(parts).argmax(axis=1)
        change = parts[np.arange(len(parts)), which]
        order = np.argsort(-np.abs(change), kind="stable")
        return [(names[i], float(change[i])) for i in order if i != j][:k]

    def explain_query(self, query: int = 0, k: int = 5) -> list[tuple[Any, Any, float, float]]:
        """The k pairs of samples without which the prediction of a query would change most.

        Parameters
        ----------
        query : int
            Its position among the queries that `leave_two_out` was given.
        k : int

        Returns
        -------
        list of (id, id, effect, jointly)
            The effect is what the prediction loses without both, the largest first; of several
            outputs, the one that changes most counts. Jointly is what the effect has beyond those
            of both alone: more than 0 of it where one stands in for the other, as copies do.

        Raises
        ------
        ValueError
            If there were no queries.
        """
        if self.effects is None:
            raise ValueError(
                "explain_query needs queries, and leave_two_out was given none. Call "
                "leave_two_out(model, X)."
            )
        effects, names, n = self.effects[query], self.ids.tolist(), len(self.ids)
        i, j = np.triu_indices(n, 1)
        both = effects[i, j]
        which = np.abs(both).argmax(axis=1)
        alone = effects[np.arange(n), np.arange(n)]
        order = np.argsort(-np.abs(both[np.arange(len(i)), which]), kind="stable")[:k]
        return [
            (
                names[i[p]],
                names[j[p]],
                float(both[p, which[p]]),
                float((both[p] - alone[i[p]] - alone[j[p]])[which[p]]),
            )
            for p in order
        ]

    def leaks(self, k: int = 10) -> list[tuple[Any, Any, float]]:
        """The k pairs whose members answer for each other most: copies, mostly.

        A pair leaks if the error of each is small while the other is there, and grows when both
        are left out. Leave-one-out, or a split that parts them, is then too optimistic.

        Returns
        -------
        list of (id, id, leak)
            The leak is the growth of both errors: ``|r_{j|i}| − |r_j| + |r_{i|j}| − |r_i|``, of
            several outputs the sum over all.
        """
        sizes, names = np.abs(self.residuals).sum(axis=2), self.ids.tolist()
        grown = sizes - sizes.diagonal()
        both = grown + grown.T
        i, j = np.triu_indices(len(names), 1)
        order = np.argsort(-both[i, j], kind="stable")[:k]
        return [
            (names[a], names[b], float(both[a, b])) for a, b in zip(i[order], j[order], strict=True)
        ]


def leave_two_out(model: Any, X: Any = None) -> LeftOutPairs:
    """Exact outputs of the models without each pair of held samples, in closed form.

    All n² pairs cost O(n²) after the fit, where refits would cost O(n⁵). Hyper-parameters stay.

    Parameters
    ----------
    model : estimator or TableModel
        `LeastSquaresSVC`, `LeastSquaresSVR`, a stack, or an `OrthogonalKernelClassifier` or
        `OrthogonalKernelRegressor`, whose centres stay.
    X : array-like or CSR matrix of shape (m, n_features), or table, optional
        Queries: what their predictions lose without each pair is in ``effects``. All pairs of a
        query cost O(n²), and as much memory.

    Returns
    -------
    LeftOutPairs

    Raises
    ------
    ValueError
        If the estimator has no closed form, as with balanced class weights.

    Examples
    --------
    A row that was entered twice answers for itself:

    >>> import numpy as np
    >>> from gramian import LeastSquaresSVR
    >>> from gramian.data import leave_two_out
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(40)
    >>> X[4], y[4], y[9] = X[9], 3.0, 3.0
    >>> pairs = leave_two_out(LeastSquaresSVR(gamma=0.3, C=10.0).fit(X, y))
    >>> pairs.values.shape, pairs.leaks(1)[0][:2]
    ((40, 40, 1), (4, 9))

    Which two samples lift the prediction at a query? The copies, and more than the sum of what each
    does: without one, the other is still there.

    >>> pairs = leave_two_out(LeastSquaresSVR(gamma=0.3, C=10.0).fit(X, y), [[-1.5]])
    >>> first, second, effect, jointly = pairs.explain_query(k=1)[0]
    >>> first, second, round(effect, 2), round(jointly, 2)
    (4, 9, 0.9, 0.12)
    """
    estimator = estimator_of(model)
    queries = None if X is None else model_rows(model).features(X)
    with estimator._lock, one_blas_thread():
        ids, targets = estimator.ids_, coded_targets(estimator)
        n, t = targets.shape
        require_memory(8 * n * n * t, f"The outputs without each pair of {n} samples")
        values = np.empty((n, n, t))
        for at, F in outputs_without_pairs(estimator):
            values[at] = F
        effects = None
        if queries is not None:
            m = np.shape(queries)[0]
            require_memory(24 * m * n * n * t, f"What {m} queries lose without pairs of {n}")
            effects = output_pair_effects(estimator, queries)
    return LeftOutPairs(ids, values, targets, effects)
