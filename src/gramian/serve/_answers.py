"""What a model says of itself and of new rows, as values for JSON."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from gramian import data
from gramian.core.arrays import Array
from gramian.core.equations import nonconformity
from gramian.core.estimators import positions_of
from gramian.serve._bodies import PLAIN, Parameters
from gramian.serve._edits import row_count
from gramian.serve._live_store import LiveStore, Published
from gramian.serve._metrics import Reading
from gramian.tables._model_rows import model_rows

NEED_ENGINE = frozenset({"sets", "lower", "upper"})
"""Outputs that need the engine."""

NEED_LOO = frozenset({"probabilities"})
"""Outputs that need leave-one-out values."""

_SLICE = 0.25  # seconds that one part of an answer in parts should take


def check_size(rows: Any, names: list[str], model: Any, most: int) -> None:
    """Raise ValueError if an answer would have more than so many values."""
    classes = len(model.classes_) if is_classifier(model) else 1
    cells = row_count(rows) * sum(classes if name != "prediction" else 1 for name in names)
    if cells > most:
        raise ValueError(f"the answer would have {cells} numbers; ask for fewer rows or outputs.")


def outputs(
    model: Any,
    rows: Any,
    names: list[str],
    asked: Parameters = PLAIN,
    seconds: float = 0.0,
) -> dict[str, Array]:
    """The named outputs for rows; sets and intervals as asked for, in so many seconds."""
    made: dict[str, Any] = {}
    level = asked.confidence_level
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
            made[name] = in_parts(
                lambda some: model.predict_set(
                    some, level, score=asked.score, mondrian=asked.mondrian
                ),
                rows,
                seconds,
            )
        elif name not in made:
            found = in_parts(
                lambda some: model.predict_interval(some, level, width=asked.width),
                rows,
                seconds,
            )
            made["lower"], made["upper"] = (np.ascontiguousarray(found[..., k]) for k in (0, 1))
    return {name: made[name] for name in names}


def in_parts(function: Callable[[Any], Any], rows: Any, seconds: float) -> Array:
    """The answers for rows, a part after the other; raises ValueError if they take too long."""
    count, done, size, begun = row_count(rows), 0, 1, monotonic()
    parts: list[Array] = []
    while done < count:
        start = monotonic()
        if start - begun > seconds:
            raise ValueError(
                f"{done} of {count} rows took {seconds:g} seconds, the most that an answer may "
                f"take; send at most {done} rows in a request."
            )
        parts.append(np.asarray(function(_some(rows, done, done + size))))
        done += size
        pace = _SLICE / max(monotonic() - start, 1e-9)
        size = max(1, int(size * min(8.0, pace)))
    return np.concatenate(parts)


def _some(rows: Any, start: int, stop: int) -> Any:
    if isinstance(rows, np.ndarray):
        return rows[start:stop]
    return {name: cells[start:stop] for name, cells in rows.items()}


def left_out_error(published: Published) -> float:
    """The exact leave-one-out error: a rate, or of numbers the root mean square."""
    model = published.model
    predicted, y = model.loo_predict(), model.y_fit_
    if is_classifier(model):
        return float(np.mean(predicted != y))
    return float(np.sqrt(np.mean((y - predicted) ** 2)))


def left_out_sets(published: Published, confidence_level: float = 0.9) -> dict[str, float]:
    """How often sets or intervals from left-out values hold the truth, and how large they are.

    A label is in the set of a sample, or a number in its interval, unless it fits less well than
    all but a share of 1 − confidence_level of the samples fit, each left out.
    """
    model = published.model
    y = model.y_fit_
    if is_classifier(model):
        F, own = model.loo_decision_function().reshape(len(y), -1), model.classes_
        labels = np.searchsorted(own, y)
        scores = np.stack([nonconformity(F, np.full(len(y), k)) for k in range(len(own))], axis=1)
        mine = scores[np.arange(len(y)), labels]
        inside = scores <= np.quantile(mine, confidence_level, method="higher")
        covered, size = inside[np.arange(len(y)), labels], inside.sum(axis=1)
    else:
        errors = np.abs(y - model.loo_predict()).reshape(len(y), -1)
        reach = np.quantile(errors, confidence_level, axis=0, method="higher")
        covered, size = (errors <= reach).all(axis=1), 2.0 * reach[:1]
    return {
        "confidence_level": confidence_level,
        "covered": float(np.mean(covered)),
        "size": float(np.mean(size)),
    }


def left_out(published: Published, samples: bool) -> dict[str, Any]:
    """Leave-one-out error and score, and the prediction of each sample if asked for."""
    model = published.model
    facts: dict[str, Any] = {
        "version": published.version,
        "n": len(model.ids_),
        "error": left_out_error(published),
        "score": model.loo_score(),
    }
    if samples:
        facts["ids"], facts["targets"] = model.ids_.tolist(), model.y_fit_.tolist()
        facts["predictions"] = model.loo_predict().tolist()
    return facts


def doubtful(published: Published, count: int) -> dict[str, Any]:
    """The samples whose own target is least likely to the model without them."""
    return {
        "version": published.version,
        "n": len(published.model.ids_),
        "samples": data.doubtful(published.model, count).rows(),
    }


def samples(published: Published, ids: list[Any]) -> dict[str, Any]:
    """Held samples: their values, targets, and what the model without each of them says."""
    model = published.model
    places = positions_of(model.ids_, ids)
    predicted, y = model.loo_predict(), model.y_fit_
    table = model_rows(model).held()
    found = [
        {
            "id": model.ids_[place].item(),
            "target": y[place].tolist(),
            "suggested": predicted[place].tolist(),
            "values": {name: column[[place]].tolist()[0] for name, column in table.items()},
        }
        for place in places
    ]
    return {"version": published.version, "samples": found}


def numerical_error(live: LiveStore) -> dict[str, Any]:
    """The measured residual, and what was rebuilt since the last fit; computed once a version."""
    cache = live.published.cache
    if "numerical error" not in cache:

        def read(model: Any) -> dict[str, Any]:
            rebuilt = [
                {"reason": event.reason, "n": event.n_samples, "edits": event.edits}
                for event in model.rebuilds_
            ]
            return {"numerical_error": model.drift(), "rebuilds": rebuilt}

        found, version = live.on_a_copy(read)
        cache["numerical error"] = {"version": version, **found}
    return dict(cache["numerical error"])


def reading(live: LiveStore) -> Reading:
    """What Prometheus reads of a model; of one that may not be answered for, that alone."""
    state: Reading = {
        "answering": ("Whether this process may answer for the store.", float(live.answering)),
        "waiting_edits": ("Edits that wait.", live.waiting),
    }
    return state | _model_reading(live) if live.answering else state


def _model_reading(live: LiveStore) -> Reading:
    """What is read of a model that may be answered for."""
    held = len(live.published.model.ids_)
    alone = held < 2  # nothing is left without it
    error = float("nan") if alone else left_out_error(live.with_loo())
    drift, numerical = live.data_drift.as_dict(), numerical_error(live)
    return {
        "samples": ("Samples that the model holds.", held),
        "version": ("Version of the store.", live.published.version),
        "open_receipts": (
            "Edits that another process which answers has not confirmed yet.",
            len(live.store.open_receipts()),
        ),
        "leave_one_out_error": (
            "Exact leave-one-out error, or of numbers the root mean square.",
            error,
        ),
        "numerical_error": (
            "Relative residual of the solution, from rounding alone.",
            numerical["numerical_error"],
        ),
        "rebuilds": ("What was rebuilt since the last fit.", len(numerical["rebuilds"])),
        "data_drift_log10": (
            "Log10 of a martingale that grows when the rows that arrive are unlike those held.",
            drift["log10_martingale"],
        ),
        "data_drift_rows": ("Rows that it has seen since the service began.", drift["rows"]),
        "data_drift_alarm": (
            "1 once the martingale has reached 100, which at most 1 of 100 services does in its "
            "whole life while the data stay as they were.",
            float(drift["alarm"]),
        ),
    }
