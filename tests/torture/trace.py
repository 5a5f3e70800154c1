"""What a forgotten row leaves behind in the live object: an honest attempt to rebuild it.

Until updates are folded, the column w of the update that took the row out is among the pending
ones. It is P k / √s up to sign for the row's kernel values k, so that ``A w ∝ k``, and for the RBF
kernel ``−log k = γ ‖x − x_i‖² − log c`` is linear in x and one more number. Documented: the columns
stay until 32 are pending; `settle()`, which `gramian.forget` calls, pickling and saving remove
them. That they can be used in between is a finding and no failure; after `settle` it would be one.
"""

from __future__ import annotations

import numpy as np

import gramian
from tests.torture.common import Clock

FEATURES = 8
GAMMA = 0.05
SAMPLES = 240  # with fewer, no update is deferred
FOUND = 1e-3  # a row within this of the truth counts as rebuilt


def rebuilt(model):
    """Candidates for a forgotten row, from whatever updates are pending in the live object."""
    system = model._now.engine.system
    factor = system.factor
    pending = getattr(factor, "_pending", None)
    if pending is None:
        return
    X = model.X_fit_
    for column in range(pending.shape[1]):
        w = pending[factor.matrix.slots, column].real
        added = column < factor._deferred and factor._signs[column].real > 0
        if not np.any(w) or added:
            continue
        k = factor.multiply(w[:, None])[:, 0]
        k = k * np.sign(k[np.argmax(np.abs(k))])
        good = (k > 1e-13 * k.max()) & (w != 0.0)  # samples that came later have no part in w
        if good.sum() < FEATURES + 3:
            continue
        # −log k / γ = ‖x‖² − 2 x·x_i + ‖x_i‖² − log c / γ: linear in x and one number
        left = -np.log(k[good]) / GAMMA - (X[good] ** 2).sum(axis=1)
        columns = np.column_stack([-2.0 * X[good], np.ones(good.sum())])
        yield np.linalg.lstsq(columns, left, rcond=None)[0][:FEATURES]


def attempt(seed):
    """Distances of the best guess to a forgotten row, after `forget` and after `settle`."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((SAMPLES, FEATURES)), np.arange(SAMPLES) % 2
    model = gramian.KernelDiscriminant(gamma=GAMMA, ridge=0.1).fit(X, y)
    victim = int(rng.integers(SAMPLES))
    model.decision_function(X[:1])
    model.forget(victim)
    for i in range(int(rng.integers(0, 6))):
        model.partial_fit(rng.standard_normal((1, FEATURES)), [i % 2])
    distances = []
    for _ in range(2):
        guesses = [np.abs(guess - X[victim]).max() for guess in rebuilt(model)]
        distances.append(min(guesses, default=np.inf))
        model.settle()
    return distances


def main(seed=0, seconds=None, n=80, report=None):
    """Attempts, and failures: rows that were rebuilt although `settle` had been called."""
    clock, live, after, tried = Clock(seconds, n), [], [], 0
    while clock.goes_on():
        before, later = attempt([seed, tried])
        live.append(before)
        after.append(later)
        tried += 1
    found = sum(distance < FOUND for distance in live)
    if report is not None:
        report["trace"] = (
            f"{found} of {tried} rows were rebuilt from pending updates right after forget (best "
            f"to {min(live):.0e}), {sum(distance < FOUND for distance in after)} after settle()"
        )
    return tried, [
        f"trace: a row was rebuilt to {distance:.1e} after settle()"
        for distance in after
        if distance < FOUND
    ]
