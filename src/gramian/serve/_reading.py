"""What a model of the plane says: values to draw, leave-one-out errors, and layers on top."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.equations import class_scores, fit_calibration, probabilities
from gramian.core.estimators import sample_influence
from gramian.core.kernels import KERNELS, make_kernel
from gramian.serve._choices import BASIS, CURVE, REGIONS, SAMPLES, Choice, check_one_of
from gramian.serve._field import Field
from gramian.serve._slow_sets import SlowSets
from gramian.serve._toys import HEIGHT, WIDTH

FINE, COARSE, ROUGH = (128, 96), (64, 48), (32, 24)
"""Points of the grid; the others where a point costs more than its share of a product."""
SLOW = ((8, 6), (16, 12))
"""Points of sets that take a refit each."""
STEPS = 257
"""Points of a curve."""
CONFIDENCES = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)
"""Those for which a curve has intervals."""
WIDTHS = ("local", "constant")
"""Those of a curve's intervals."""


class Reader:
    """Reads one model after each of its edits.

    Parameters
    ----------
    choice : Choice
    """

    def __init__(self, choice: Choice) -> None:
        self.choice = choice
        self.shape = COARSE if choice.offer.holds == REGIONS else FINE
        self._field = Field(make_kernel(choice.kernel, gamma=choice.gamma), *_edges(self.shape))
        self._left_out: tuple[dict[str, Any], dict[str, Array]] | None = None
        self._slow_sets: SlowSets | None = None
        self._scale = 1.0  # of the probabilities, as the last leave-one-out values gave it

    @property
    def complete(self) -> bool:
        """Whether what takes longer was read since the last edit."""
        return self._left_out is not None

    def edited(self) -> None:
        """The model has changed."""
        self._left_out = self._slow_sets = None

    @property
    def queries(self) -> Array:
        """The points at which `values` are given."""
        if self.choice.offer.task == CURVE:
            return np.linspace(-WIDTH, WIDTH, STEPS)[:, None]
        return _grid(self.shape)

    def values(self, model: Any) -> Array:
        """Decision values (t, h, w) on the grid, or the curve (1, 1, w)."""
        offer = self.choice.offer
        if offer.task == CURVE:
            return np.asarray(model.predict(self.queries))[None, None]
        if offer.holds == REGIONS or not KERNELS[self.choice.kernel].has_width:
            F = outputs(model.decision_function(self.queries))
            return F.T.reshape(-1, *self.shape[::-1])
        ids, X = (
            (model.basis_ids_, model.basis_) if offer.holds == BASIS else (model.ids_, model.X_fit_)
        )
        return self._field.values(
            ids, X, outputs(model.dual_coef_), np.atleast_1d(model.intercept_)
        )

    def left_out(self, model: Any) -> tuple[dict[str, Any], dict[str, Array]]:
        """Leave-one-out error, and how well each sample agrees with the model without it.

        For classes, ``own`` is the probability of the sample's label and ``margin`` its lead over
        the best other label. For a curve, ``own`` is the residual, and ``margin`` is negative where
        it is larger than three of the typical (1.4826 times the median).
        """
        y = model.y_fit_
        if self.choice.offer.task == CURVE:
            residual = y - model.loo_predict() if len(y) > 1 else np.zeros(1)
            typical = 1.4826 * float(np.median(np.abs(residual)))
            error = float(np.sqrt(np.mean(residual**2))) if len(y) > 1 else None
            return {"error": error}, {"own": residual, "margin": 3 * typical - np.abs(residual)}
        classes = model.classes_
        F, labels = outputs(model.loo_decision_function()), np.searchsorted(classes, y)
        self._scale = fit_calibration(F, labels, len(classes), start=self._scale)
        P = probabilities(F, self._scale)
        mine = np.eye(len(classes), dtype=bool)[labels]
        own, other = P[mine], np.where(mine, 0.0, P).max(axis=1)
        Z = class_scores(F)
        wrong = int(np.sum(Z[mine] < np.where(mine, -np.inf, Z).max(axis=1)))
        return {"error": wrong / len(y), "wrong": wrong}, {"own": own, "margin": own - other}

    def support(self, model: Any) -> Array | None:
        """Weight of each held sample in the decision values, at most 1; None for regions."""
        if self.choice.offer.holds == REGIONS:
            return None
        size = np.linalg.norm(outputs(model.dual_coef_), axis=1)
        if self.choice.offer.holds == BASIS:
            weight = dict(zip(model.basis_ids_.tolist(), size, strict=True))
            size = np.array([weight.get(name, 0.0) for name in model.ids_.tolist()])
        return np.asarray(size / size.max(initial=np.finfo(float).tiny))

    def picture(self, model: Any, *, complete: bool) -> tuple[dict[str, Any], dict[str, Array]]:
        """All that is drawn after an edit; leave-one-out values if they are quick or asked for."""
        facts: dict[str, Any] = {"n": len(model.ids_)}
        arrays = {"ids": model.ids_}
        if complete or self.choice.offer.quick:
            if self._left_out is None:
                self._left_out = self.left_out(model)
            facts, arrays = {**facts, **self._left_out[0]}, {**arrays, **self._left_out[1]}
        values = self.values(model)
        facts |= {"outputs": len(values), "grid": values.shape[:0:-1], "scale": self._scale}
        if self.choice.offer.task != CURVE:
            facts["classes"] = model.classes_.tolist()
        support = self.support(model)
        arrays |= {"values": values} | ({} if support is None else {"support": support})
        return facts, arrays

    def layer(self, name: Any, model: Any) -> tuple[dict[str, Any], dict[str, Array]]:
        """One of `LAYERS`; nothing where this estimator does not have it, or not soon enough."""
        check_one_of("a layer", name, LAYERS)
        return LAYERS[name](self, model)

    def _sets(self, model: Any) -> tuple[dict[str, Any], dict[str, Array]]:
        """P-values of every class, or a curve's intervals of each width and confidence."""
        if not self.choice.offer.quick:
            if self._slow_sets is None:
                self._slow_sets = SlowSets([(shape, _grid(shape)) for shape in SLOW])
            return self._slow_sets.refine(model)
        if self.choice.offer.task == CURVE:
            queries = self.queries[::4]
            found = [
                model.predict_interval(queries, share, "jackknife+", width)
                for width in WIDTHS
                for share in CONFIDENCES
            ]
            facts = {"confidences": CONFIDENCES, "widths": WIDTHS}
            return facts, {"intervals": np.stack(found)}
        shape = ROUGH if len(model.ids_) > 150 else COARSE
        return {"rough": shape}, {"p_values": model.p_values(_grid(shape)).T}

    def _influence(self, model: Any) -> tuple[dict[str, Any], dict[str, Array]]:
        if self.choice.offer.holds != SAMPLES or self.choice.estimator == "LagrangianSVC":
            return {}, {}
        return {}, {"influence": sample_influence(model).rms}

    def _membership(self, model: Any) -> tuple[dict[str, Any], dict[str, Array]]:
        if self.choice.offer.holds != REGIONS:
            return {}, {}
        queries = _grid(COARSE)
        return (
            {"threshold": float(model.novelty_threshold_)},
            {"membership": model.predict_membership(queries).T, "novelty": model.novelty(queries)},
        )


LAYERS: dict[str, Callable[[Reader, Any], tuple[dict[str, Any], dict[str, Array]]]] = {
    "sets": Reader._sets,
    "influence": Reader._influence,
    "membership": Reader._membership,
}


def outputs(values: Array) -> Array:
    """Values as a matrix of one column per output."""
    return values[:, None] if values.ndim == 1 else values


def _edges(shape: tuple[int, int]) -> tuple[Array, Array]:
    return np.linspace(-WIDTH, WIDTH, shape[0]), np.linspace(-HEIGHT, HEIGHT, shape[1])


def _grid(shape: tuple[int, int]) -> Array:
    """All points of a grid, row by row, of shape (h w, 2)."""
    return np.stack(np.meshgrid(*_edges(shape)), axis=-1).reshape(-1, 2)
