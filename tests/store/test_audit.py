"""Receipts hold nothing of a row, and an audit finds what does not fit them."""

import hashlib
import hmac
import json
import secrets
import sqlite3

import numpy as np
import pytest

from gramian.store import Store, StoreError, audit
from tests.store.conftest import Place, fitted, make_rows


def test_receipts_are_a_chain(store):
    X, y = make_rows()
    store.learn(X[30:33], y[30:33], ids=[70, 71, 72])
    store.forget([3, 71], verify=True)
    first, second, third = store.receipts()
    assert [r.action for r in (first, second, third)] == ["create", "learn", "forget"]
    assert (third.count, third.n_before, third.n_after) == (2, 33, 31)
    assert second.previous == first.hash
    assert third.previous == second.hash
    assert third.verified
    assert third.drift < 1e-12
    assert third.next_id == 30
    assert [receipt.number for receipt in store.find(71)] == [1, 2]
    assert store.find(4) == []
    body = {k: v for k, v in third.as_dict().items() if k not in ("hash", "signature")}
    text = json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    assert third.hash == hashlib.sha256(text).hexdigest()


def test_ids_are_hashed_with_a_key(store, path):
    receipt = store.forget([3])
    ((key,),) = sqlite3.connect(path).execute("SELECT id_key FROM meta")
    assert receipt.ids == (hmac.digest(key, b"3", "sha256").hex(),)


def test_anyone_with_the_rows_can_compute_the_commitment(store, path):
    """By a loop over the rows, as docs/store.md describes it."""
    X, y = make_rows()
    store.learn(X[30:], y[30:])
    store.forget([1, 2, 35])
    sums = np.zeros(1024, dtype=np.uint64)
    for (content,) in sqlite3.connect(path).execute("SELECT content FROM rows"):
        if any(content):
            digest = hashlib.shake_256(b"gramian row 1\0" + content).digest(2048)
            sums += np.frombuffer(digest, dtype="<u2")
    expected = hashlib.sha256((sums % 2**16).astype("<u2").tobytes()).hexdigest()
    assert store.receipts()[-1].commitment == expected


def test_a_row_that_comes_back_has_another_commitment(store):
    """The salt is new: from receipts nobody can find out which row it was."""
    X, y = make_rows()
    before = store.receipts()[-1].commitment
    learned = [store.learn(X[30:31], y[30:31], ids=[99]).commitment]
    assert store.forget(99).commitment == before
    learned.append(store.learn(X[30:31], y[30:31], ids=[99]).commitment)
    assert learned[0] != learned[1]


def test_an_audit_looks_at_everything(store):
    report = store.audit(refit=True)
    names = ["file", "receipts", "signatures", "copies", "rows", "ids", "settings", "key of ids"]
    assert [check.name for check in report.checks] == [*names, "model", "snapshot", "refit"]
    assert report.passed
    assert report.as_dict()["passed"]


@pytest.mark.parametrize("what", ["content", "checksum"])
def test_a_snapshot_is_not_trusted(store, path, what):
    X, _ = make_rows()
    before = store.decision_function(X)
    store.close()
    connection = sqlite3.connect(path)
    ((value,),) = connection.execute(f"SELECT {what} FROM snapshot")
    connection.execute(f"UPDATE snapshot SET {what} = ?", (value[:-9] + bytes(9),))
    connection.commit()
    connection.close()
    assert [c.name for c in audit(path).checks if not c.passed] == ["snapshot"]
    with Store.open(path, readonly=True) as store:
        np.testing.assert_allclose(store.decision_function(X), before, atol=1e-12)


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("UPDATE rows SET content = zeroblob(length(content)) WHERE place = 3", "rows"),
        ("UPDATE rows SET content = randomblob(64) WHERE place = 3", "rows"),
        ("UPDATE settings SET salt = randomblob(32)", "settings"),
        ("UPDATE meta SET id_key = randomblob(32)", "key of ids"),
        ("DELETE FROM receipts", "file"),
        ("UPDATE receipts SET content = replace(content, 'create', 'forget')", "file"),
        ("UPDATE receipts SET content = CAST('{}' AS BLOB)", "receipts"),
        ("PRAGMA user_version=7", "file"),
        ("PRAGMA application_id=7", "file"),
    ],
)
def test_an_audit_says_what_is_wrong(store, path, statement, name):
    store.close()
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    report = audit(path)
    assert not report.passed
    assert name in [check.name for check in report.checks if not check.passed]
    if name != "key of ids":
        with pytest.raises(StoreError):
            Store.open(path)


SERVER = [
    ("UPDATE rows SET content = '\\x00' WHERE place = 3", "rows"),
    ("UPDATE rows SET content = sha256(content) WHERE place = 3", "file"),
    (
        "UPDATE rows SET content = r.content FROM rows r WHERE r.place = 4 AND rows.place = 3",
        "rows",
    ),
    ("DELETE FROM rows WHERE place = 3", "rows"),
    ("UPDATE settings SET content = sha256(content)", "file"),
    ("UPDATE meta SET id_key = sha256(id_key)", "file"),
    ("UPDATE meta SET sums = sha256(sums)", "rows"),
    ("UPDATE meta SET format = 7", "file"),
    ("UPDATE snapshot SET content = sha256(content)", "snapshot"),
    ("DELETE FROM keys", "file"),
    ("UPDATE keys SET content = content || content", "file"),
    ("DELETE FROM receipts", "file"),
    ("UPDATE receipts SET content = '{}'", "receipts"),
    ("DROP TABLE leases", "file"),
]


@pytest.mark.parametrize(("statement", "name"), SERVER)
def test_an_audit_says_what_is_wrong_on_a_server(statement, name, server, tmp_path):
    place = Place(f"{server.url}#t{secrets.token_hex(6)}", keyring=tmp_path / "keyring")
    X, y = make_rows()
    place.create(fitted(X[:30], y[:30])).close()
    place.tamper(statement)
    report = place.audit()
    assert name in [check.name for check in report.checks if not check.passed]
    if name == "snapshot" or "sums" in statement:  # the rows rebuild it
        place.open(readonly=True).close()
        return
    with pytest.raises(StoreError):
        place.open(readonly=True)


# -- signatures ---------------------------------------------------------------------------------


@pytest.fixture
def ed25519():
    return pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")


def test_signed_receipts(place, tmp_path, ed25519):
    serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    key, other = (ed25519.Ed25519PrivateKey.generate() for _ in range(2))
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    (tmp_path / "key.pem").write_bytes(pem)
    X, y = make_rows()
    place.create(fitted(X[:30], y[:30]), key=pem).close()
    with place.open(key=tmp_path / "key.pem") as store:
        receipt = store.forget(3)
        key.public_key().verify(bytes.fromhex(receipt.signature), bytes.fromhex(receipt.hash))
        assert store.audit().passed
        assert store.audit(public).passed
        assert store.audit(key.public_key()).passed
        assert store.audit(receipt.public_key).passed
        failed = [c for c in store.audit(other.public_key()).checks if not c.passed]
        assert [check.name for check in failed] == ["signatures"]
    with pytest.raises(StoreError, match="no key was given"):
        place.open()
    with pytest.raises(StoreError, match="the key given is that of"):
        place.open(key=other)
    with pytest.raises(StoreError, match="no unencrypted private key"):
        place.open(key=b"nothing")
    with pytest.raises(StoreError, match="no key in PEM form"):
        place.audit(b"nothing")


def test_a_store_that_does_not_sign(store, place, ed25519):
    store.close()
    key = ed25519.Ed25519PrivateKey.generate()
    with pytest.raises(StoreError, match="does not sign"):
        place.open(key=key)
    assert not place.audit(key.public_key()).passed
