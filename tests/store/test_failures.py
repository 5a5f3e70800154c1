"""What fails leaves the store as it was: bad input, a full disk, an interrupt, another process."""

import multiprocessing
import os
import sqlite3

import numpy as np
import pytest

from gramian.store import Store, StoreBusyError, StoreError, _sqlite_tables
from tests.store.conftest import make_rows
from tests.store.steps import STEPS

FORK = multiprocessing.get_context("fork")


def state(store):
    return store.version, store.model.ids_.tolist(), store.decision_function(make_rows()[0])


def stored(place):
    """All that the database has of rows, receipts and keys."""
    tables = ("rows", "receipts", "settings", "keys")
    return [place.tamper(f"SELECT * FROM {name} ORDER BY 1") for name in tables]


def assert_same(one, other):
    assert one[:2] == other[:2]
    np.testing.assert_allclose(one[2], other[2], atol=1e-12)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda s: s.learn([[1.0, 2.0]], ["yes"]), "features"),
        (lambda s: s.learn([[1.0, np.nan, 0.0]], ["yes"]), "NaN"),
        (lambda s: s.learn([[1.0, 2.0, 3.0]], [5]), "y must be strings"),
        (lambda s: s.learn([[1.0, 2.0, 3.0]], ["yes"], ids=[3]), "already held"),
        (lambda s: s.learn([[1.0, 2.0, 3.0]]), "needs the targets"),
        (lambda s: s.forget([1000]), "does not hold"),
        (lambda s: s.forget([]), "no ids"),
        (lambda s: s.forget([i for i in range(30) if i != 9]), "two classes"),
        (lambda s: s.relabel([1000], ["yes"]), "does not hold"),
        (lambda s: s.relabel([3, 4], ["yes"]), "for each of 2 ids"),
        (lambda s: s.relabel([3], [7]), "y must be strings"),
    ],
)
def test_bad_input_leaves_nothing(store, place, edit, message):
    store.forget(9)
    before, content = state(store), stored(place)
    with pytest.raises(ValueError, match=message):
        edit(store)
    assert_same(state(store), before)
    assert stored(place) == content
    store.forget(3)
    assert store.audit(refit=True).passed


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    ("action", "error"),
    [("learn", OSError("gone")), ("forget", KeyboardInterrupt()), ("relabel", OSError("gone"))],
)
def test_a_failure_at_any_step_leaves_the_version_before_or_after(
    store, place, at_step, step, action, error
):
    if (step, action) == ("erased", "learn"):
        pytest.skip("nothing is erased")
    X, y = make_rows()
    edits = {
        "learn": lambda: store.learn(X[30:32], y[30:32]),
        "forget": lambda: store.forget([3, 4]),
        "relabel": lambda: store.relabel([3], ["yes" if y[3] == "no" else "no"]),
    }
    before = state(store)
    at_step(step, error)
    with pytest.raises(type(error)):
        edits[action]()
    on_disk = len(place.tamper("SELECT number FROM receipts")) - 1
    assert store.version == on_disk == (step in ("committed", "erased", "seen"))
    if store.version == 0:
        assert_same(state(store), before)
        edits[action]()
    assert store.version == 1
    assert store.audit(refit=True).passed


def test_a_full_disk(store, path):
    X, y = make_rows()
    before = state(store)
    ((pages,),) = store._backend._run("PRAGMA page_count")
    store._backend._run(f"PRAGMA max_page_count={pages}")
    with pytest.raises(StoreError, match=r"disk is full\..*Nothing was changed"):
        store.learn(np.repeat(X, 10, axis=0), np.repeat(y, 10))
    assert_same(state(store), before)
    store.forget(3)
    assert store.audit(refit=True).passed


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_that_cannot_be_written_to(store, path):
    store.close()
    path.parent.chmod(0o500)
    try:
        with pytest.raises(StoreError, match="cannot be written to"):
            Store.open(path)
        with Store.open(path, readonly=True) as reader:
            assert reader.version == 0
    finally:
        path.parent.chmod(0o700)


def test_one_writer_in_a_process(store, path):
    with pytest.raises(StoreBusyError, match="in this process already"):
        Store.open(path)
    store.close()
    Store.open(path).close()


def test_one_writer_among_processes(path, store):
    store.close()
    ready, done = FORK.Event(), FORK.Event()

    def hold():
        with Store.open(path):
            ready.set()
            done.wait()

    process = FORK.Process(target=hold)
    process.start()
    ready.wait()
    with pytest.raises(StoreBusyError, match=f"process {process.pid}"):
        Store.open(path, wait=0.05)
    with Store.open(path, readonly=True) as reader:
        assert reader.version == 0
    done.set()
    process.join()
    Store.open(path).close()


def test_readers_do_not_write_and_follow(store, place):
    with place.open(readonly=True) as reader:
        with pytest.raises(StoreError, match="for reading only"):
            reader.forget(3)
        assert not reader.refresh()
        store.forget(3)
        assert reader.version == 0
        assert len(reader.receipts()) == 1
        assert reader.refresh()
        assert_same(state(reader), state(store))


def test_a_reader_that_does_not_end_delays_erasure(path, store, monkeypatch):
    store.close()
    monkeypatch.setattr(_sqlite_tables, "WAIT", 0.05)
    with Store.open(path) as store:
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM rows").fetchall()
        with pytest.raises(StoreBusyError, match="the next edit, or closing"):
            store.forget(3)
        assert store.version == 1
        reader.execute("COMMIT")
        store.forget(4)
        assert path.with_name("a.store-wal").stat().st_size == 0
        with pytest.raises(StoreBusyError, match="lose sight"):
            store.compact()
        reader.close()
        store.compact()
        assert store.audit(refit=True).passed


def test_what_a_failing_disk_leaves_is_closed_if_it_cannot_be_read(store, at_step, monkeypatch):
    at_step("receipt", OSError("gone"))
    monkeypatch.setattr(store._backend, "read", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.forget(3)
    with pytest.raises(StoreError, match="is closed"):
        store.forget(3)
