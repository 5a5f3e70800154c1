"""Searches over width and ridge together, from a setting already near the best."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from gramian.core.arrays import Array
from gramian.core.search._objective import Objective
from gramian.core.search._result import Trial

_SIMPLEX_EVALUATIONS = 60
_REACH = np.log(1e4)
_ENOUGH = 1e-3  # nats, and share of all that was gained; a step that gains less is the last
_RIDGE_FLOOR = 1e-11


def simplex(objective: Objective, gamma: float, ridge: float) -> Trial:
    """Nelder–Mead in log gamma and log ridge (saadi2004, §2.4), at most 60 evaluations."""
    trials: list[Trial] = []

    def value(x: Array) -> float:
        trials.append(objective.point(*_unpack(objective, x, gamma)))
        return trials[-1].objective

    x = _pack(objective, gamma, ridge)
    options = {
        "initial_simplex": np.vstack([x, x + np.log(2.0) * np.eye(len(x))]),
        "maxfev": _SIMPLEX_EVALUATIONS,
        "xatol": 0.05,
        "fatol": 1e-4,
    }
    minimize(value, x, method="Nelder-Mead", options=options)
    return min(trials, key=lambda trial: trial.objective)


def descend(objective: Objective, gamma: Any, ridge: float, *, steps: int) -> Trial:
    """L-BFGS in log gamma (one, or one per feature) and log ridge, by analytic gradients."""
    trials: list[Trial] = []
    rule, n = objective.criterion, objective.problem.n

    def value_and_gradient(x: Array) -> tuple[float, Array]:
        trial, by_width, by_ridge = objective.derivatives(*_unpack(objective, x, gamma))
        trials.append(trial)
        gradient = by_width if objective.ridge is not None else np.append(by_width, by_ridge)
        first, now = (rule.nats(some.objective, n) for some in (trials[0], trial))
        return now - first, rule.nats_slope(trial.objective, n) * gradient

    x = _pack(objective, gamma, ridge)
    bounds = np.column_stack([x - _REACH, x + _REACH])
    if objective.ridge is None:
        bounds[-1, 0] = max(bounds[-1, 0], min(x[-1], np.log(_least_ridge(objective, gamma))))
    options = {"maxiter": steps, "ftol": _ENOUGH}
    minimize(value_and_gradient, x, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return min(trials, key=lambda trial: trial.objective)


def _pack(objective: Objective, gamma: Any, ridge: float) -> Array:
    """The logarithms of what is tuned."""
    result: Array = np.log(
        np.atleast_1d(gamma) if objective.ridge is not None else np.append(gamma, ridge)
    )
    return result


def _unpack(objective: Objective, x: Array, like: Any) -> tuple[Any, float]:
    """Width and ridge, the width as a number or an array as ``like`` is."""
    values = np.exp(x)
    widths, ridge = (
        (values[:-1], float(values[-1])) if objective.ridge is None else (values, objective.ridge)
    )
    return (float(widths[0]) if np.ndim(like) == 0 else widths), ridge


def _least_ridge(objective: Objective, gamma: Any) -> float:
    """A ridge at which the Cholesky factorisation of A surely works: 1e-11 of its trace."""
    K = objective.problem.gram(gamma)
    return _RIDGE_FLOOR * objective.problem.equations.trace(K)
