"""``gramian fit --subject`` and ``gramian forget --subject``."""

import numpy as np

import gramian as package
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


def test_rows_that_repeat_others_are_named_once(as_json, gramian, folder):
    write(folder / "visits.csv", twice=True)
    fit = ("fit", "visits.csv", "--target", "ill", "--ignore", "patient", "--ignore", "row")
    notes = as_json(*fit, "--gamma", "0.5", "--ridge", "1", "-o", "model.gram")["notes"]
    said = [note for note in notes if "60 of 60 samples repeat another one" in note]
    assert len(said) == 1
    assert "--subject COLUMN" in said[0]
    assert notes == [*dict.fromkeys(notes)]


def test_a_class_that_is_never_predicted_is_noted(gramian, folder):
    noise = np.random.default_rng(0).standard_normal(60)
    rows = [f"{x},{'rare' if i % 10 == 0 else 'usual'}" for i, x in enumerate(noise)]
    (folder / "rare.csv").write_text("\n".join(["x,kind", *rows]), encoding="utf-8")
    fit = ("fit", "rare.csv", "--target", "kind", "--gamma", "0.1", "--ridge", "10")
    shown = gramian(*fit, "-o", "rare.gram")
    assert shown.stdout.count("Note: the class rare is never predicted") == 1
    assert "Warning" not in shown.stderr
    shown = gramian("inspect", "rare.gram", "--loo")
    assert shown.stdout.count("Note: the class rare is never predicted") == 1
    assert "Warning" not in shown.stderr
