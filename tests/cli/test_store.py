"""Stores on the command line."""

import json

import pytest

import gramian as package


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
