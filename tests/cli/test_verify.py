"""``gramian verify``: a receipt that is true passes, any other does not."""

import json

import pytest

import gramian as package
from tests.cli.conftest import make_rows, write_csv


@pytest.fixture
def receipts(gramian, model):
    """A file with receipts of two edits of the model."""
    for name in ("pet 8", "pet 2"):
        gramian("forget", model, "--id", name, "--receipt", "r.jsonl")
    return "r.jsonl"


def test_true_receipt(gramian, as_json, model, receipts):
    out = gramian("verify", receipts, model).stdout
    assert "model.gram agrees with the receipt." in out
    assert "ok" in out
    facts = as_json("verify", receipts, model, "--all", "--refit")
    assert [entry["passed"] for entry in facts["receipts"]] == [True, True]
    assert [entry["fingerprint"] for entry in facts["receipts"]] == [False, True]
    assert facts["refit"] is True
    assert facts["difference"] < facts["tolerance"] == 1e-8


def test_model_that_learned_since(gramian, as_json, model, receipts):
    gramian("learn", model, "new.csv")
    out = gramian("verify", receipts, model, "--refit").stdout
    said = "The ids are gone from model.gram; the model has changed since (38 rows then, 48 now)."
    assert said in out
    assert "ok" in out
    assert "FAILED" not in out
    entry = as_json("verify", receipts, model)["receipts"][-1]
    assert (entry["rows_then"], entry["rows"], entry["fingerprint"]) == (38, 48, False)


@pytest.mark.parametrize(
    "later",
    [("forget", "model.gram", "--id", "pet 5"), ("relabel", "model.gram", "--id", "pet 5",
      "--to", "dog")],
    ids=["forgot", "relabelled"],
)  # fmt: skip
def test_change_that_learning_does_not_explain(gramian, model, receipts, later):
    gramian(*later)
    out = gramian("verify", receipts, model, code=1).stdout
    assert "FAILED" in out
    assert "does not agree with the receipt: the model has changed since (38 rows then, " in out
    assert "and learning alone does not explain that." in out


def test_another_estimator_that_holds_more_rows(gramian, receipts):
    gramian("fit", "new.csv", "--target", "animal", "--id", "name", "--estimator", "ls-svc",
            "--gamma", "0.3", "--ridge", "0.1", "-o", "other.gram")  # fmt: skip
    gramian("learn", "other.gram", "train.csv")
    for name in ("pet 2", "pet 8"):
        gramian("forget", "other.gram", "--id", name)
    assert "FAILED" in gramian("verify", receipts, "other.gram", code=1).stdout


def test_row_that_was_learned_again(gramian, model, receipts):
    gramian("learn", model, "new.csv")
    rows = [row for row in make_rows() if row[0] == "pet 2"]
    write_csv("back.csv", rows)
    gramian("learn", model, "back.csv")
    out = gramian("verify", receipts, model, code=1).stdout
    assert "pet 2" in out
    assert "does not agree with the receipt." in out


def test_row_that_is_back(gramian, model, receipts, folder):
    gramian("fit", "train.csv", "--target", "animal", "--id", "name", "-o", "again.gram",
            "--gamma", "0.3", "--ridge", "0.1")  # fmt: skip
    assert "pet 2" in gramian("verify", receipts, "again.gram", code=1).stdout
    facts = json.loads(gramian("verify", receipts, "again.gram", "--all", "--json", code=1).stdout)
    assert [entry["held"] for entry in facts["receipts"]] == [["pet 8"], ["pet 2"]]


def test_difference_to_a_refit(gramian, model, receipts):
    words = ("verify", receipts, model, "--refit", "--tolerance", "1e-30")
    assert "(tolerance 1e-30)  FAILED" in gramian(*words, code=1).stdout


def test_receipt_that_was_altered(gramian, model, receipts, folder):
    lines = (folder / receipts).read_text().splitlines()
    last = json.loads(lines[-1])
    last["fingerprint_after"] = "0" * 64
    (folder / receipts).write_text("\n".join([*lines[:-1], json.dumps(last), ""]))
    assert "FAILED" in gramian("verify", receipts, model, code=1).stdout


def test_pending_receipt_does_not_pass(gramian, model, receipts, folder):
    lines = (folder / receipts).read_text().splitlines()
    (folder / receipts).write_text("\n".join([*lines[:-1], ""]))
    assert "pending" in gramian("verify", receipts, model, code=1).stdout


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "{}\n", "\x00\xff", '{"kind": "other"}'])
def test_file_without_receipts(gramian, model, folder, content):
    (folder / "no").write_text(content)
    assert "receipt" in gramian("verify", "no", model, code=1).stderr


def test_receipt_of_python(model, gramian, folder):
    fitted = package.load(model)
    receipt = package.forget(fitted, "pet 8")
    package.save(fitted, model)
    loaded = package.load(model)
    again = package.files.fingerprint(loaded, key=bytes.fromhex(receipt.salt))
    assert again == receipt.fingerprint_after


def test_control_characters_of_a_receipt_are_not_shown(gramian, model, receipts, folder):
    lines = (folder / receipts).read_text().splitlines()
    last = {**json.loads(lines[-1]), "user": "\x1b[31mred\x07"}
    (folder / receipts).write_text(json.dumps(last) + "\n")
    out = gramian("verify", receipts, model).stdout
    assert "\x1b" not in out
    assert "\x07" not in out
