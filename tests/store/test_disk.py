"""What a disk, another process or another user does to the file under an open store."""

import contextlib
import json
import multiprocessing
import os
import resource
import shutil
import signal
import sqlite3

import numpy as np
import pytest

from gramian import EllipsoidalFuzzyClassifier
from gramian.files import ModelFileError
from gramian.files.parts import Parts, rows_of
from gramian.store import Store, StoreBusyError, StoreError, _sqlite, _sqlite_tables, audit
from tests.store.conftest import fitted, make_rows

FORK = multiprocessing.get_context("fork")


def in_child(work):
    """Run in another process; returns what it sends."""
    ours, theirs = FORK.Pipe()
    process = FORK.Process(target=lambda: theirs.send(work()))
    process.start()
    process.join()
    return ours.recv() if ours.poll() else process.exitcode


def files_with(folder, content):
    return [path.name for path in folder.iterdir() if content in path.read_bytes()]


# -- what is acknowledged can be opened ---------------------------------------------------------


def test_a_basis_without_vectors_is_opened_again(place):
    """A linear kernel, and a class of one row of zeros: its space has no dimension."""
    X, y = make_rows()
    model = EllipsoidalFuzzyClassifier(kernel="linear", tune=False).fit(X, y)
    with place.create(model) as store:
        store.learn(np.zeros((1, 3)), ["nothing"])
        expected = store.decision_function(X)
    with place.open() as store:
        np.testing.assert_allclose(store.decision_function(X), expected, atol=1e-12)
    assert place.audit().passed


def test_an_edit_that_could_not_be_opened_again_is_refused(store, monkeypatch):
    def refuse(self, model, rows, next_id):
        raise ModelFileError("holds no valid model.")

    monkeypatch.setattr(Parts, "check_new_rows", refuse)
    X, y = make_rows()
    with pytest.raises(StoreError, match=r"could not be opened again.*Nothing was changed"):
        store.learn(X[30:31], y[30:31])
    assert store.version == 0
    monkeypatch.undo()
    store.learn(X[30:31], y[30:31])
    assert store.audit(refit=True).passed


REFUSED = {
    "a weight of nothing": {"weight": np.zeros(2)},
    "features that are missing": {"X": np.zeros((2, 2))},
    "features that are no numbers": {"X": np.full((2, 3), np.nan)},
    "too few targets": {"y": np.array(["yes"])},
    "ids that are neither numbers nor texts": {"ids": np.array([True, False])},
}


@pytest.mark.parametrize("wrong", REFUSED.values(), ids=REFUSED)
def test_new_rows_are_refused_that_could_not_be_read(store, wrong):
    """By the check of the new rows alone as by that of all of them."""
    model, parts = store._model, store._parts
    start, rows = len(model.ids_) - 2, rows_of(model)
    with pytest.raises(ModelFileError, match="holds no valid model"):
        parts.check_new_rows(model, rows_of(model, start)._replace(**wrong), 40)
    ((name, values),) = wrong.items()
    whole = np.resize(values, (start + 2, values.shape[1])) if name == "X" else values
    if name != "X":
        whole = np.concatenate([getattr(rows, name)[:start].astype(values.dtype), values])
    with pytest.raises(ModelFileError, match="holds no valid model"):
        parts.model(rows._replace(**{name: whole}), 40)


@pytest.mark.parametrize("next_id", [-1, 2**63])
def test_a_next_id_is_refused_that_no_row_could_have(store, next_id):
    with pytest.raises(ModelFileError, match="the next id"):
        store._parts.check_new_rows(store._model, rows_of(store._model, 40), next_id)


def test_derived_state_that_does_not_fit_is_built_from_the_rows(place):
    X, y = make_rows()
    model = EllipsoidalFuzzyClassifier(kernel="linear", tune=False).fit(X, y)
    with place.create(model) as store:
        parts = store._parts
        parts._state["kept"] = {"yes": ()}
        built = parts.model(store._backend and _held(store), 40)
    np.testing.assert_allclose(built.decision_function(X), model.decision_function(X), atol=1e-12)


def _held(store):
    from gramian.store._index import open_contents

    return open_contents(store._backend.read()[0], store.path).held


# -- errors of the disk -------------------------------------------------------------------------


EDITS = {
    "forget": lambda s: s.forget([3, 4]),
    "learn": lambda s: s.learn(make_rows()[0][30:], make_rows()[1][30:]),
    "relabel": lambda s: s.relabel([5], ["yes"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("action", EDITS)
def test_what_is_said_of_a_full_disk_is_true(action, path):
    """The files may not grow beyond some size, as on a full disk, at any moment of an edit."""
    X, y = make_rows()
    with Store.create(path, fitted(X[:30], y[:30]), snapshot=False) as first:
        for i in range(5):  # the log is longer than what the file may grow by
            first.learn(X[:1] + i, y[:1])
    content, said = path.read_bytes(), set()

    def edit(limit):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        with Store.open(path) as store, contextlib.suppress(StoreError):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            try:
                EDITS[action](store)
                return "made"
            except StoreError as error:
                return str(error)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)

    for limit in (0, 2048, 4096, 9000, 13000, 20000, len(content) - 4096, len(content), 80000):
        path.write_bytes(content)
        answer = in_child(lambda: edit(limit))  # noqa: B023 - it runs at once
        with Store.open(path) as store:
            made = store.version == 6
            assert store.audit(refit=True).passed
        if "Whether the edit was made" not in answer:
            assert made == ("Nothing was changed" not in answer), answer
        said.add(made)
    assert said == {True, False}


def test_the_next_edit_of_any_kind_erases(path, monkeypatch):
    monkeypatch.setattr(_sqlite_tables, "WAIT", 0.05)
    X, y = make_rows()
    with Store.create(path, fitted(X[:30], y[:30])) as store:
        store.learn(X[30:31], y[30:31])
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM rows").fetchall()
        with pytest.raises(StoreBusyError, match="The edit was made, and has receipt 2"):
            store.forget(7)
        reader.close()
        assert files_with(path.parent, X[7].tobytes())
        store.learn(X[31:32], y[31:32])
        assert files_with(path.parent, X[7].tobytes()) == []


# -- the file under the store -------------------------------------------------------------------


def test_a_copy_that_a_killed_compaction_left_goes(path, store):
    X, _ = make_rows()
    store.close()

    def compact():
        _sqlite.os.replace = lambda *names: os.kill(os.getpid(), signal.SIGKILL)
        Store.open(path).compact()

    assert in_child(compact) == -signal.SIGKILL
    assert len(files_with(path.parent, X[7].tobytes())) == 2
    with Store.open(path) as store:
        store.forget(7)
    assert files_with(path.parent, X[7].tobytes()) == []


def _delete(path):
    path.unlink()


def _replace(path):
    path.with_name("backup").replace(path)


def _link(path):
    os.link(path, path.with_name("b.store"))


@pytest.mark.parametrize(
    ("harm", "said"), [(_delete, "deleted"), (_replace, "replaced"), (_link, "2 names")]
)
def test_a_file_that_is_no_longer_the_stores_takes_no_edit(path, store, harm, said):
    X, y = make_rows()
    shutil.copy(path, path.with_name("backup"))
    store.learn(X[30:31], y[30:31])
    harm(path)
    report = store.audit()
    assert not report.passed
    assert said in report.checks[0].detail
    with pytest.raises(StoreError, match=said):
        store.learn(X[31:32], y[31:32])
    with pytest.raises(StoreError, match="is closed"):
        store.forget(3)
    store.close()
    if harm is _link:
        with pytest.raises(StoreError, match="2 names"):
            Store.open(path)
        path.with_name("b.store").unlink()
    if harm is not _delete:
        with Store.open(path) as again:
            assert again.version == (harm is _link)
            assert again.audit(refit=True).passed


def test_compaction_looks_for_other_names(path, store):
    _link(path)
    with pytest.raises(StoreError, match="2 names"):
        store.compact()


# -- forged files -------------------------------------------------------------------------------


def test_a_poisoned_snapshot_is_found_without_a_refit(path, store):
    from gramian.files.parts import read_values, write_values
    from gramian.store._index import snapshot_checksum

    last = store.receipts()[-1]
    store.close()
    connection = sqlite3.connect(path)
    ((content,),) = connection.execute("SELECT content FROM snapshot")
    values = read_values(content)
    bias, coefficients = values["coefficients"]
    forged = write_values({**values, "coefficients": (bias, -coefficients)})
    connection.execute(
        "UPDATE snapshot SET checksum = ?, content = ?", (snapshot_checksum(forged, last), forged)
    )
    connection.commit()
    connection.close()
    (wrong,) = (check for check in audit(path).checks if not check.passed)
    assert wrong.name == "snapshot"
    assert "differ from those of the rows" in wrong.detail


def _altered(path, number, change):
    """Alter a receipt, whose hash no signature protects."""
    connection = sqlite3.connect(path)
    statement = "SELECT content FROM receipts WHERE number = ?"
    ((content,),) = connection.execute(statement, (number,))
    facts = change(json.loads(content))
    text = json.dumps(facts, sort_keys=True, separators=(",", ":")).encode()
    connection.execute("UPDATE receipts SET content = ? WHERE number = ?", (text, number))
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda facts: facts | {"time": "1999-01-01T00:00:00.000+00:00"}, "receipts"),
        (lambda facts: facts | {"time": "2999-01-01T00:00:00.000+00:00"}, "receipts"),
        (lambda facts: facts | {"time": "yesterday"}, "receipts"),
        (lambda facts: facts | {"ids": [facts["ids"][0][::-1]]}, "ids"),
        (lambda facts: facts | {"action": "forget", "n_after": 29}, "ids"),
        (lambda facts: facts | {"tree": "0" * 64}, "receipts"),
        (lambda facts: facts | {"previous": facts["previous"].upper()}, "receipts"),
    ],
)
def test_a_forged_receipt_is_found(path, store, change, name):
    X, y = make_rows()
    store.learn(X[30:31], y[30:31])
    store.close()
    _altered(path, 1, change)
    assert name in [check.name for check in audit(path).checks if not check.passed]


@pytest.mark.parametrize(
    "change", [str.upper, lambda text: " ".join(text[i : i + 2] for i in range(0, 128, 2))]
)
def test_a_signature_has_one_form(path, change):
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    X, y = make_rows()
    key = ed25519.Ed25519PrivateKey.generate()
    Store.create(path, fitted(X, y), key=key).close()
    assert audit(path, key.public_key()).passed
    _altered(path, 0, lambda facts: facts | {"signature": change(facts["signature"])})
    assert not audit(path, key.public_key()).passed


def test_a_clock_that_goes_back_stands_still(store, monkeypatch):
    monkeypatch.setattr("gramian.store._writer.now", lambda: "1999-01-01T00:00:00.000+00:00")
    first, second = store.receipts()[0], store.forget(3)
    assert second.time == first.time
    assert store.audit().passed


def test_the_largest_id_does_not_end_numbering(store):
    X, y = make_rows()
    store.learn(X[30:31], y[30:31], ids=[2**63 - 1])
    assert store.learn(X[31:33], y[31:33]).next_id == 32
    assert store.model.ids_.tolist()[-2:] == [30, 31]
