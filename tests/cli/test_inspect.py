"""``gramian inspect``: what a file holds, also one that was saved from Python."""

import numpy as np
import pytest

import gramian as package
from gramian import KernelDiscriminant, LeastSquaresSVR


def test_for_people(gramian, model):
    out = gramian("inspect", model).stdout
    assert "KernelDiscriminant on 40 rows" in out
    assert "Ids: pet 1 … pet 40." in out
    assert "Target animal" in out
    assert "every checksum right" in out
    assert "leave-one-out" not in out
    assert "Exact leave-one-out error" in gramian("inspect", model, "--loo").stdout


def test_as_json(as_json, model):
    facts = as_json("inspect", model, "--loo", "--doubtful", "3")
    loaded = package.load(model)
    assert facts["file"] == package.files.file_facts(model)
    assert facts["file"]["fingerprint"] == package.files.fingerprint(loaded)
    assert facts["rows"] == 40
    assert facts["ids"] == {"first": "pet 1", "last": "pet 40"}
    assert [column["name"] for column in facts["columns"]] == ["weight", "age", "sound"]
    assert facts["chosen"] == {"kernel": "rbf", "gamma": 0.3, "ridge": 0.1}
    assert len(facts["doubtful"]) == 3
    error = np.mean(loaded.estimator_.loo_predict() != loaded.estimator_.y_fit_)
    assert facts["leave_one_out"]["error"] == pytest.approx(error)


@pytest.mark.parametrize("estimator", [KernelDiscriminant(), LeastSquaresSVR(gamma=0.5, C=1.0)])
def test_model_from_python(gramian, as_json, folder, estimator):
    X = np.random.default_rng(0).standard_normal((20, 2))
    package.save(estimator.fit(X, np.sign(X[:, 0])), "plain.gram")
    facts = as_json("inspect", "plain.gram", "--loo")
    assert facts["ids"] == {"first": 0, "last": 19}
    assert facts["target"]["column"] is None
    assert "columns" not in facts
    assert "20 rows" in gramian("inspect", "plain.gram", "--loo", "--doubtful", "0").stdout


def test_foreign_file(gramian, folder):
    result = gramian("inspect", "train.csv", code=1)
    assert "train.csv is no model file of gramian" in result.stderr
