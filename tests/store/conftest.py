"""A small store, and what a model of its rows says when it is fitted from scratch."""

import contextlib
import secrets
import sqlite3

import numpy as np
import pytest

from gramian import KernelDiscriminant
from gramian.store import Store, audit
from gramian.store._open import is_address
from tests.store.steps import reached


def make_rows(n=40, seed=0):
    """Samples of three features, with labels."""
    X = np.random.default_rng(seed).standard_normal((n, 3))
    return X, np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")


def fitted(X, y, **options):
    return KernelDiscriminant(gamma=0.3, ridge=0.1).fit(X, y, **options)


class Place:
    """Where a store is, and what it takes to open it."""

    def __init__(self, address, **options):
        self.address, self.options = address, options

    @property
    def keyring(self):
        return self.options.get("keyring")

    def create(self, model, **options):
        return Store.create(self.address, model, **self.options, **options)

    def open(self, **options):
        return Store.open(self.address, **self.options, **options)

    def audit(self, key=None, **options):
        return audit(self.address, key, **self.options, **options)

    def tamper(self, statement, *values):
        """Run a statement on the database behind the store's back."""
        if not is_address(self.address):
            with contextlib.closing(sqlite3.connect(self.address)) as connection, connection:
                return connection.execute(statement, values).fetchall()
        url, _, schema = self.address.partition("#")
        import psycopg

        with psycopg.connect(url) as connection:
            connection.execute(f"SET search_path = {schema}")
            cursor = connection.execute(statement.replace("?", "%s"), values)
            return cursor.fetchall() if cursor.description else []


KINDS = ("file", "sealed", "server")


def pytest_generate_tests(metafunc):
    """Every test of a store runs in each kind of place, unless it looks into the plain file."""
    if "kind" in metafunc.fixturenames:
        kinds = getattr(metafunc.module, "KINDS", KINDS)
        kinds = KINDS[:1] if "path" in metafunc.fixturenames else kinds
        metafunc.parametrize("kind", kinds)


@pytest.fixture
def place(kind, tmp_path, request):
    if kind == "file":
        return Place(tmp_path / "a.store")
    if kind == "sealed":
        pytest.importorskip("cryptography")
        return Place(tmp_path / "a.store", keyring=tmp_path / "a.keyring")
    name = f"s{secrets.token_hex(6)}"
    address = f"{request.getfixturevalue('server').url}#{name}"
    return Place(address, keyring=tmp_path / "a.keyring")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.store"


@pytest.fixture
def store(place):
    """A store of 30 rows with the ids 0 to 29."""
    X, y = make_rows()
    with place.create(fitted(X[:30], y[:30])) as opened:
        yield opened


@pytest.fixture
def at_step():
    """Raises an exception at a step of an edit, or calls a function there, once."""
    ends = []

    def arm(step, error):
        def happen(name):
            if name == step:
                ends.pop()()
                if not isinstance(error, BaseException):
                    return error()
                raise error
            return None

        ends.append(reached(happen))

    yield arm
    for end in ends:
        end()
