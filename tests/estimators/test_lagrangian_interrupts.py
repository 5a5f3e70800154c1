"""LagrangianSVC interrupted at lines of gramian: it is as before the edit or as after it."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import gramian
from gramian import LagrangianSVC

# One in so many of the lines, other ones for each edit and model; 1 takes all (seven minutes).
STRIDE = 15
HOME = str(Path(gramian.__file__).parent)
MODELS = {
    "pivot": LagrangianSVC(gamma=0.3, C=10.0),
    "iteration": LagrangianSVC(gamma=0.3, C=10.0, solver="lagrangian", tol=1e-10),
    "linear": LagrangianSVC(kernel="linear", C=10.0),
}
EDITS = {
    "fit": lambda model, X, y: model.fit(X[4:14], y[4:14]),
    "partial_fit": lambda model, X, y: model.partial_fit(X[12:15], y[12:15]),
    "new class": lambda model, X, y: model.partial_fit(X[12:15], [7, 7, 7]),
    "forget": lambda model, X, y: model.forget([0, 3, 5]),
    "refactor": lambda model, X, y: model.refactor(),
    "reselect": lambda model, X, y: model.reselect(fresh=True),
}


def samples():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((16, 2))
    return X, np.where(X[:, 0] + 0.3 * rng.standard_normal(16) > 0, 1, 0)


def fitted(name):
    X, y = samples()
    return clone(MODELS[name]).fit(X[:12], y[:12])


def seen(model):
    """Ids, decision values and leave-one-out values."""
    values = model.decision_function(samples()[0]), model.loo_decision_function()
    return model.ids_.tolist(), np.concatenate([part.ravel() for part in values])


def same(a, b):
    return a[0] == b[0] and a[1].shape == b[1].shape and np.allclose(a[1], b[1], atol=1e-7)


class Interrupt:
    """Runs an edit; raises KeyboardInterrupt at a line of gramian, the n-th time it is reached."""

    def __init__(self, at=None):
        self.at, self.counts = at, {}

    def trace(self, frame, event, arg):
        if not frame.f_code.co_filename.startswith(HOME):
            return None
        if event == "line":
            place = frame.f_code.co_filename, frame.f_lineno
            self.counts[place] = self.counts.get(place, 0) + 1
            if self.at == (place, self.counts[place]):
                raise KeyboardInterrupt
        return self.trace

    def run(self, edit, model):
        sys.settrace(self.trace)
        try:
            edit(model, *samples())
        except (KeyboardInterrupt, ValueError):
            pass
        finally:
            sys.settrace(None)
        return self.counts


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("name", MODELS)
def test_an_interrupt_leaves_the_model_before_or_after(name, edit):
    X, y = samples()
    before, whole = seen(fitted(name)), fitted(name)
    counts = Interrupt().run(EDITS[edit], whole)
    after = seen(whole)
    assert len(counts) > 10
    first = (len(name) + 2 * len(edit)) % STRIDE
    for place, times in list(counts.items())[first::STRIDE]:
        for time in {1, times}:  # the first and the last time that the line is reached
            model = fitted(name)
            Interrupt((place, time)).run(EDITS[edit], model)
            assert same(seen(model), before) or same(seen(model), after), place
            model.partial_fit(X[15:], y[15:], ids=[99]).forget([99])
            assert same(seen(model), before) or same(seen(model), after), place
            model.partial_fit(X[15:], y[15:], ids=[77]).forget(model.ids_[:2])
            fresh = clone(model).fit(model.X_fit_, model.y_fit_, ids=model.ids_)
            assert same(seen(model), seen(fresh)), place
