"""Erasure reaches copies: what is left opens no erased row in backups and files of a server."""

import secrets
import shutil

import numpy as np
import pytest
from sklearn.base import clone

from gramian import (
    EllipsoidalFuzzyClassifier,
    KernelDiscriminant,
    OrthogonalKernelClassifier,
    TableModel,
)
from gramian.store import (
    FileKeyring,
    OldCopyError,
    Store,
    StoreError,
    audit,
    convert,
    restore,
)
from gramian.store._seal import Sealed
from gramian.store._sqlite import SQLiteFile
from tests.store.conftest import Place, fitted, make_rows
from tests.torture import sealed

pytest.importorskip("cryptography")


KINDS = ("sealed", "server")


def test_a_backup_opens_without_what_was_erased_since(store, place, tmp_path):
    X, y = make_rows()
    store.learn(X[30:35], y[30:35])
    store.backup(tmp_path / "copy")
    before = shutil.copy(place.keyring, tmp_path / "before.keyring")
    store.forget([3, 7, 31])
    store.learn(X[35:36], y[35:36])
    options = {"keyring": place.keyring, "new_keyring": tmp_path / "new.keyring"}
    with pytest.raises(OldCopyError, match="rows were erased since, 3 of those"):
        Store.open(tmp_path / "copy", keyring=place.keyring)
    report = audit(tmp_path / "copy", keyring=place.keyring)
    assert next(check.name for check in report.checks if not check.passed) == "copies"
    receipt = restore(tmp_path / "copy", tmp_path / "again", **options)
    assert (receipt.action, receipt.number, receipt.count) == ("restore", 2, 3)
    with Store.open(tmp_path / "again", keyring=tmp_path / "new.keyring") as again:
        rows = [i for i in range(35) if i not in (3, 7, 31)]
        assert again.model.ids_.tolist() == rows
        expected = fitted(X[rows], y[rows]).decision_function(X)
        np.testing.assert_allclose(again.decision_function(X), expected, atol=1e-12)
        assert again.audit(refit=True).passed
        again.forget(8)
        assert again.audit().passed
    with Store.open(tmp_path / "copy", keyring=before) as old:  # the control: the key kept aside
        assert old.model.ids_.tolist() == list(range(35))


@pytest.mark.slow
def test_what_pg_dump_takes_is_a_backup(server, tmp_path):
    X, y = make_rows()
    name = f"d{secrets.token_hex(6)}"
    place = Place(f"{server.url}#{name}", keyring=tmp_path / "keyring")
    with place.create(fitted(X[:30], y[:30])) as store:
        dump = server.dump()
        store.forget([3, 7])
    address = f"{server.load(dump, name)}#{name}"
    with pytest.raises(OldCopyError, match="2 of those"):
        Store.open(address, keyring=place.keyring)
    options = {"keyring": place.keyring, "new_keyring": tmp_path / "new"}
    receipt = restore(address, tmp_path / "again", **options)
    assert (receipt.count, receipt.n_after) == (2, 28)
    with Store.open(tmp_path / "again", keyring=tmp_path / "new") as again:
        assert again.audit(refit=True).passed


def test_a_copy_without_its_keyring_opens_nothing(store, place, tmp_path):
    store.backup(tmp_path / "copy")
    with pytest.raises(StoreError):
        Store.open(tmp_path / "copy")
    with pytest.raises(StoreError, match="not its keyring"):
        Store.open(tmp_path / "copy", keyring=FileKeyring.create(tmp_path / "other.keyring"))
    with pytest.raises(StoreError, match="there is no keyring"):
        Store.open(tmp_path / "copy", keyring=tmp_path / "none.keyring")
    with pytest.raises(StoreError, match="is there already"):
        store.backup(tmp_path / "copy")


def test_an_old_keyring_opens_nothing(store, place, tmp_path):
    old = shutil.copy(place.keyring, tmp_path / "old.keyring")
    store.forget(3)
    store.forget(4)
    store.close()
    with pytest.raises(StoreError, match="old copy of the keyring"):
        Store.open(place.address, keyring=old)


def test_a_copy_in_the_place_of_the_store_is_recognised(place, tmp_path):
    X, y = make_rows()
    place.options["anchor"] = tmp_path / "anchor"
    with place.create(fitted(X[:30], y[:30])) as store:
        store.backup(tmp_path / "copy")
        store.learn(X[30:31], y[30:31])
    options = {"keyring": place.keyring, "anchor": tmp_path / "anchor"}
    with pytest.raises(OldCopyError, match="has seen receipt 1"):
        Store.open(tmp_path / "copy", **options)
    assert not audit(tmp_path / "copy", **options).passed
    assert place.audit().passed
    place.open().close()


@pytest.mark.parametrize("to", ["file", "sealed", "server"])
def test_a_store_moves_with_its_chain(store, place, tmp_path, to, server):
    X, y = make_rows()
    store.learn(X[30:31], y[30:31], ids=[77])
    store.forget([3, 77])
    store.close()
    address = f"{server.url}#c{secrets.token_hex(6)}" if to == "server" else tmp_path / "moved"
    new = None if to == "file" else tmp_path / "moved.keyring"
    last = convert(place.address, address, keyring=place.keyring, new_keyring=new)
    with Store.open(address, keyring=new) as moved, place.open() as old:
        assert moved.version == old.version == last.number == 2
        np.testing.assert_array_equal(moved.model.ids_, old.model.ids_)
        np.testing.assert_allclose(moved.decision_function(X), old.decision_function(X), atol=1e-12)
        assert [receipt.number for receipt in moved.find(77)] == [1, 2]
        moved.forget(5)
        assert moved.audit(refit=True).passed
        assert moved.epoch == (None if new is None else 2)
        assert old.model.ids_.tolist()[4] == 5


def test_a_server_needs_a_keyring(server):
    X, y = make_rows()
    with pytest.raises(StoreError, match="needs a keyring"):
        Store.create(server.url, fitted(X, y))
    with pytest.raises(StoreError, match="small letters"):
        Store.open(f"{server.url}#Not-a-name", keyring="k")


def test_a_server_has_nothing_to_read(server, tmp_path):
    """Rows, ids and labels in none of its files, logs, dumps and statements."""
    X, y = make_rows(40)
    ids = [f"patient-{i:04d}" for i in range(40)]
    place = Place(f"{server.url}#p{secrets.token_hex(6)}", keyring=tmp_path / "keyring")
    labels = np.where(y == "yes", "illness-known", "illness-unknown")
    with place.create(fitted(X[:30], labels[:30], ids=ids[:30])) as store:
        store.learn(X[30:], labels[30:], ids=ids[30:])
        store.forget(ids[:5])
        store.relabel(ids[5:6], ["illness-known"])
        seen = place.tamper("SELECT query FROM pg_stat_activity")
        assert any("rows" in (query or "") or "COMMIT" in (query or "") for (query,) in seen)
    wanted = [b"illness-known", b"patient-00", *(row.tobytes() for row in X[::10])]
    text = str(seen).encode() + server.dump()
    files = [path for path in server.folder.rglob("*") if path.is_file()]
    content = [text, *(path.read_bytes() for path in files)]
    assert sum(map(len, content)) > 1e6
    for word in wanted:
        forms = (word, word.hex().encode())
        assert not any(form in part for form in forms for part in content), word


@pytest.mark.slow
def test_what_is_left_opens_no_erased_row(server):
    """The attack of tests/torture, on few rows: with the old keys as a control."""
    assert sealed.copies(seed=3, n=40) == (40, [])


# -- settings that went with an erasure ---------------------------------------------------------


def _reselect(store):
    store.forget([3, 7])
    store.reselect()


def _twice(store):
    _reselect(store)
    store.forget([4])
    store.reselect()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "erase"),
    [
        (KernelDiscriminant(), _reselect),
        (KernelDiscriminant(), _twice),
        (OrthogonalKernelClassifier(max_basis=5), lambda store: store.forget([3, 7])),
        (EllipsoidalFuzzyClassifier(), lambda store: store.forget([3, 7])),
    ],
    ids=["reselect", "twice", "basis", "regions"],
)
def test_a_copy_from_before_new_settings_is_restored(place, tmp_path, model, erase):
    """On the rows left, with the choices after the last erasure, or those made on these rows."""
    X, y = make_rows()
    with place.create(clone(model).fit(X[:30], y[:30])) as store:
        store.backup(tmp_path / "copy")
        store.learn(X[30:35], y[30:35])
        erase(store)
        chosen, gone = store.model, set(range(30)) - set(store.model.ids_.tolist())
        store.learn(X[35:36], y[35:36])
    report = {check.name: check for check in audit(tmp_path / "copy", keyring=place.keyring).checks}
    assert "went with an erasure" in report["settings"].detail
    options = {"keyring": place.keyring, "new_keyring": tmp_path / "new.keyring"}
    receipt = restore(tmp_path / "copy", tmp_path / "again", **options)
    rows = [i for i in range(30) if i not in gone]
    assert (receipt.count, receipt.n_after) == (len(gone), len(rows))
    assert receipt.chosen_on_data == chosen.chosen_on_data_
    with Store.open(tmp_path / "again", keyring=tmp_path / "new.keyring") as again:
        assert again.model.ids_.tolist() == rows
        fixed = {}
        if isinstance(model, KernelDiscriminant):  # the others choose anew on the rows left
            fixed = {"gamma": chosen.gamma_, "ridge": chosen.ridge_}
        expected = clone(model).set_params(**fixed).fit(X[rows], y[rows])
        scale = np.abs(expected.decision_function(X)).max()
        found = again.decision_function(X)
        np.testing.assert_allclose(found, expected.decision_function(X), atol=1e-9 * scale)
        again.learn(X[30:31], y[30:31])
        again.forget(8)
        assert again.audit(refit=True).passed


def test_a_copy_of_a_table_is_restored_without_a_level_that_was_erased(place, tmp_path):
    X, y = make_rows(30)
    cells = {"size": X[:, 0].tolist(), "colour": ["red", "blue"] * 15, "kind": y.tolist()}
    cells["colour"][3] = "ultraviolet"
    with place.create(
        TableModel(target="kind", estimator=KernelDiscriminant()).fit(cells)
    ) as store:
        store.backup(tmp_path / "copy")
        store.forget([3])
        store.reselect()
    ring = FileKeyring(place.keyring)
    pages = list(_opened_pages(ring))
    assert len(pages) > 1
    assert not any(word in page for page in pages for word in (b"colour", b"red", b"kind"))
    options = {"keyring": place.keyring, "new_keyring": tmp_path / "new.keyring"}
    restore(tmp_path / "copy", tmp_path / "again", **options)
    with Store.open(tmp_path / "again", keyring=tmp_path / "new.keyring") as again:
        assert len(again.model.ids_) == 29
        assert "ultraviolet" not in repr(again.model.columns_)
        assert again.audit(refit=True).passed


def _opened_pages(ring):
    """What the keys of a keyring open of its own table."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    (key,) = ring.keys().values()
    for page, content in ring.table().items():
        context = b"gramian keys" + ring.store_id + page.to_bytes(8, "big") + content[:8]
        yield AESGCM(key).decrypt(content[8:20], content[20:], context)


def test_a_copy_whose_rows_are_all_gone_is_no_store(place, tmp_path):
    X, y = make_rows()
    with place.create(fitted(X[:30], y[:30])) as store:
        store.backup(tmp_path / "copy")
        store.learn(X[30:], y[30:])
        store.forget(list(range(30)))
    options = {"keyring": place.keyring, "new_keyring": tmp_path / "new.keyring"}
    with pytest.raises(StoreError, match=r"the 0 rows of the copy .* make no model"):
        restore(tmp_path / "copy", tmp_path / "again", **options)
    assert not (tmp_path / "again").exists()


def test_a_keyring_without_settings_says_what_is_closed(place, tmp_path):
    """As one that has not seen an erasure with them: nothing is made up."""
    X, y = make_rows()
    with place.create(fitted(X[:30], y[:30])) as store:
        store.backup(tmp_path / "copy")
        store.forget([3])
        store.reselect()
    ring = FileKeyring(place.keyring)
    table = {page: content for page, content in ring.table().items() if page < 2**62}
    ((epoch, key),) = ring.keys().items()
    ring.start(epoch, key, table)
    options = {"keyring": place.keyring, "new_keyring": tmp_path / "new.keyring"}
    with pytest.raises(StoreError, match="its settings cannot be opened"):
        restore(tmp_path / "copy", tmp_path / "again", **options)


def test_a_key_that_replaces_another_of_the_same_number_is_looked_up(place):
    """The last row is forgotten, and another process gives its number to the key of a new row."""
    X, y = make_rows()
    place.create(fitted(X[:30], y[:30]), snapshot=False).close()
    with place.open(readonly=True) as reader:
        for edit in (
            lambda store: store.learn(X[30:31], y[30:31], ids=[500]),
            lambda store: store.forget([500]),
            lambda store: store.learn(X[31:32], y[31:32], ids=[501]),
        ):
            with place.open() as store:
                edit(store)
            assert reader.refresh()
        assert reader.model.ids_.tolist() == [*range(30), 501]
        assert reader.audit(refit=True).passed


def test_the_snapshot_that_another_process_wrote_is_erased_from_copies(server, tmp_path):
    X, y = make_rows()
    place = Place(f"{server.url}#s{secrets.token_hex(6)}", keyring=tmp_path / "keyring")
    with place.create(fitted(X[:30], y[:30])) as store:
        with place.open() as other:
            other.learn(X[30:31], y[30:31])
        store.backup(tmp_path / "copy")
        assert _snapshot(tmp_path / "copy", place.keyring)  # the control
        store.learn(X[31:32], y[31:32])
        store.forget(3)
    assert not _snapshot(tmp_path / "copy", place.keyring)


def _snapshot(path, keyring):
    """What can be read of the coefficients in a copy."""
    contents, _ = Sealed(SQLiteFile(path), FileKeyring(keyring)).read()
    return contents.snapshot[1]


def test_a_disk_that_takes_no_lock_of_the_keyring(store, monkeypatch):
    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gramian.store._keyring.locked", full)
    with pytest.raises(StoreError, match=r"keyring .* cannot be written.*Nothing was changed"):
        store.forget(3)
    monkeypatch.undo()
    assert store.version == 0
    assert store.forget(3).number == 1


def test_a_signed_copy_is_restored_with_its_key(tmp_path):
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    X, y = make_rows()
    key, keyring = ed25519.Ed25519PrivateKey.generate(), tmp_path / "keyring"
    with Store.create(tmp_path / "a", fitted(X, y), key=key, keyring=keyring) as store:
        store.backup(tmp_path / "copy")
        store.forget(3)
    options = {"keyring": keyring, "new_keyring": tmp_path / "new"}
    with pytest.raises(StoreError, match=r"are signed by .*no key was given.*Give the same key"):
        restore(tmp_path / "copy", tmp_path / "again", **options)
    restore(tmp_path / "copy", tmp_path / "again", key=key, **options)
    assert audit(tmp_path / "again", key.public_key(), keyring=tmp_path / "new").passed
