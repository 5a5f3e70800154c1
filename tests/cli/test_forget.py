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
    facts = as_json("forget", model, "--id", "pet 8", "--verify", "--receipt", "receipts.jsonl")
    receipt = facts["receipt"]
    assert facts["saved"] == model
    pending, done = map(json.loads, (folder / "receipts.jsonl").read_text().splitlines())
    assert done == receipt
    assert pending == {**receipt, "status": "pending"}
    assert receipt["file"] == str(folder / model)
    assert receipt["user"]
    assert (receipt["ids"], receipt["count"], receipt["n_after"]) == (["pet 8"], 1, 39)
    key = bytes.fromhex(receipt["salt"])
    assert receipt["fingerprint_after"] == package.files.fingerprint(package.load(model), key=key)
    assert receipt["verified"] is True
    assert receipt["drift"] < 1e-12  # eps · cond(A), which is below 40 / 0.1
    assert receipt["difference"] < 1e-12


def test_without_verify_nothing_is_compared(gramian, model):
    assert "not computed (--verify)" in gramian("forget", model, "--id", "pet 8").stdout


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
    gramian("forget", model, *option, "--yes")
    assert ids(model) == [row[0] for row in make_rows() if row[0] not in gone]


def test_numbers_as_ids_and_standard_input(gramian, folder):
    fit = ("fit", "train.csv", "--target", "animal", "--ignore", "name", "-o", "model.gram")
    gramian(*fit, "--gamma", "0.3", "--ridge", "0.1")
    gramian("forget", "model.gram", "--ids-from", "-", input="2\n3\n")
    assert ids("model.gram") == [0, 1, *range(4, 40)]
    result = gramian("forget", "model.gram", "--id", "pet 8", code=1)
    assert "forget got id pet 8, which the model does not hold (its ids are such as 0)" in (
        result.stderr
    )


def test_all_unknown_ids_are_named_and_may_be_passed_over(gramian, as_json, model):
    asked = [word for name in ("nobody", "pet 8", "no one") for word in ("--id", name)]
    error = gramian("forget", model, *asked, code=1).stderr
    assert "forget got ids nobody, no one, which the model does not hold" in error
    assert (
        "Not held, passed over: nobody"
        in gramian("forget", model, *asked[:4], "--missing-ok", "-o", "less.gram").stdout
    )
    facts = as_json("forget", model, *asked, "--missing-ok")
    assert facts["unknown_ids"] == ["nobody", "no one"]
    assert facts["receipt"]["ids"] == ["pet 8"]
    error = gramian("forget", model, "--id", "nobody", "--missing-ok", code=1).stderr
    assert "holds none of these ids" in error


def test_another_file(gramian, model, folder):
    before = (folder / model).read_bytes()
    gramian("forget", model, "--id", "pet 8", "-o", "less.gram")
    assert (folder / model).read_bytes() == before
    assert "pet 8" not in ids("less.gram")


@pytest.mark.slow
def test_reselect_is_the_fit_to_the_other_rows(gramian, as_json, folder):
    fit = ("--target", "animal", "--id", "name")
    gramian("fit", "train.csv", *fit, "-o", "model.gram")
    facts = as_json("forget", "model.gram", "--id", "pet 8", "--id", "pet 4", "--reselect")
    assert facts["receipt"]["chosen_on_data"] == []
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
    gramian("forget", "model.gram", "--id", "patient 8128", "--receipt", "r.jsonl")
    for path in folder.iterdir():
        if path.name != "train.csv" and path.name != "r.jsonl":
            assert not any(trace in path.read_bytes() for trace in traces)
    assert "yodel" not in (folder / "r.jsonl").read_text()


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
        (("--where", "sound ~ woof"), 1, "is not of the form COLUMN OP VALUE"),
        (("--where", "age > 0", "--yes"), 1, "forget would leave 0 samples"),
        (("--ids-from", "empty.txt"), 1, "empty.txt has no ids"),
        (("--ids-from", "nowhere.txt"), 2, "does not exist"),
    ],
)
def test_failed_forget_leaves_the_file(gramian, model, folder, words, code, match):
    (folder / "empty.txt").write_text("\n")
    before = (folder / model).read_bytes()
    assert match in gramian("forget", model, *words, code=code).stderr
    assert (folder / model).read_bytes() == before


# -- receipts -----------------------------------------------------------------------------------


def statuses(path):
    return [json.loads(line)["status"] for line in path.read_text().splitlines()]


def test_receipts_are_added_to_those_that_are_there(gramian, model, folder):
    for name in ("pet 8", "pet 2"):
        gramian("forget", model, "--id", name, "--receipt", "r.jsonl")
    lines = [json.loads(line) for line in (folder / "r.jsonl").read_text().splitlines()]
    assert [line["status"] for line in lines] == ["pending", "done"] * 2
    assert [line["ids"] for line in lines[1::2]] == [["pet 8"], ["pet 2"]]
    assert (folder / "r.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["model.gram", "./model.gram", "link", "train.csv", "other.json"])
def test_receipt_replaces_no_other_file(gramian, model, folder, name):
    (folder / "link").symlink_to(folder / "model.gram")
    (folder / "other.json").write_text('{\n  "model": "an old receipt"\n}\n')
    before = {path: path.read_bytes() for path in folder.iterdir()}
    result = gramian("forget", model, "--id", "pet 8", "--receipt", name, code=1)
    assert "needs another name" in result.stderr or "is no file of receipts" in result.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_difference_beyond_the_tolerance_is_a_failure(gramian, model, folder):
    words = ("--verify", "--tolerance", "1e-30", "--receipt", "r.jsonl")
    result = gramian("forget", model, "--id", "pet 8", *words, code=1)
    assert "NOT verified (tolerance 1e-30)" in result.stdout
    assert "differs from a full refit by more than the tolerance" in result.stderr
    assert "pet 8" not in ids(model)
    assert json.loads((folder / "r.jsonl").read_text().splitlines()[-1])["verified"] is False


def test_model_that_cannot_be_saved_voids_the_receipt(gramian, model, folder, monkeypatch):
    def fail(*args, **options):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(package.files._models, "write_archive", fail)
        result = gramian("forget", model, "--id", "pet 8", "--receipt", "r.jsonl", code=1)
    assert "no space left" in result.stderr
    assert statuses(folder / "r.jsonl") == ["pending", "void"]
    assert "pet 8" in ids(model)


@pytest.mark.parametrize(
    ("saved", "status", "note"),
    [(False, "void", "the rows were not forgotten"), (True, "done", "finished by a later run")],
)
def test_pending_receipt_is_finished_by_the_next_run(gramian, model, folder, saved, status, note):
    """A kill between the pending receipt and the finished one."""
    before = (folder / model).read_bytes()
    gramian("forget", model, "--id", "pet 8", "--receipt", "r.jsonl")
    pending = (folder / "r.jsonl").read_text().splitlines()[0]
    (folder / "r.jsonl").write_text(pending + "\n" + pending[:40])  # and one that was cut short
    if not saved:
        (folder / model).write_bytes(before)
    out = gramian("forget", model, "--id", "pet 2", "--receipt", "r.jsonl").stdout
    assert f"was left pending: {note}" in out
    lines = (folder / "r.jsonl").read_text().splitlines()
    assert lines[1] == pending[:40]
    assert [json.loads(line)["status"] for line in lines[2:]] == [status, "pending", "done"]
    assert ("pet 8" in ids(model)) is not saved


@pytest.mark.parametrize(
    ("asked", "meant"), [("12", "000012"), ("a7", "A-007"), ("99", None), ("  012", "000012")]
)
def test_ids_that_were_typed_in_short(gramian, asked, meant):
    rows = [[f"{i:06d}", *row[1:]] for i, row in enumerate(make_rows())]
    rows[0][0] = "A 007"
    write_csv("coded.csv", rows)
    gramian("fit", "coded.csv", "--target", "animal", "--id", "name", "--gamma", "0.3",
            "--ridge", "0.1", "-o", "coded.gram")  # fmt: skip
    said = gramian("forget", "coded.gram", "--id", asked, code=1).stderr
    assert ("Did you mean" in said) == (meant is not None)
    assert meant is None or f"Did you mean {meant.replace('-', ' ')}? Nothing was" in said


def test_many_rows_need_a_yes(gramian, as_json, model, folder):
    many = ("forget", model, "--where", "age > 4")
    before = (folder / model).read_bytes()
    chosen = [row[0] for row in make_rows() if int(row[2]) > 4]
    tried = as_json(*many, "--dry-run")
    assert (tried["ids"], tried["n_after"]) == (chosen, 40 - len(chosen))
    out = gramian(*many, "--dry-run").stdout
    assert f"Would forget {len(chosen)} of 40 rows: {chosen[0]}" in out
    error = gramian(*many, code=2).stderr
    assert f"this would forget {len(chosen)} of 40 rows" in error
    assert "--dry-run; --yes forgets them" in error
    assert (folder / model).read_bytes() == before
    gramian(*many, "--yes")
    assert len(ids(model)) == 40 - len(chosen)


@pytest.mark.parametrize(("answer", "left"), [("n\n", 40), ("y\n", 30)])
def test_a_question_on_a_terminal(gramian, model, monkeypatch, answer, left):
    monkeypatch.setattr("gramian.cli._forget.can_answer", lambda: True)
    some = [word for i in range(10) for word in ("--id", f"pet {i + 1}")]
    result = gramian("forget", model, *some, input=answer, code=1 if left == 40 else 0)
    assert "This forgets 10 of 40 rows (25%). Go on?" in result.stderr
    assert len(ids(model)) == left


@pytest.mark.parametrize("content", [
    "name;animal\npet 3;cat\npet 5;cat\n",
    "animal,name\ncat,pet 3\ncat,pet 5\n",
    "name\npet 3\npet 5\n",
    "id\npet 3\npet 5\n",
    "\ufeffpet 3\r\npet 5\r\n",
])  # fmt: skip
def test_ids_from_the_column_of_the_ids(gramian, model, folder, content):
    (folder / "some.csv").write_bytes(content.encode())
    gramian("forget", model, "--ids-from", "some.csv")
    assert ids(model) == [f"pet {i}" for i in range(1, 41) if i not in (3, 5)]
