"""Stores on the command line."""

import json
import re
import secrets

import pytest

import gramian as package
from gramian.store import Store


@pytest.fixture
def pets(gramian):
    """A store of 40 rows."""
    options = ["--target", "animal", "--id", "name", "--gamma", 0.5, "--ridge", 0.1]
    gramian("fit", "train.csv", *options, "-o", "pets.gram")
    result = gramian("store", "create", "pets.gram", "pets.store")
    assert "Made pets.store with 40 rows" in result.output
    return "pets.store"


def test_learn_forget_and_audit(gramian, pets, folder):
    learned = json.loads(gramian("learn", pets, "new.csv", "--json").output)
    assert (learned["learned"], learned["rows"]) == (10, 50)
    assert learned["receipt"]["action"] == "learn"
    words = ["--id", "pet 3", "--where", "weight > 25", "--verify"]
    forgotten = gramian("forget", pets, *words).output
    assert "verified (tolerance" in forgotten
    assert "hash of the receipt" in forgotten
    audited = gramian("audit", pets, "--refit").output
    assert "passed the audit" in audited
    listed = json.loads(gramian("store", "receipts", pets, "--id", "pet 3", "--json").output)
    assert [receipt["action"] for receipt in listed["receipts"]] == ["forget"]
    assert "create" in gramian("store", "receipts", pets).output
    assert b"pet 3\0" not in (folder / pets).read_bytes()


def test_predict_inspect_report_and_export(gramian, pets, folder):
    ours = gramian("predict", pets, "new.csv").output
    assert ours == gramian("predict", "pets.gram", "new.csv").output
    shown = gramian("inspect", pets, "--loo").output
    assert "not signed" in shown
    gramian("store", "export", pets, "-o", "out.gram")
    assert len(package.load(folder / "out.gram").ids_) == 40
    assert "bytes" in gramian("store", "compact", pets).output


def test_report(gramian, pets, folder):
    pytest.importorskip("matplotlib")
    gramian("report", pets, "-o", "report.html")
    assert "last receipt" in (folder / "report.html").read_text()


def test_what_a_store_does_not_take(gramian, pets):
    assert "is a store" in gramian("forget", pets, "--id", "pet 3", "--reselect", code=1).output
    assert "is a store" in gramian("learn", pets, "new.csv", "-o", "x.gram", code=1).output
    assert (
        "is a model file"
        in gramian("forget", "pets.gram", "--id", "pet 3", "--key", "new.csv", code=1).output
    )
    assert "is there already" in gramian("store", "create", "pets.gram", pets, code=1).output


def test_an_audit_that_fails_exits_with_one(gramian, pets, folder):
    content = bytearray((folder / pets).read_bytes())
    at = content.index(b'"create"')
    content[at + 1] ^= 1
    (folder / pets).write_bytes(content)
    assert "did NOT pass" in gramian("audit", pets, code=1).output
    report = json.loads(gramian("audit", pets, "--refit", "--json", code=1).output)
    assert not report["passed"]
    assert "no store" in gramian("audit", "pets.gram", code=1).output


@pytest.fixture
def sealed(gramian, pets, server, monkeypatch):
    """The same store on a server, with a keyring that the environment names."""
    pytest.importorskip("cryptography")
    address = f"{server.url}#c{secrets.token_hex(6)}"
    made = gramian("store", "convert", pets, address, "--new-keyring", "keyring").output
    assert "40 rows" in made
    monkeypatch.setenv("GRAMIAN_KEYRING", "keyring")
    return address


def test_every_command_takes_an_address(gramian, sealed, folder):
    learned = json.loads(gramian("learn", sealed, "new.csv", "--json").output)
    assert learned["rows"] == 50
    assert gramian("predict", sealed, "new.csv").output.startswith("name,")
    gramian("relabel", sealed, "--id", "pet 4", "--to", "dog")
    gramian("forget", sealed, "--where", "name=pet 3", "--verify")
    assert "epoch" in gramian("inspect", sealed).output
    assert "Chose anew on 49 rows" in gramian("store", "reselect", sealed).output
    assert "passed the audit" in gramian("audit", sealed, "--refit").output
    assert "needs no compacting" in gramian("store", "compact", sealed, code=1).output
    back = gramian("store", "convert", sealed, "back.store").output
    assert "49 rows" in back
    assert len(Store.open(folder / "back.store", readonly=True).model.ids_) == 49


def test_a_backup_is_restored_without_what_was_erased_since(gramian, sealed, folder):
    gramian("audit", sealed, "--anchor", "anchor")
    assert "Copied version 0" in gramian("store", "backup", sealed, "copy").output
    gramian("forget", sealed, "--id", "pet 3", "--id", "pet 4", "--anchor", "anchor")
    assert "is an old copy" in gramian("predict", "copy", "new.csv", code=1).output
    assert "old copy" in gramian("audit", "copy", "--anchor", "anchor", code=1).output
    words = ["copy", "again.store", "--new-keyring", "again.keyring"]
    assert "with 38 rows: 2 of the" in gramian("store", "restore", *words).output
    audited = gramian("audit", "again.store", "--keyring", "again.keyring").output
    assert "passed the audit" in audited


def test_receipts_fit_in_80_columns_and_say_who_and_whether(gramian, sealed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    gramian("forget", sealed, "--id", "pet 3", "--verify")
    lines = gramian("store", "receipts", sealed).output.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) == 4  # none is broken
    assert "verified" in lines[0]
    assert "yes" in lines[-1]
    assert "closed" in lines[-1]
    listed = json.loads(gramian("store", "receipts", sealed, "--id", "pet 3", "--json").output)
    assert [(r["action"], r["state"]) for r in listed["receipts"]] == [("forget", "closed")]


def test_rows_that_are_withheld(gramian, pets):
    out = gramian("forget", pets, "--where", "name=pet 3", "--after", "14d").output
    assert "Withheld 1 of 40 rows" in out
    assert "pet 3" in gramian("store", "withheld", pets).output
    assert "39" in gramian("inspect", pets).output
    assert "Learned 1 rows again" in gramian("store", "take-back", pets, "--id", "pet 3").output
    assert json.loads(gramian("store", "withheld", pets, "--json").output)["withheld"] == []
    gramian("forget", pets, "--id", "pet 4", "--after", "14d")
    assert "1 rows are withheld" in gramian("store", "erase-due", pets).output
    erased = gramian("store", "erase-due", pets, "--id", "pet 4").output
    assert "Erased 1 rows" in erased
    assert "Erased" not in gramian("store", "erase-due", pets).output
    assert "passed the audit" in gramian("audit", pets, "--refit").output
    assert "as 14d" in gramian("forget", pets, "--id", "pet 5", "--after", "soon", code=1).output
    used = gramian("forget", "pets.gram", "--id", "pet 5", "--after", "1d", code=1).output
    assert "--after is for a store" in used


def write_key(path):
    """A new private key, in a file."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519

    key = ed25519.Ed25519PrivateKey.generate()
    pem = (
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(key.private_bytes(*pem))
    return key


def test_one_receipt_is_checked_without_the_store(gramian, folder, pets):
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    key = write_key(folder / "key.pem")
    gramian("store", "create", "pets.gram", "signed.store", "--key", "key.pem")
    for name in ("pet 3", "pet 4", "pet 5"):
        gramian("forget", "signed.store", "--id", name, "--key", "key.pem")
    gramian("store", "proof", "signed.store", 1, "-o", "one.json")
    public = key.public_key().public_bytes_raw().hex()
    facts = json.loads((folder / "one.json").read_text())
    words = ["one.json", "--public-key", public, "--head", facts["head"]["hash"]]
    assert "is in the chain" in gramian("verify", *words).output
    assert "is in the chain" in gramian("verify", "one.json", "signed.store").output
    assert "no such receipt" in gramian("verify", "one.json", pets, code=1).output
    assert "NOT proved" in gramian("verify", "one.json", "--head", "00", code=1).output
    other = ed25519.Ed25519PrivateKey.generate().public_key().public_bytes_raw().hex()
    assert "NOT proved" in gramian("verify", "one.json", "--public-key", other, code=1).output
    facts["path"][0] = facts["receipt"]["hash"]
    (folder / "one.json").write_text(json.dumps(facts))
    assert "NOT proved" in gramian("verify", "one.json", code=1).output
    facts["receipt"]["count"] = 7
    (folder / "one.json").write_text(json.dumps(facts))
    assert "its hash is not" in gramian("verify", "one.json", code=1).output
    assert (
        "there is no receipt 9"
        in gramian("store", "proof", "signed.store", 9, "-o", "x.json", code=1).output
    )


def test_a_letter(gramian, folder, pets):
    gramian("forget", pets, "--id", "pet 3", "--verify")
    words = ["--to", "Ada <b>", "--office", "The shop", "-o", "letter.html"]
    gramian("store", "letter", pets, 1, *words)
    page = (folder / "letter.html").read_text()
    assert (folder / "letter.html").stat().st_mode & 0o077 == 0
    assert "Your data has been erased" in page
    assert "Ada &lt;b&gt;" in page
    assert "building it anew" in page
    assert "still hold your data" in page  # no keyring
    assert "pet 3" not in page
    gramian("forget", pets, "--id", "pet 4", "--after", "2w")
    gramian("store", "letter", pets, 2, "-o", "letter.html")
    page = (folder / "letter.html").read_text()
    assert "One record of yours left" in page
    assert "It is kept for a waiting period" in page


def test_a_letter_about_several_records_and_their_copies(gramian, folder, pets):
    pytest.importorskip("cryptography")
    write_key(folder / "key.pem")
    key, sealed = ["--key", "key.pem"], ["--keyring", "new.keyring"]
    gramian("store", "create", "pets.gram", "sealed.store", *key, *sealed)
    forget = ("forget", "sealed.store", *key, *sealed)
    gramian(*forget, "--id", "pet 3", "--id", "pet 4")
    gramian(*forget, "--id", "pet 5", "--id", "pet 6", "--after", "2w")
    pages = []
    for number in (1, 2):
        gramian("store", "letter", "sealed.store", number, "-o", "letter.html", *sealed)
        pages.append((folder / "letter.html").read_text())
    assert "2 records of yours were erased" in pages[0]
    assert "the key was destroyed" in pages[0]
    assert re.search(r"gramian verify FILE --public-key [0-9a-f]{64}</span> checks", pages[0])
    assert "They are kept for a waiting period" in pages[1]
    assert "until its key is destroyed then" in pages[1]  # which is not yet so
    assert "was destroyed" not in pages[1]
