"""Rows of one subject in a table: left out, judged, kept and forgotten together."""

import numpy as np
import pytest

import gramian
from gramian import LeastSquaresSVC, LeastSquaresSVR, TableModel
from gramian.store import Store
from gramian.tables import TableError


def table(names, seed=0):
    """Two or three rows of each name, near one another, with one label."""
    rng = np.random.default_rng(seed)
    size, label = rng.standard_normal((len(names), 2)), rng.integers(0, 2, len(names))
    rows = np.repeat(np.arange(len(names)), 2 + np.arange(len(names)) % 2)
    cells = size[rows] + 0.05 * rng.standard_normal((len(rows), 2))
    return {
        "row": [f"{seed}-{i}" for i in range(len(rows))],
        "patient": [names[r] for r in rows],
        "size": cells[:, 0].tolist(),
        "weight": cells[:, 1].tolist(),
        "ill": np.where(label[rows] == 1, "yes", "no").tolist(),
    }


PATIENTS = [f"PAT-{i:04}" for i in range(12)]


@pytest.fixture
def model():
    how = {"target": "ill", "id_column": "row", "subject_column": "patient"}
    return TableModel(LeastSquaresSVC(gamma=0.5, C=10.0), **how).fit(table(PATIENTS))


def test_rows_of_a_subject_are_left_out_together(model):
    X, groups = model.estimator_.X_fit_, model.groups_
    assert [column.name for column in model.columns_] == ["size", "weight"]
    assert sorted(set(groups.tolist())) == PATIENTS
    for name in PATIENTS:
        mine = groups == name
        rest = LeastSquaresSVC(gamma=0.5, C=10.0).fit(X[~mine], model.y_fit_[~mine])
        found = model.loo_decision_function()[mine]
        np.testing.assert_allclose(found, rest.decision_function(X[mine]), atol=1e-9)
    folds = model.nested_score(folds=4).fold
    assert all(len(set(folds[groups == name])) == 1 for name in PATIENTS)


def test_subjects_are_learned_and_forgotten(model):
    model.partial_fit(table(["PAT-0003", "PAT-0099"], seed=1))
    assert (model.groups_ == "PAT-0003").sum() == 5
    model.forget(groups="PAT-0003")
    assert "PAT-0003" not in model.groups_
    model.reselect()
    assert "PAT-0099" in model.groups_
    with pytest.raises(ValueError, match="PAT-0003, of which the model holds no sample"):
        model.forget(groups=["PAT-0003"])


def test_a_subject_has_a_name(model):
    more = table(["PAT-0050"], seed=2)
    more["patient"][1] = ""
    with pytest.raises(TableError, match="the subject is missing"):
        model.partial_fit(more)


def test_subjects_may_come_beside_the_table():
    rows = table(PATIENTS)
    groups = [int(name[-4:]) for name in rows.pop("patient")]
    target = np.array(rows.pop("size"))
    plain = TableModel(LeastSquaresSVR(gamma=0.5, C=1.0), ignore=["row"])
    plain.fit(rows, target, groups=groups)
    assert plain.groups_.tolist() == groups
    assert TableModel(LeastSquaresSVR(gamma=0.5, C=1.0)).fit(rows, target).groups_ is None


def test_files_and_stores_keep_them(model, tmp_path):
    gramian.save(model, tmp_path / "model.gram")
    twin = gramian.load(tmp_path / "model.gram")
    assert twin.groups_.tolist() == model.groups_.tolist()
    path = tmp_path / "store.gram"
    with Store.create(path, model) as store:
        store.learn(table(["PAT-0003"], seed=1))
        groups = store.model.groups_.tolist()
        expected = store.model.loo_decision_function()
    with Store.open(path) as store:
        assert store.model.groups_.tolist() == groups
        np.testing.assert_allclose(store.model.loo_decision_function(), expected, atol=1e-9)
