"""``gramian learn``: as if the rows had been there, with the scales as they were."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import gramian as package
from gramian.cli._tables import read_table
from tests.cli.conftest import HEADER, make_rows, write_csv


def test_learns_in_place(gramian, as_json, model):
    before = package.load(model)
    facts = as_json("learn", model, "new.csv")
    assert (facts["learned"], facts["rows"]) == (10, 50)
    assert facts["ids"] == [f"new {i}" for i in range(1, 11)]
    after = package.load(model)
    assert after.columns_ == before.columns_
    new = read_table("new.csv")
    X = np.vstack([before.transform(before.table_), before.transform(new)])
    y = np.append(before.estimator_.y_fit_, new["animal"])
    expected = clone(before.estimator_).fit(X, y)
    np.testing.assert_allclose(
        after.estimator_.decision_function(X),
        expected.decision_function(X),
        atol=1e-12,  # cond(A) < 50 / 0.1
    )
    assert facts["leave_one_out"]["error"] == pytest.approx(1 - expected.loo_score())
    assert facts["leave_one_out_before"]["error"] == pytest.approx(
        1 - before.estimator_.loo_score()
    )


def test_output_for_people_and_another_file(gramian, model, folder):
    before = (folder / model).read_bytes()
    rows = make_rows(3, seed=2)
    rows[0][3], rows[1][4] = "quack", "bird"
    write_csv("more.csv", [["x" + row[0], *row[1:]] for row in rows])
    out = gramian("learn", model, "more.csv", "-o", "wiser.gram").stdout
    assert "Learned 3 rows. The model holds 43 rows." in out
    assert "does not know 'quack'" in out
    assert "said bird" in out
    assert "Saved wiser.gram" in out
    assert (folder / model).read_bytes() == before
    assert package.load("wiser.gram").estimator_.classes_.tolist() == ["bird", "cat", "dog"]


def test_regression_for_people(gramian, folder):
    rows = [row for row in make_rows() if row[1] != "NA"]
    write_csv("train.csv", rows[:30])
    write_csv("more.csv", rows[30:])
    fit = ("fit", "train.csv", "--target", "weight", "--ignore", "name", "-o", "model.gram")
    gramian(*fit, "--gamma", "0.3", "--ridge", "0.1")
    assert "rmse before: " in gramian("learn", "model.gram", "more.csv").stdout
    assert package.load("model.gram").ids_.tolist() == list(range(39))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda rows: rows[1].__setitem__(0, "pet 3"), "row 2, column 'name': the model holds id"),
        (lambda rows: rows[1].__setitem__(4, ""), "row 2, column 'animal': the target is missing"),
        (lambda rows: rows[1].__setitem__(1, "x"), "row 2, column 'weight': 'x' is not a number"),
    ],
)
def test_failed_learn_leaves_the_file(gramian, model, folder, change, match):
    before = (folder / model).read_bytes()
    rows = [["x" + row[0], *row[1:]] for row in make_rows(3)]
    change(rows)
    write_csv("more.csv", rows)
    assert f"more.csv: {match}" in gramian("learn", model, "more.csv", code=1).stderr
    assert (folder / model).read_bytes() == before


def test_missing_target_column_is_named(gramian, model):
    write_csv("more.csv", [row[:4] for row in make_rows(3)], HEADER[:4])
    assert "more.csv: no column 'animal'" in gramian("learn", model, "more.csv", code=1).stderr


def test_the_encoding_of_the_fit_is_remembered(gramian, as_json):
    header = ["Größe", "Art", "Wert"]
    rows = [[f"{i},5", "süß" if i % 2 else "herb", f"{2 * i},25"] for i in range(30)]
    write_csv("alt.csv", rows, header, delimiter=";")
    text = Path("alt.csv").read_text(encoding="utf-8")
    Path("alt.csv").write_text(text, encoding="cp1252")
    Path("neu.csv").write_text(text, encoding="utf-8")
    words = ("--target", "Wert", "--decimal", ",", "--gamma", "0.3", "--ridge", "0.1")
    gramian("fit", "alt.csv", *words, "--encoding", "cp1252", "-o", "alt.gram")
    facts = as_json("predict", "alt.gram", "alt.csv")
    assert facts["unknown_texts"] == {}
    assert facts["compared"]["rows"] == 30  # the target has decimal commas, too
    assert as_json("learn", "alt.gram", "alt.csv")["rows"] == 60
    given = as_json("predict", "alt.gram", "neu.csv", "--encoding", "utf-8")
    assert given["unknown_texts"] == {}
    gramian("store", "create", "alt.gram", "alt.store")
    assert "Learned 30 rows" in gramian("learn", "alt.store", "alt.csv").stdout
    gramian("fit", "neu.csv", *words, "-o", "neu.gram")
    assert "--encoding cp1252" in gramian("predict", "neu.gram", "alt.csv", code=1).stderr
    assert package.load("alt.gram").encoding == "cp1252"
    assert package.load("neu.gram").encoding is None
