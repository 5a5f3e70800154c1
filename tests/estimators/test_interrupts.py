"""Interrupted anywhere, never broken: the model is the one before the edit or the one after."""

import copy
import os

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from gramian.core.engines import DeferredEngine
from tests.estimators.conftest import ESTIMATORS, ONE_OF_EACH, make_samples, values
from tests.interrupts import interrupted, lines_of, places

# GRAMIAN_EVERY_LINE=line interrupts at every execution of every line, which takes much longer.
EVERY = os.environ.get("GRAMIAN_EVERY_LINE")
N = 12


def samples(model, n=N + 4):
    X, y = make_samples(model, n)
    if is_classifier(model):
        y = np.arange(n) % 2
    return X, y


def start(name, **parameters):
    """A fitted model that has been edited and read, with its engine alive."""
    model = clone(ESTIMATORS[name]).set_params(**parameters)
    X, y = samples(model)
    model.fit(X[: N - 1], y[: N - 1]).partial_fit(X[N - 1 : N], y[N - 1 : N])
    seen(model)
    return model


def twin(model):
    """A copy with a live engine."""
    other = copy.deepcopy(model)
    if isinstance(other._now.engine, DeferredEngine):
        other._serving()
    return other


EDITS = {
    "fit": lambda model, X, y: model.fit(X[4:14], y[4:14]),
    "partial_fit": lambda model, X, y: model.partial_fit(X[N : N + 2], y[N : N + 2]),
    "forget": lambda model, X, y: model.forget([1, 4]),
    "exchange": lambda model, X, y: model.exchange([1, 4], X[N : N + 2], y[N : N + 2]),
    "rebuild": lambda model, X, y: model.rebuild(),
    "reselect": lambda model, X, y: model.reselect(fresh=True),
}
OWN_EDITS = {  # edits that only some estimators have
    ("fuzzy", "retune"): lambda model, X, y: model.retune(),
    ("lsvc-iteration", "partial_fit"): EDITS["partial_fit"],
    ("lsvc-linear", "forget"): EDITS["forget"],
    ("kda-cholesky", "forget"): EDITS["forget"],
    ("kda-qr", "partial_fit"): EDITS["partial_fit"],
}
READS = {
    "predict": lambda model, X, y: model.predict(X),
    "loo": lambda model, X, y: model.loo_score(),
}


def seen(model):
    """What a caller sees of a model."""
    X, _ = samples(model)
    left_out = model.loo_decision_function()
    return model.ids_, model.y_fit_, values(model, X), np.nan_to_num(left_out)


def equal(a, b):
    return all(
        x.shape == y.shape and (np.array_equal(x, y) or _close(x, y))
        for x, y in zip(a, b, strict=True)
    )


def _close(x, y):
    if x.dtype.kind != "f":
        return False
    scale = max(1.0, float(np.abs(y).max()))
    return bool(np.abs(x - y).max() <= 1e-8 * scale)  # far above rounding, far below any sample


def check_goes_on(model):
    """It learns and forgets, and is then the model that a fresh build is."""
    X, y = samples(model)
    model.partial_fit(X[:1] + 3.0, y[:1], ids=[900]).forget([3])
    fresh = model.refitted()
    assert equal(seen(model), seen(fresh))


def check_lines(name, edit, turn=0):
    """Interrupt an edit at many lines; the model is the one before or the one after."""
    model = start(name)
    X, y = samples(model)
    edit(twin(model), X, y)  # what is looked up once, such as the memory, is known from here on
    done = twin(model)
    lines = lines_of(lambda: edit(done, X, y))
    before, after = seen(model), seen(done)
    for number, k in enumerate(places(lines, EVERY, 20, turn)):
        torn = twin(model)
        assert interrupted(lambda torn=torn: edit(torn, X, y), k)
        found = seen(torn)
        assert equal(found, before) or equal(found, after), f"torn at {lines[k]}, line {k}"
        if number % 7 == 0:
            check_goes_on(torn)


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE_OF_EACH)
@pytest.mark.parametrize("edit", EDITS)
def test_an_interrupt_at_any_line(name, edit):
    """Estimators share most lines, and each takes others of them."""
    check_lines(name, EDITS[edit], list(ONE_OF_EACH).index(name))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "edit"), OWN_EDITS)
def test_an_interrupt_of_an_edit_of_their_own(name, edit):
    check_lines(name, OWN_EDITS[name, edit])


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE_OF_EACH)
@pytest.mark.parametrize("read", READS)
def test_an_interrupt_of_a_read_after_an_edit(name, read):
    """Reads fold updates and refine in place."""
    model = start(name)
    X, y = samples(model)
    edited = EDITS["forget"](twin(model), X, y)
    after = seen(twin(edited))
    lines = lines_of(lambda: READS[read](EDITS["forget"](twin(model), X, y), X, y))
    for k in places(lines, EVERY, 15, list(ONE_OF_EACH).index(name)):
        torn = EDITS["forget"](twin(model), X, y)
        interrupted(lambda torn=torn: READS[read](torn, X, y), k)
        assert equal(seen(torn), after), f"torn at {lines[k]}, line {k}"


class Failing:
    """The RBF kernel, which raises at its k-th call."""

    def __init__(self):
        self.left = None

    def __call__(self, X, Y):
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise self.error
        return np.exp(-0.5 * ((X[:, None] - Y[None]) ** 2).sum(axis=2))

    def __deepcopy__(self, memo):
        return self


@pytest.mark.parametrize("name", ONE_OF_EACH)
@pytest.mark.parametrize("edit", EDITS)
def test_a_kernel_that_fails(name, edit):
    kernel = Failing()
    errors = RuntimeError("the kernel failed"), MemoryError("no more")
    model = clone(ONE_OF_EACH[name]).set_params(kernel=kernel)
    X, y = samples(model)
    model.fit(X[:N], y[:N])
    done = twin(model)
    EDITS[edit](done, X, y)
    before, after = seen(model), seen(done)
    for k in range(40):
        torn = twin(model)
        seen(torn)
        kernel.left, kernel.error = k, errors[k % 2]
        try:
            EDITS[edit](torn, X, y)
        except type(kernel.error):
            failed = True
        else:
            failed = False
        kernel.left = None
        found = seen(torn)
        assert equal(found, before if failed else after)
        if not failed:
            break
