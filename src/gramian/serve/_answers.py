"""What a model says of itself and of new rows, as values for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from gramian import data
from gramian.core.arrays import Array
from gramian.core.equations import nonconformity
from gramian.files.parts import estimator_of
from gramian.serve._live_store import Shown

LIVE = frozenset({"sets", "lower", "upper"})
"""Outputs that need the engine."""

LEFT_OUT = frozenset({"probabilities"})
"""Outputs that need leave-one-out values."""


def outputs(model: Any, rows: Any, names: list[str], confidence: float) -> dict[str, Array]:
    """The named outputs for rows."""
    made: dict[str, Any] = {}
    for name in names:
        if name == "prediction":
            made[name] = model.predict(rows)
        elif name == "classes":
            made[name] = model.classes_
        elif name == "probabilities":
            made[name] = model.predict_proba(rows)
        elif name == "decision":
            made[name] = model.decision_function(rows)
        elif name == "sets":
            made[name] = _sets(model, rows, confidence)
        elif name not in made:
            made["lower"], made["upper"] = _interval(model, rows, confidence)
    return {name: made[name] for name in names}


def _sets(model: Any, rows: Any, confidence: float) -> Array:
    if not hasattr(model, "predict_set"):
        raise ValueError(f"a {type(estimator_of(model)).__name__} has no sets with a guarantee.")
    return np.asarray(model.predict_set(rows, confidence=confidence))


def _interval(model: Any, rows: Any, confidence: float) -> tuple[Array, Array]:
    if not hasattr(model, "predict_interval"):
        raise ValueError(f"a {type(estimator_of(model)).__name__} has no intervals.")
    found = np.asarray(model.predict_interval(rows, confidence=confidence))
    return np.ascontiguousarray(found[..., 0]), np.ascontiguousarray(found[..., 1])


def left_out_error(shown: Shown) -> float:
    """The exact leave-one-out error: a rate, or of numbers the root mean square."""
    machine = estimator_of(shown.model)
    predicted, y = machine.loo_predict(), machine.y_fit_
    if is_classifier(machine):
        return float(np.mean(predicted != y))
    return float(np.sqrt(np.mean((y - predicted) ** 2)))


def left_out_sets(shown: Shown, confidence: float = 0.9) -> dict[str, float]:
    """How often sets or intervals from left-out values hold the truth, and how large they are.

    A label is in the set of a sample, or a number in its interval, unless it fits less well than
    all but a share of 1 − confidence of the samples fit, each left out.
    """
    machine = estimator_of(shown.model)
    y = machine.y_fit_
    if is_classifier(machine):
        F, own = machine.loo_decision_function().reshape(len(y), -1), machine.classes_
        labels = np.searchsorted(own, y)
        scores = np.stack([nonconformity(F, np.full(len(y), k)) for k in range(len(own))], axis=1)
        mine = scores[np.arange(len(y)), labels]
        inside = scores <= np.quantile(mine, confidence, method="higher")
        covered, size = inside[np.arange(len(y)), labels], inside.sum(axis=1)
    else:
        errors = np.abs(y - machine.loo_predict()).reshape(len(y), -1)
        reach = np.quantile(errors, confidence, axis=0, method="higher")
        covered, size = (errors <= reach).all(axis=1), 2.0 * reach[:1]
    return {
        "confidence": confidence,
        "covered": float(np.mean(covered)),
        "size": float(np.mean(size)),
    }


def left_out(shown: Shown, samples: bool) -> dict[str, Any]:
    """Leave-one-out error and score, and the prediction of each sample if asked for."""
    machine = estimator_of(shown.model)
    facts: dict[str, Any] = {
        "version": shown.version,
        "n": len(machine.ids_),
        "error": left_out_error(shown),
        "score": machine.loo_score(),
    }
    if samples:
        facts["ids"], facts["targets"] = machine.ids_.tolist(), machine.y_fit_.tolist()
        facts["predictions"] = machine.loo_predict().tolist()
    return facts


def doubtful(shown: Shown, count: int) -> dict[str, Any]:
    """The samples whose own target is least likely to the model without them."""
    holdings = len(estimator_of(shown.model).ids_)
    return {"version": shown.version, "n": holdings, "samples": data.doubtful(shown.model, count)}


def drift(store: Any) -> dict[str, Any]:
    """The measured residual, and what was rebuilt since the last fit."""

    def read(model: Any) -> dict[str, Any]:
        machine = estimator_of(model)
        rebuilt = [
            {"reason": event.reason, "n": event.n_samples, "edits": event.edits}
            for event in machine.rebuilds_
        ]
        return {"version": store.version, "drift": machine.drift(), "rebuilds": rebuilt}

    return store.read(read)
