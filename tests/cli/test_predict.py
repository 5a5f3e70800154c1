"""``gramian predict``: the predictions of the model, in every form."""

import csv
import json
import os

import numpy as np
import pytest
from scipy.sparse import issparse

import gramian as package
from gramian import LeastSquaresSVC
from gramian.cli._tables import read_table
from tests.cli.conftest import HEADER, make_rows, write_csv


@pytest.fixture
def expected(model):
    """What the model says in Python."""
    return package.load(model).predict(read_table("new.csv"))


def test_prints_csv(gramian, model, expected):
    result = gramian("predict", model, "new.csv")
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert [row["name"] for row in rows] == [f"new {i}" for i in range(1, 11)]
    assert [row["prediction"] for row in rows] == expected.tolist()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_writes_a_table(gramian, model, expected, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    result = gramian("predict", model, "new.csv", "-o", f"out.{suffix}", "--proba")
    assert f"Saved 10 predictions in out.{suffix}." in result.stdout
    table = read_table(f"out.{suffix}")
    assert list(table) == ["name", "prediction", "probability cat", "probability dog"]
    assert table["prediction"] == expected.tolist()
    P = np.array([table["probability cat"], table["probability dog"]], dtype=float).T
    fitted = package.load(model)
    np.testing.assert_allclose(P, fitted.predict_proba(read_table("new.csv")), rtol=1e-14)


def test_compares_with_the_target_where_it_is(gramian, as_json, model, expected):
    truth = [row[4] for row in make_rows(10, seed=1)]
    error = float(np.mean(expected != truth))
    facts = as_json("predict", model, "new.csv")
    assert facts["compared"] == {"rows": 10, "error": error}
    assert f"error {error:.2%}" in gramian("predict", model, "new.csv").stderr
    rows = [[*row[:4], "" if i else "bird"] for i, row in enumerate(make_rows(10, seed=1))]
    write_csv("new.csv", rows)
    assert as_json("predict", model, "new.csv")["compared"] == {"rows": 1, "error": 1.0}


def test_rows_that_were_learned_are_no_new_rows(gramian, as_json, model, monkeypatch):
    note = "40 of 40 rows repeat rows that the model has learned. Their error is not that of new"
    assert note in gramian("predict", model, "train.csv").stderr
    assert "repeat" not in gramian("predict", model, "new.csv").stderr
    monkeypatch.setattr("gramian.tables._reading._DENSE_BYTES", 1000)  # many texts: sparse
    rows = [[f"r{i}", f"t{i % 100}", i % 7, "ab"[i % 2]] for i in range(300)]
    header = ["row", "word", "number", "kind"]
    write_csv("texts.csv", rows, header)
    fit = ("fit", "texts.csv", "--target", "kind", "--id", "row", "--gamma", "0.1")
    gramian(*fit, "--ridge", "0.1", "--estimator", "ls-svc", "-o", "texts.gram")
    assert issparse(package.load("texts.gram").estimator_.X_fit_)
    assert as_json("predict", "texts.gram", "texts.csv")["repeats_held_rows"] == 300
    write_csv("texts.csv", [[*row[:2], 0.5, row[3]] for row in rows], header)
    assert as_json("predict", "texts.gram", "texts.csv")["repeats_held_rows"] == 0


def test_needs_neither_target_nor_ids(as_json, model):
    write_csv("new.csv", [row[1:4] for row in make_rows(10, seed=1)], HEADER[1:4])
    facts = as_json("predict", model, "new.csv")
    assert facts["compared"] is None
    assert facts["predictions"]["row"] == list(range(1, 11))


def test_order_of_columns_and_other_columns_do_not_matter(as_json, model, expected):
    rows = [[*row[:0:-1], "extra"] for row in make_rows(10, seed=1)]
    write_csv("new.csv", rows, [*HEADER[:0:-1], "more"])
    assert as_json("predict", model, "new.csv")["predictions"]["prediction"] == expected.tolist()


def test_unknown_texts_and_missing_cells_are_taken(gramian, model):
    write_csv("new.csv", [["5", "", "quack"], ["", "3", "meow"]], HEADER[1:4])
    result = gramian("predict", model, "new.csv")
    assert len(result.stdout.splitlines()) == 3
    assert "Note: column 'sound': the model does not know 'quack'" in result.stderr


def test_standard_input(gramian, model, expected):
    with open("new.csv", encoding="utf-8") as stream:
        result = gramian("predict", model, "-", "--json", input=stream.read())
    assert json.loads(result.stdout)["predictions"]["prediction"] == expected.tolist()


def test_numbers(gramian, as_json, folder):
    write_csv("train.csv", [row for row in make_rows() if row[1] != "NA"])
    fit = ("fit", "train.csv", "--target", "weight", "-o", "model.gram", "--ignore", "name")
    gramian(*fit, "--gamma", "0.3", "--ridge", "0.1")
    facts = as_json("predict", "model.gram", "new.csv")
    said = np.array(facts["predictions"]["prediction"])
    truth = [np.nan if row[1] == "NA" else float(row[1]) for row in make_rows(10, seed=1)]
    assert facts["compared"]["rows"] == 9
    assert facts["compared"]["rmse"] == pytest.approx(np.sqrt(np.nanmean((said - truth) ** 2)))
    assert (
        "--proba is for classes"
        in gramian("predict", "model.gram", "new.csv", "--proba", code=2).stderr
    )
    write_csv("new.csv", [["NA", *row[2:]] for row in make_rows(3)], HEADER[1:])
    assert as_json("predict", "model.gram", "new.csv")["compared"] is None


@pytest.mark.parametrize(
    ("cell", "match"),
    [("heavy", "new.csv: row 2, column 'weight': 'heavy' is not a number"), (None, "no column")],
)
def test_bad_table_is_named(gramian, model, cell, match):
    rows = [row[1:4] for row in make_rows(3)]
    if cell is None:
        write_csv("new.csv", [row[1:] for row in rows], HEADER[2:4])
    else:
        rows[1][0] = cell
        write_csv("new.csv", rows, HEADER[1:4])
    assert match in gramian("predict", model, "new.csv", code=1).stderr


def test_model_without_columns_is_refused(gramian, folder):
    X = np.random.default_rng(0).standard_normal((20, 2))
    package.save(LeastSquaresSVC(gamma=0.5, C=1.0).fit(X, X[:, 0] > 0), "plain.gram")
    result = gramian("predict", "plain.gram", "new.csv", code=1)
    assert "plain.gram holds a LeastSquaresSVC that was saved from Python" in result.stderr


def test_damaged_model_is_refused(gramian, model, folder):
    content = bytearray((folder / model).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / model).write_bytes(content)
    assert "model.gram is damaged" in gramian("predict", model, "new.csv", code=1).stderr


def test_no_cell_is_a_formula_or_a_command(gramian, model):
    rows = [["=HYPERLINK(1)", "5", "3", "meow"], ["\x1b[2Jx", "20", "3", "\x1b[31mwoof"]]
    write_csv("new.csv", [*rows, ["-5", "5", "3", "meow"]], HEADER[:4])
    result = gramian("predict", model, "new.csv")
    assert [line.split(",")[0] for line in result.stdout.splitlines()[1:]] == [
        "'=HYPERLINK(1)",
        "'\\x1b[2Jx",
        "-5",
    ]
    assert "\x1b" not in result.stderr
    gramian("predict", model, "new.csv", "-o", "out.csv")
    assert read_table("out.csv")["name"][0] == "'=HYPERLINK(1)"


def test_class_that_is_a_formula_is_escaped(gramian, folder):
    rows = [[*row[:4], "=1+1" if row[4] == "dog" else "@cat"] for row in make_rows()]
    write_csv("train.csv", rows)
    fit = ("fit", "train.csv", "--target", "animal", "--id", "name", "-o", "model.gram")
    gramian(*fit, "--gamma", "0.3", "--ridge", "0.1")
    gramian("predict", "model.gram", "new.csv", "-o", "out.csv", "--proba")
    table = read_table("out.csv")
    assert set(table["prediction"]) <= {"'=1+1", "'@cat"}


def test_control_characters_of_a_table_are_not_shown(gramian, folder):
    rows = make_rows()
    rows[7][3] = "\x1b[31mmeow"
    write_csv("train.csv", rows, [*HEADER[:3], "so\x1bund", "animal"])
    fit = ("fit", "train.csv", "--target", "animal", "--id", "name", "-o", "model.gram")
    result = gramian(*fit, "--gamma", "0.3", "--ridge", "0.1")
    assert "so\\x1bund" in result.stdout
    for command in (("inspect", "model.gram"), ("predict", "model.gram", "new.csv")):
        code = 0 if command[0] == "inspect" else 1  # no column so·und
        result = gramian(*command, code=code)
        assert "\x1b" not in result.stdout + result.stderr


def test_confidence_adds_sets_of_classes(gramian, as_json, model):
    fitted, table = package.load(model), read_table("new.csv")
    sets = fitted.predict_set(table, 0.8)
    facts = as_json("predict", model, "new.csv", "--confidence", "0.8")
    expected = ["; ".join(c for c, s in zip(["cat", "dog"], row, strict=True) if s) for row in sets]
    assert facts["predictions"]["set"] == expected
    truth = [row[4] for row in make_rows(10, seed=1)]
    held = [t in row.split("; ") for t, row in zip(truth, expected, strict=True)]
    assert facts["compared"]["coverage"] == pytest.approx(np.mean(held))
    result = gramian("predict", model, "new.csv", "--confidence", "0.8")
    assert f"coverage {np.mean(held):.2%}" in result.stderr
    wide = gramian("predict", model, "new.csv", "--confidence", "0.8", "--width", "local", code=2)
    assert "--width is for intervals of numbers" in wide.stderr
    assert (
        "between 0 and 1"
        in gramian("predict", model, "new.csv", "--confidence", "2", code=2).stderr
    )


@pytest.mark.parametrize("options", [{"mondrian": True}, {"score": "adaptive"}])
def test_how_sets_of_classes_are_made(gramian, as_json, model, options, monkeypatch):
    words = ("predict", model, "new.csv", "--confidence", "0.95")
    asked = ["--mondrian"] if "mondrian" in options else ["--score", options["score"]]
    sets = package.load(model).predict_set(read_table("new.csv"), 0.95, random_state=0, **options)
    monkeypatch.setattr(np.random.mtrand, "_rand", np.random.RandomState(0))
    found = as_json(*words, *asked)["predictions"]["set"]
    names = ["cat", "dog"]
    assert found == ["; ".join(c for c, s in zip(names, row, strict=True) if s) for row in sets]
    assert found != as_json(*words)["predictions"]["set"]
    said = f"{asked[0]} is for the sets of --confidence, without --fast"
    assert said in gramian(*words, *asked, "--fast", code=2).stderr
    assert said in gramian("predict", model, "new.csv", *asked, code=2).stderr


def test_confidence_adds_ends_of_intervals(gramian, as_json):
    write_csv(
        "numbers.csv", [[i, i % 7, 2 * (i % 7) + i % 3 / 10] for i in range(12)], ["id", "x", "z"]
    )
    gramian(
        "fit", "numbers.csv", "--target", "z", "--id", "id", "-o", "m.gram", "--estimator", "ls-svr"
    )
    facts = as_json("predict", "m.gram", "numbers.csv", "--confidence", "0.8")
    ends = package.load("m.gram").predict_interval(read_table("numbers.csv"), 0.8)
    np.testing.assert_allclose(facts["predictions"]["low"], ends[:, 0])
    np.testing.assert_allclose(facts["predictions"]["high"], ends[:, 1])
    assert 0.5 < facts["compared"]["coverage"] <= 1.0
    wide = ("predict", "m.gram", "numbers.csv", "--confidence", "0.8", "--width", "local")
    ends = package.load("m.gram").predict_interval(read_table("numbers.csv"), 0.8, width="local")
    np.testing.assert_allclose(as_json(*wide)["predictions"]["high"], ends[:, 1])
    assert "without --fast" in gramian(*wide, "--fast", code=2).stderr
    within = gramian(*wide[:-2], "--mondrian", code=2).stderr
    assert "--mondrian is for sets of classes, m.gram predicts numbers" in within
    result = gramian("predict", "m.gram", "numbers.csv", "--confidence", "0.8")
    assert "gamma, C were chosen on the rows that the model holds" in result.stderr
    facts = as_json("predict", "m.gram", "numbers.csv", "--confidence", "0.99")
    assert facts["predictions"]["low"] == [None] * 12  # too few rows for this
    assert (
        gramian("predict", "m.gram", "numbers.csv", "--confidence", "0.99")
        .stdout.splitlines()[1]
        .endswith(",,")
    )


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_files_with_ids_are_private(gramian, model, folder):
    gramian("predict", model, "new.csv", "-o", "out.csv")
    gramian("doubt", model, "-o", "doubts.csv")
    for name in (model, "out.csv", "doubts.csv"):
        assert (folder / name).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("target", "columns"), [("animal", {"set"}), ("weight", {"low", "high"})])
def test_fast_sets_are_close_to_full_ones(as_json, gramian, target, columns):
    write_csv("train.csv", [row for row in make_rows(200) if row[1] != "NA"])
    fit = ("fit", "train.csv", "--target", target, "--ignore", "name", "-o", "m.gram")
    gramian(*fit, "--gamma", "0.1", "--ridge", "0.1")
    write_csv("many.csv", [row for row in make_rows(200, seed=3) if row[1] != "NA"])
    words = ("predict", "m.gram", "many.csv", "--confidence", "0.8")
    full, fast = as_json(*words), as_json(*words, "--fast")
    assert columns < set(fast["predictions"])
    assert fast["approximate"]
    assert not full["approximate"]
    assert abs(fast["compared"]["coverage"] - full["compared"]["coverage"]) < 0.05
    if target == "animal":
        same = zip(fast["predictions"]["set"], full["predictions"]["set"], strict=True)
        assert np.mean([a == b for a, b in same]) > 0.95
    assert "an approximation" in gramian(*words, "--fast").stderr
    assert "--fast is for" in gramian("predict", "m.gram", "many.csv", "--fast", code=2).stderr


def test_batches_are_one_prediction(as_json, model, monkeypatch, expected):
    monkeypatch.setattr("gramian.cli._progress.FIRST", 3)
    monkeypatch.setattr("gramian.cli._progress.next_size", lambda before, last: 3)
    assert as_json("predict", model, "new.csv")["predictions"]["prediction"] == expected.tolist()
