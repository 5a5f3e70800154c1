"""A small store, and what a model of its rows says when it is fitted from scratch."""

import numpy as np
import pytest

from gramian import KernelDiscriminant
from gramian.store import Store
from tests.store.steps import reached


def make_rows(n=40, seed=0):
    """Samples of three features, with labels."""
    X = np.random.default_rng(seed).standard_normal((n, 3))
    return X, np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")


def fitted(X, y, **options):
    return KernelDiscriminant(gamma=0.3, ridge=0.1).fit(X, y, **options)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.store"


@pytest.fixture
def store(path):
    """A store of 30 rows with the ids 0 to 29."""
    X, y = make_rows()
    with Store.create(path, fitted(X[:30], y[:30])) as opened:
        yield opened


@pytest.fixture
def at_step():
    """Raises an exception at a step of an edit, once."""
    ends = []

    def arm(step, error):
        def happen(name):
            if name == step:
                ends.pop()()
                raise error

        ends.append(reached(happen))

    yield arm
    for end in ends:
        end()
