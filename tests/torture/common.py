"""What the attacks share: fresh models to compare with, and what a good error looks like."""

from __future__ import annotations

import time
import traceback
from dataclasses import replace

import numpy as np
from sklearn.base import clone, is_classifier

from gramian.core.engines import make_rows
from gramian.orthogonal._fixed_basis import NOT_HELD

FLOOR = {"float64": 1e-9, "float32": 1e-3}


class Clock:
    """Whether time is left; with ``n`` also whether there are attempts left."""

    def __init__(self, seconds=None, n=None):
        self.end = None if seconds is None else time.monotonic() + seconds
        self.left = n

    def goes_on(self):
        """Whether one more attempt may be made."""
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                return False
        return self.end is None or time.monotonic() < self.end


def values(model, X):
    """Decision values of a classifier, predictions of a regressor."""
    return model.decision_function(X) if is_classifier(model) else model.predict(X)


def permuted(model, order):
    """A fresh model of the same choices that got its samples in another order."""
    now = model._serving()
    held = now.holdings
    rows = make_rows(held.rows.samples_copy()[order], precomputed=False)
    held = replace(
        held,
        rows=rows,
        y=held.y[order],
        weight=held.weight[order],
        ids=held.ids[order],
        version=object(),
    )
    twin, engine = clone(model), now.engine
    if hasattr(engine, "bases"):  # whose centres know their positions
        places = np.append(np.argsort(order), NOT_HELD)  # a centre that is not held has -1
        named = [basis.with_positions(places[basis.centres.samples]) for basis in engine.bases]
        engine = engine._moved(held, named)
    twin._now = now.moved(held, engine.fresh(held))
    return twin


def distance(a, b, least=0.0):
    """Largest difference relative to the largest of ``b``, or ``least``; infinities must agree."""
    if a.shape != b.shape:
        return np.inf
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.where(a == b, 0.0, np.abs(a - b))
    finite = np.abs(b[np.isfinite(b)]).max(initial=max(least, np.finfo(float).tiny))
    worst = difference.max(initial=0.0) / finite
    return np.inf if np.isnan(worst) else float(worst)


def bad_error(error, types=(ValueError, np.linalg.LinAlgError, MemoryError)):
    """What is wrong with an exception, or None: it must come from Gramian or scikit-learn's checks.

    Gramian's own are sentences that end with a full stop.
    """
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    module = frame.f_globals.get("__name__", "")
    package, text = module.split(".")[0], str(error)
    said = f"{type(error).__name__}: {text[:200]!r} from {module}"
    if not isinstance(error, types):
        return f"raised {said}"
    ours = package == "gramian"
    if not ours and package != "sklearn":
        return f"not in house style: {said}"
    if ours and not (text.rstrip().endswith(".") and text.isprintable() and len(text) < 1000):
        return f"not in house style: {said}"
    return None
