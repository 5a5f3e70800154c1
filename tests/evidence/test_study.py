"""What the benchmarks over partitions keep between runs; what they measure is not tested."""

import json

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from benchmarks import _partitions as partitions
from benchmarks.calibration import calibration_error


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study of the iris that counts how often a model is judged."""
    monkeypatch.setattr(partitions, "CACHE", tmp_path)
    judged = []

    def judge(model, X, y):
        judged.append(model)
        return {"error": float(np.mean(model.predict(X) != y))}

    methods = {"dummy": DummyClassifier(), "constant": DummyClassifier(strategy="prior")}
    return partitions.Study("toy", methods, judge), judged


def test_a_measured_partition_is_not_measured_again(study, tmp_path):
    study, judged = study
    first = study.measure("iris", 1)
    assert study.measure("iris", 1) == first
    assert len(judged) == 2
    assert first["dummy"].keys() == {"version", "seconds", "error"}
    assert json.loads((tmp_path / "toy" / "iris-01.json").read_text()) == first


def test_only_a_changed_method_is_measured_again(study):
    study, judged = study
    first = study.measure("iris", 1)
    study.methods["dummy"].set_params(strategy="stratified", random_state=0)
    again = study.measure("iris", 1)
    assert len(judged) == 3
    assert again["constant"] == first["constant"]
    assert again["dummy"]["version"] != first["dummy"]["version"]


def test_partitions_have_the_stated_size():
    X, y, train, test = partitions.partition("digits", 2)
    assert (len(train), len(test)) == (500, 1297)
    assert (X.min(), X.max(), len(np.unique(y))) == (0.0, 1.0, 10)


def test_calibration_error_by_hand():
    confidence = np.array([0.9, 0.9, 0.9, 0.9, 0.51, 0.51])
    right = np.array([True, True, True, False, True, False])
    expected = (4 * abs(0.75 - 0.9) + 2 * abs(0.5 - 0.51)) / 6
    np.testing.assert_allclose(calibration_error(confidence, right), expected)
