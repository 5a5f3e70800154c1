"""Searches over width and ridge together, from a setting already near the best."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from gramian._arrays import Array
from gramian.selection._objective import Objective
from gramian.selection._result import Trial

_SIMPLEX_EVALUATIONS = 60
_REACH = np.log(1e4)
_RIDGE_FLOOR = 1e-11


def simplex(objective: Objective, trial: Trial) -> Trial:
    """Nelder–Mead in log gamma and log ridge (saadi2004, §2.4), at most 60 evaluations."""
    trials = [trial]

    def value(x: Array) -> float:
        gamma, ridge = _unpack(x, objective, trial)
        trials.append(objective.point(gamma, ridge))
        return trials[-1].objective

    x = _pack(objective, trial)
    corners = np.vstack([x, x + np.log(2.0) * np.eye(len(x))])
    options = {
        "initial_simplex": corners,
        "maxfev": _SIMPLEX_EVALUATIONS,
        "xatol": 0.05,
        "fatol": 1e-4,
    }
    minimize(value, x, method="Nelder-Mead", options=options)
    return min(trials, key=lambda each: each.objective)


def descend(objective: Objective, trial: Trial, *, steps: int) -> Trial:
    """L-BFGS in log gamma (one, or one per feature) and log ridge, by analytic gradients."""
    trials: list[Trial] = []

    def value_and_gradient(x: Array) -> tuple[float, Array]:
        gamma, ridge = _unpack(x, objective, trial)
        found, by_width, by_ridge = objective.derivatives(gamma, ridge)
        trials.append(found)
        gradient = by_width if objective.ridge is not None else np.append(by_width, by_ridge)
        return found.objective, gradient

    x = _pack(objective, trial)
    bounds = np.column_stack([x - _REACH, x + _REACH])
    if objective.ridge is None:
        bounds[-1, 0] = max(bounds[-1, 0], min(x[-1], np.log(_least_ridge(objective, trial))))
    minimize(
        value_and_gradient,
        x,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": steps, "ftol": 1e-6},
    )
    return min(trials, key=lambda each: each.objective)


def _pack(objective: Objective, trial: Trial) -> Array:
    """The logarithms of what is tuned."""
    widths = np.atleast_1d(trial.gamma)
    return np.log(widths if objective.ridge is not None else np.append(widths, trial.ridge))


def _unpack(x: Array, objective: Objective, like: Trial) -> tuple[Any, float]:
    values = np.exp(x)
    widths = values if objective.ridge is not None else values[:-1]
    gamma = float(widths[0]) if np.ndim(like.gamma) == 0 else widths
    return gamma, float(values[-1]) if objective.ridge is None else objective.ridge


def _least_ridge(objective: Objective, trial: Trial) -> float:
    """A ridge at which the Cholesky factorisation of A surely works: 1e-11 of its trace."""
    K = objective.problem.gram(trial.gamma)
    trace = np.sum(K**2) if objective.problem.machine.squared else np.trace(K)
    return _RIDGE_FLOOR * float(trace)
