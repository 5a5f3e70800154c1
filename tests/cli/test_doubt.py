"""``gramian doubt`` and ``gramian relabel``: rows to doubt, and what the commands do with them."""

import pytest

import gramian as package
from gramian.cli._tables import read_table
from tests.cli.conftest import HEADER, make_rows, write_csv


def test_doubts_are_printed_and_written(gramian, model):
    out = gramian("doubt", model, "-o", "doubts.csv").stdout
    assert "1 of 40 rows are doubtful" in out
    assert "gramian relabel model.gram doubts.csv" in out
    table = read_table("doubts.csv")
    assert list(table) == ["id", "given", "suggested", "probability"]
    assert table["id"][0] == "pet 8"  # called a dog by mistake
    assert (table["given"][0], table["suggested"][0]) == ("dog", "cat")
    out = gramian("doubt", model, "--top", "30").stdout
    assert "1 of 40 rows are doubtful" in out
    assert "Listed: the 30 most doubtful." in out
    assert "-o FILE" in out


def test_doubts_of_every_size(as_json, model):
    facts = as_json("doubt", model, "--top", "25")
    assert facts["count"] == 25
    probability = facts["doubts"]["probability"]
    assert probability == sorted(probability, reverse=True)


def test_forget_takes_the_table(gramian, model):
    gramian("doubt", model, "--top", "2", "-o", "doubts.csv")
    gramian("forget", model, "--ids-from", "doubts.csv")
    assert not set(read_table("doubts.csv")["id"]) & set(package.load(model).ids_.tolist())
    assert len(package.load(model).ids_) == 38


def test_relabel_takes_the_table(gramian, model):
    gramian("doubt", model, "--top", "1", "-o", "doubts.csv")
    out = gramian("relabel", model, "doubts.csv").stdout
    assert "Relabelled 1 of 40 rows." in out
    held = package.load(model)
    assert held.ids_[-1] == "pet 8"
    assert held.y_fit_[-1] == "cat"
    assert "0 of 40 rows are doubtful" in gramian("doubt", model).stdout


def test_relabel_by_id(gramian, as_json, model):
    facts = as_json("relabel", model, "--id", "pet 8", "--id", "pet 1", "--to", "fish")
    assert facts["ids"] == ["pet 8", "pet 1"]
    assert package.load(model).classes_.tolist() == ["cat", "dog", "fish"]
    assert "go together" in gramian("relabel", model, "--id", "pet 8", code=2).output
    assert "Give a TABLE" in gramian("relabel", model, code=2).output
    error = gramian("relabel", model, "--id", "cow", "--to", "cat", code=1).output
    assert "relabel got id cow, which the model does not hold" in error


def test_ids_that_look_like_formulas_come_back(gramian):
    rows = [["=" + row[0], *row[1:]] for row in make_rows()]
    write_csv("formulas.csv", rows)
    fit = ("fit", "formulas.csv", "--target", "animal", "--id", "name", "-o", "f.gram")
    gramian(*fit, "--gamma", "0.3", "--ridge", "0.1")
    gramian("doubt", "f.gram", "--top", "1", "-o", "doubts.csv")
    assert read_table("doubts.csv")["id"] == ["'=pet 8"]
    gramian("relabel", "f.gram", "doubts.csv")
    assert package.load("f.gram").y_fit_[-1] == "cat"
    gramian("forget", "f.gram", "--ids-from", "doubts.csv")
    assert "=pet 8" not in package.load("f.gram").ids_


def test_numbers_are_doubted_by_their_errors(gramian, as_json):
    rows = make_rows()
    rows[3][1], rows[5][2] = "15", "400"
    write_csv("ages.csv", rows, HEADER)
    fit = ("fit", "ages.csv", "--target", "age", "--estimator", "ls-svr", "--id", "name")
    gramian(*fit, "-o", "ages.gram", "--gamma", "0.3", "--ridge", "0.1")
    facts = as_json("doubt", "ages.gram", "--top", "3")
    assert list(facts["doubts"]) == ["id", "given", "suggested", "error"]
    assert facts["doubts"]["id"][0] == "pet 6"
    assert "error" in gramian("doubt", "ages.gram").stdout
    assert "rmse before" in gramian("relabel", "ages.gram", "--id", "pet 6", "--to", "4").stdout


def test_a_store_is_doubted_and_relabelled(gramian, as_json, model):
    gramian("store", "create", model, "pets.store")
    gramian("doubt", "pets.store", "--top", "1", "-o", "doubts.csv")
    facts = as_json("relabel", "pets.store", "doubts.csv")
    assert facts["ids"] == ["pet 8"]
    assert facts["leave_one_out"]["error"] < facts["leave_one_out_before"]["error"]
    receipts = as_json("store", "receipts", "pets.store")["receipts"]
    assert [receipt["action"] for receipt in receipts] == ["create", "relabel"]
    assert gramian("audit", "pets.store").exit_code == 0


def test_relabel_a_signed_store(gramian, as_json, model, folder):
    serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    plain = serialization.NoEncryption()
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain
    (folder / "key.pem").write_bytes(Ed25519PrivateKey.generate().private_bytes(*form))
    gramian("store", "create", model, "pets.store", "--key", "key.pem")
    words = ("relabel", "pets.store", "--id", "pet 8", "--to", "cat")
    assert "key" in gramian(*words, code=1).stderr
    receipt = as_json(*words, "--key", "key.pem")["receipt"]
    assert receipt["action"] == "relabel"
    assert receipt["public_key"]
    assert (
        "a key signs the receipts of a store"
        in gramian(
            "relabel", model, "--id", "pet 8", "--to", "cat", "--key", "key.pem", code=1
        ).stderr
    )
