"""``gramian forget``: the rows are gone from model and file, and the receipt says so."""

import json

import numpy as np
import pytest

import gramian as package
from gramian import LeastSquaresSVC
from gramian.cli._tables import read_table
from tests.cli.conftest import make_rows, write_csv


def ids(path):
    return package.load(path).ids_.tolist()


def test_receipt_for_people(gramian, model):
    out = gramian("forget", model, "--id", "pet 8", "--id", "pet 2", "--verify").stdout
    assert "Forgot 2 of 40 rows: pet 8, pet 2" in out
    assert "means and deviations of columns, choice of levels of columns" in out
    assert "Saved model.gram" in out
    held = ids(model)
    assert len(held) == 38
    assert not {"pet 8", "pet 2"} & set(held)


def test_receipt_as_json(as_json, model, folder):
    before = package.io.fingerprint(package.load(model))
    facts = as_json("forget", model, "--id", "pet 8", "--verify", "--receipt", "receipt.json")
    receipt = facts["receipt"]
    assert facts["saved"] == model
    assert json.loads((folder / "receipt.json").read_text()) == receipt
    assert (receipt["ids"], receipt["count"], receipt["n_after"]) == (["pet 8"], 1, 39)
    assert receipt["fingerprint_before"] == before
    assert receipt["fingerprint_after"] == package.io.fingerprint(package.load(model))
    assert receipt["drift"] < 1e-12  # eps · cond(A), which is below 40 / 0.1
    assert receipt["difference"] < 1e-12


def test_without_verify_nothing_is_compared(gramian, model):
    assert "not asked for (--verify)" in gramian("forget", model, "--id", "pet 8").stdout


@pytest.mark.parametrize(
    ("option", "gone"),
    [
        (("--ids-from", "ids.txt"), ["pet 3", "pet 5"]),
        (("--where", "sound == growl"), None),
        (("--where", "name == 'pet 9'"), ["pet 9"]),
        (("--where", "name == 'pet 9'", "--id", "pet 9", "--id", "pet 1"), ["pet 1", "pet 9"]),
    ],
)
def test_ways_to_choose_rows(gramian, model, folder, option, gone):
    (folder / "ids.txt").write_text("pet 3\n\n pet 5 \n")
    if gone is None:
        gone = [row[0] for row in make_rows() if row[3] == "growl"]
    gramian("forget", model, *option)
    assert ids(model) == [row[0] for row in make_rows() if row[0] not in gone]


def test_numbers_as_ids_and_standard_input(gramian, folder):
    fit = ("fit", "train.csv", "--target", "animal", "--ignore", "name", "-o", "model.gram")
    gramian(*fit, "--gamma", "0.3", "--ridge", "0.1")
    gramian("forget", "model.gram", "--ids-from", "-", input="2\n3\n")
    assert ids("model.gram") == [1, *range(4, 41)]
    result = gramian("forget", "model.gram", "--id", "pet 8", code=1)
    assert "'pet 8' is not an id of this model: its ids are numbers, such as 1." in result.stderr


def test_another_file(gramian, model, folder):
    before = (folder / model).read_bytes()
    gramian("forget", model, "--id", "pet 8", "-o", "less.gram")
    assert (folder / model).read_bytes() == before
    assert "pet 8" not in ids("less.gram")


def test_reselect_is_the_fit_to_the_other_rows(gramian, as_json, folder):
    fit = ("--target", "animal", "--id", "name")
    gramian("fit", "train.csv", *fit, "-o", "model.gram")
    facts = as_json("forget", "model.gram", "--id", "pet 8", "--id", "pet 4", "--reselect")
    assert facts["receipt"]["seen_by"] == []
    write_csv("rest.csv", [row for row in make_rows() if row[0] not in ("pet 8", "pet 4")])
    gramian("fit", "rest.csv", *fit, "-o", "rest.gram")
    one, other = package.load("model.gram"), package.load("rest.gram")
    assert one.columns_ == other.columns_
    table = read_table("new.csv")
    np.testing.assert_array_equal(
        one.estimator_.decision_function(one.transform(table)),
        other.estimator_.decision_function(other.transform(table)),
    )


def test_no_byte_of_a_forgotten_row_is_in_the_file(gramian, folder):
    rows = make_rows()
    rows[10] = ["patient 8128", "17.7071234567891", "77", "yodel", "cat"]
    write_csv("train.csv", rows)
    fit = ("fit", "train.csv", "--target", "animal", "--id", "name", "-o", "model.gram")
    gramian(*fit, "--gamma", "0.3", "--ridge", "0.1")
    secret = package.load("model.gram").transform(
        {"weight": ["17.7071234567891"], "age": ["77"], "sound": ["yodel"]}
    )
    traces = [
        "patient".encode("utf-32-le"),
        b"yodel",
        np.float64("17.7071234567891").tobytes(),
        secret[0, 0].tobytes(),
    ]
    assert all(trace in (folder / "model.gram").read_bytes() for trace in traces)
    gramian("forget", "model.gram", "--id", "patient 8128", "--receipt", "r.json")
    for path in folder.iterdir():
        if path.name != "train.csv" and path.name != "r.json":
            assert not any(trace in path.read_bytes() for trace in traces)
    assert "yodel" not in (folder / "r.json").read_text()


def test_model_from_python(gramian, folder):
    X = np.random.default_rng(0).standard_normal((20, 2))
    package.save(LeastSquaresSVC(gamma=0.5, C=1.0).fit(X, X[:, 0] > 0), "plain.gram")
    gramian("forget", "plain.gram", "--id", "0", "--verify")
    assert ids("plain.gram") == list(range(1, 20))
    result = gramian("forget", "plain.gram", "--where", "a == 1", code=1)
    assert "plain.gram was saved from Python and has no columns" in result.stderr


@pytest.mark.parametrize(
    ("words", "code", "match"),
    [
        ((), 2, "Say which rows"),
        (("--id", "nobody"), 1, "forget got id nobody, which the model does not hold"),
        (("--where", "sound == quack"), 1, "no row that the model holds has sound == quack"),
        (("--where", "sound = woof"), 1, "is not of the form COLUMN OP VALUE"),
        (("--where", "age > 0"), 1, "forget would leave 0 samples"),
        (("--ids-from", "empty.txt"), 1, "empty.txt has no ids"),
        (("--ids-from", "nowhere.txt"), 2, "does not exist"),
    ],
)
def test_failed_forget_leaves_the_file(gramian, model, folder, words, code, match):
    (folder / "empty.txt").write_text("\n")
    before = (folder / model).read_bytes()
    assert match in gramian("forget", model, *words, code=code).stderr
    assert (folder / model).read_bytes() == before
