"""``gramian fit --subject`` and ``gramian forget --subject``."""

import gramian as package
from gramian.cli._assess import doubts
from tests.tables.test_subjects import PATIENTS, table


def write(path, twice=False):
    columns = table(PATIENTS)
    columns = {name: cells * 2 if twice else cells for name, cells in columns.items()}
    lines = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    path.write_text("\n".join(lines), encoding="utf-8")


def test_a_person_leaves_with_one_receipt(gramian, as_json, folder):
    write(folder / "visits.csv")
    fit = ("fit", "visits.csv", "--target", "ill", "--id", "row", "--subject", "patient")
    gramian(*fit, "--estimator", "ls-svc", "-o", "model.gram")
    model = package.load(folder / "model.gram")
    rows = model.ids_[model.groups_ == "PAT-0001"].tolist()
    found = as_json("forget", "model.gram", "--subject", "PAT-0001")
    assert found["receipt"]["ids"] == rows
    assert found["receipt"]["count"] == len(rows) == 3
    assert "PAT-0001" not in package.load(folder / "model.gram").groups_


def test_subjects_that_are_not_there(gramian, folder):
    write(folder / "visits.csv")
    fit = ("fit", "visits.csv", "--target", "ill", "--id", "row", "--gamma", "0.5", "--ridge", "1")
    gramian(*fit, "--subject", "patient", "-o", "model.gram")
    failed = gramian("forget", "model.gram", "--subject", "pat-1", code=1)
    assert "Did you mean PAT-0001?" in failed.stderr
    gramian(*fit, "--ignore", "patient", "-o", "plain.gram")
    failed = gramian("forget", "plain.gram", "--subject", "PAT-0001", code=1)
    assert "have no subjects" in failed.stderr


def test_rows_that_repeat_others_and_choices_that_flatter_are_named(as_json, folder):
    write(folder / "visits.csv", twice=True)
    fit = ("fit", "visits.csv", "--target", "ill", "--ignore", "patient", "--ignore", "row")
    notes = as_json(*fit, "--gamma", "0.5", "--ridge", "1", "-o", "model.gram")["notes"]
    assert any("60 of 60 rows repeat another row" in note for note in notes)
    honest = {"error": 0.5, "standard_error": 0.05, "folds": 10}
    model = package.load(folder / "model.gram")
    assert any("contradicted" in note for note in doubts(model, honest, {"error": 0.1}))
    assert not any("contradicted" in note for note in doubts(model, honest, {"error": 0.45}))
    honest = {"r2": 0.1, "standard_error": 0.05, "folds": 10}
    assert any("contradicted" in note for note in doubts(model, honest, {"r2": 0.9}))
