"""Coalitions of the samples of a model, visited by live edits of one copy of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.estimators import OutputLoss, free_copy, outputs, outputs_without_each


@dataclass(frozen=True, eq=False)
class Coalitions:
    """A copy of a model that holds some of its samples, and the test loss of each coalition.

    Parameters
    ----------
    twin : estimator
        The copy, which only this object edits.
    ids, rows, y, weight : ndarray of length n
        The samples of all coalitions.
    X, targets : test samples
    loss : OutputLoss
    """

    twin: Any
    ids: Array
    rows: Any
    y: Array
    weight: Array
    X: Any
    targets: Array
    loss: OutputLoss

    @classmethod
    def of(cls, model: Any, X: Any, targets: Array, loss: OutputLoss) -> Coalitions:
        """Copy a model.

        Raises
        ------
        ValueError
            If what the model is depends on the order of edits, or if its kernel is precomputed.
        """
        if "basis" in model.chosen_on_data_:
            raise ValueError(
                f"{type(model).__name__} chooses centres among its samples, so that a coalition "
                f'has no model of its own. Take method="loo", or an estimator without a basis.'
            )
        if model.__sklearn_tags__().input_tags.pairwise:
            raise ValueError(
                'coalitions need samples, not a precomputed kernel. Take method="loo", or pass the '
                "kernel as a function."
            )
        holdings = model.ids_, model.X_fit_, model.y_fit_, model.sample_weight_
        return cls(free_copy(model), *holdings, X, targets, loss)

    def banzhaf(self, rng: Any) -> Iterator[Array]:
        """Yield what each sample is worth in a random coalition or in its complement.

        Without i, either is a random coalition of the other samples, as Banzhaf's value wants.
        """
        while True:
            inside = rng.random_sample(len(self.ids)) < 0.5
            yield self._worth([np.flatnonzero(inside), np.flatnonzero(~inside)])

    def shapley(self, rng: Any) -> Iterator[Array]:
        """Yield what each sample is worth in random coalitions of every order of size.

        Shapley's value is the mean over all sizes 1 … n. One size is drawn from each of 1, 2–3,
        4–7, …; it stands for all of these, and the samples are cut into coalitions of that size.
        Small coalitions, in which a sample matters most, are thus visited as often as they weigh.
        """
        n = len(self.ids)
        starts = 2 ** np.arange(int(np.log2(n)) + 1)
        ends = np.append(starts[1:], n + 1)
        while True:
            values = np.zeros(n)
            for start, end in zip(starts, ends, strict=True):
                size, order = int(rng.randint(start, end)), rng.permutation(n)
                last = [order[n - size :]] if n % size else []
                parts = [order[j : j + size] for j in range(0, n - size + 1, size)]
                values += (end - start) / n * self._worth([*parts, *last])
            yield values

    def _worth(self, coalitions: list[Array]) -> Array:
        """Loss without each sample minus loss with it, in the coalition that it belongs to."""
        values = np.zeros(len(self.ids))
        for members in coalitions:
            if self._possible(members):  # otherwise no part of it has a model either
                self._move(members)
                at = self._positions()
                values[at] = self._without(at) - self._loss()
        return values

    def _possible(self, members: Array) -> bool:
        """Whether a coalition has a model."""
        if self.loss.classes is None:
            return len(members) > 0
        return len(np.unique(self.y[members])) >= 2

    def _positions(self) -> Array:
        """Positions among all samples of those that the twin holds, in its own order."""
        order = np.argsort(self.ids)
        result: Array = order[np.searchsorted(self.ids[order], self.twin.ids_)]
        return result

    def _move(self, members: Array) -> None:
        """Edit the twin until it holds these samples: it learns, then forgets."""
        holdings = self._positions()
        new, old = np.setdiff1d(members, holdings), np.setdiff1d(holdings, members)
        if len(new):
            self.twin.partial_fit(
                self.rows[new], self.y[new], ids=self.ids[new], sample_weight=self.weight[new]
            )
        self.twin.forget(self.ids[old])

    def _loss(self) -> float:
        return float(self.loss(outputs(self.twin, self.X), self.targets).mean())

    def _without(self, at: Array) -> Array:
        """Loss without each member; that of a guess where the others have no model."""
        guess = float(self.loss.guess(self.targets).mean())
        if len(at) == 1:
            return np.array([guess])
        losses = np.zeros(len(at))
        for rows, F in outputs_without_each(self.twin, self.X):
            losses += self.loss(F, self.targets[rows, None]).sum(axis=0) / len(self.targets)
        if self.loss.classes is None:
            return losses
        kinds, label, counts = np.unique(self.y[at], return_inverse=True, return_counts=True)
        return np.where((counts[label] == 1) & (len(kinds) == 2), guess, losses)
