"""Keyrings: one in a file, and one that stands for a key management service, by the same tests."""

import os
import signal
from contextlib import contextmanager
from threading import Lock

import numpy as np
import pytest

from gramian.store import (
    FileKeyring,
    Keyring,
    OldCopyError,
    Store,
    StoreBusyError,
    StoreError,
    audit,
    restore,
)
from tests.store.conftest import fitted, make_rows
from tests.store.test_disk import files_with, in_child

pytest.importorskip("cryptography")


class ServiceKeyring(Keyring):
    """Keys in the memory of a service; ``down`` names the call that it does not answer."""

    def __init__(self):
        self._id, self._lock, self.down = os.urandom(16), Lock(), ""
        self._keys, self._table = {1: os.urandom(32)}, {}

    @property
    def store_id(self):
        return self._id

    def keys(self):
        return dict(self._keys)

    def table(self):
        return dict(self._table)

    @contextmanager
    def turn(self):
        if not self._lock.acquire(timeout=0.1):
            raise StoreBusyError("another process erases.")
        try:
            yield
        finally:
            self._lock.release()

    def start(self, epoch, key, table):
        self._answer("start")
        kept = {old: value for old, value in self._keys.items() if old == epoch - 1}
        self._keys, self._table = {**kept, epoch: key}, dict(table)

    def finish(self, epoch):
        self._answer("finish")
        self._keys = {old: key for old, key in self._keys.items() if old >= epoch}

    def _answer(self, call):
        if self.down == call:
            raise StoreError("the service does not answer.")


@pytest.fixture(params=["file", "service"])
def ring(request, tmp_path):
    return FileKeyring.create(tmp_path / "ring") if request.param == "file" else ServiceKeyring()


def test_keys_of_two_epochs_exist_until_one_is_destroyed(ring):
    (first,) = ring.keys().values()
    assert (len(ring.store_id), len(first), ring.table()) == (16, 32, {})
    second, third = os.urandom(32), os.urandom(32)
    with ring.turn():
        ring.start(2, second, {0: b"a page", 7: b""})
        assert ring.keys() == {1: first, 2: second}
        assert ring.table() == {0: b"a page", 7: b""}
        ring.finish(2)
        assert ring.keys() == {2: second}
    with ring.turn():
        ring.start(3, third, {})
        ring.start(4, first, {1: b"another"})  # the epoch before was never used
        assert set(ring.keys()) == {3, 4}
        ring.finish(4)
    assert ring.keys() == {4: first}
    assert ring.table() == {1: b"another"}


def test_a_store_with_any_keyring(ring, tmp_path):
    X, y = make_rows()
    with Store.create(tmp_path / "a.store", fitted(X[:30], y[:30]), keyring=ring) as store:
        store.backup(tmp_path / "copy")
        receipt = store.forget([3, 7])
        assert receipt.epoch == store.epoch == 2
        store.learn(X[30:31], y[30:31])
    with pytest.raises(OldCopyError, match="2 of those"):
        Store.open(tmp_path / "copy", keyring=ring)
    assert audit(tmp_path / "a.store", keyring=ring).passed
    new = type(ring)() if isinstance(ring, ServiceKeyring) else tmp_path / "new"
    restore(tmp_path / "copy", tmp_path / "again", keyring=ring, new_keyring=new)
    with Store.open(tmp_path / "again", keyring=new) as again:
        rows = [i for i in range(30) if i not in (3, 7)]
        expected = fitted(X[rows], y[rows]).decision_function(X)
        np.testing.assert_allclose(again.decision_function(X), expected, atol=1e-12)


def test_a_service_that_does_not_answer(tmp_path):
    X, y = make_rows()
    ring = ServiceKeyring()
    with Store.create(tmp_path / "a.store", fitted(X[:30], y[:30]), keyring=ring) as store:
        ring.down = "start"
        with pytest.raises(StoreError, match=r"does not answer\. Nothing was changed"):
            store.forget(3)
        assert (store.version, len(ring.keys())) == (0, 1)
        ring.down = "finish"
        with pytest.raises(StoreError, match=r"does not answer"):
            store.forget(3)
        assert len(ring.keys()) == 2
    ring.down = ""
    with Store.open(tmp_path / "a.store", keyring=ring) as store:
        assert store.version == 1
        assert len(ring.keys()) == 1  # what could not be destroyed then is destroyed now
        with ring.turn(), pytest.raises(StoreBusyError, match=r"erases\. Nothing was changed"):
            store.forget(4)
        store.forget(4)
        assert store.audit(refit=True).passed


def test_without_a_keyring_it_is_said_that_copies_are_not_reached(tmp_path):
    X, y = make_rows()
    with Store.create(tmp_path / "a.store", fitted(X[:30], y[:30])) as store:
        receipt = store.forget(3)
        report = {check.name: check.detail for check in store.audit().checks}
    assert receipt.epoch is None
    assert "not reached: without a keyring" in report["copies"]


def test_a_key_in_a_file_that_a_killed_process_left_is_destroyed(tmp_path):
    """Killed before the new file has the name of the keyring: it has the old key, too."""
    X, y = make_rows()
    options = {"keyring": tmp_path / "ring"}
    Store.create(tmp_path / "a.store", fitted(X[:30], y[:30]), **options).close()
    (old,) = FileKeyring(tmp_path / "ring").keys().values()

    def erase():
        store = Store.open(tmp_path / "a.store", **options)
        os.replace = lambda *names: os.kill(os.getpid(), signal.SIGKILL)
        store.forget(3)

    assert in_child(erase) == -signal.SIGKILL
    assert len(files_with(tmp_path, old)) == 2
    with Store.open(tmp_path / "a.store", **options) as store:
        store.forget(3)
    assert files_with(tmp_path, old) == []
    assert not list(tmp_path.glob("ring.*"))
