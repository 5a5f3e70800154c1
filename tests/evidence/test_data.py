"""Data by partition, and what is said of sets that are not there."""

import numpy as np
import pytest

from evidence._registry import PAGE
from evidence.shared import data as _data
from evidence.shared.homes import how_to_get


@pytest.fixture(autouse=True)
def no_data(tmp_path, monkeypatch):
    """No folder, no network."""

    def unreachable(url):
        raise OSError("no network")

    monkeypatch.delenv("GRAMIAN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("evidence.datasets._load.download", unreachable)


def test_a_split_is_a_partition():
    part = _data.split("wine", 3, n_train=100)
    assert part.X.shape == (100, 13)
    assert part.X_test.shape == (78, 13)
    assert part.facts == {"official": False, "number": None}
    whole = np.vstack([part.X, part.X_test])
    assert whole.sum() == pytest.approx(_data.dataset("wine").X.sum())


def test_a_split_does_not_depend_on_which_came_before():
    later = _data.split("wine", 150, n_train=100)
    assert not np.array_equal(later.X, _data.split("wine", 50, n_train=100).X)
    np.testing.assert_array_equal(later.X, _data.split("wine", 150, n_train=100).X)


def test_error_in_per_cent():
    part = _data.split("wine", 0, n_train=100)

    class Constant:
        def predict(self, X):
            return np.zeros(len(X))

    assert part.error(Constant()) == pytest.approx(100 * np.mean(part.y_test != 0))


def test_missing_sets_have_a_reason_without_a_folder(tmp_path):
    reasons = _data.missing(["wine", "ida_heart", "letter", "ida_heart"])
    assert list(reasons) == ["ida_heart", "letter"]
    assert reasons["ida_heart"] == "the data set ida_heart was not found"
    assert "could not be fetched" in reasons["letter"]
    assert str(tmp_path) not in "".join(reasons.values())


def test_damaged_sets_have_a_reason(tmp_path, monkeypatch):
    (tmp_path / "ida_heart.npz").write_bytes(b"no archive")
    monkeypatch.setenv("GRAMIAN_DATA", str(tmp_path))
    reason = _data.missing(["ida_heart"])["ida_heart"]
    assert reason == "the file of the data set ida_heart does not hold what it should"


def test_partitions_used():
    records = [
        {"data": name, "partition": k, "official": k < n, "number": k + 1 if k < n else None}
        for name, n in (("a", 2), ("b", 2), ("c", 3))
        for k in (0, 1, 1, 2)
    ]
    records += [{"data": "d", "partition": 0, "official": True, "number": None}, {"n": 3}]
    assert _data.partitions_used(records) == [
        "Partitions of a, b: 2 official (1–2), 1 random of the same sizes (seed 0).",
        "Partitions of c: 3 official (1–3).",
        "Partitions of d: 1 official (number unknown).",
    ]


def test_every_data_set_of_the_page_can_be_had_somewhere():
    needed = {case["data"] for e in PAGE for case in e.cases(True) if case.get("data")}
    for name in needed - {"wine", "digits", "iris", "breast_cancer", "diabetes"}:
        where, how = how_to_get([name])
        assert name.removeprefix("ida_") in where
        assert "." in where.split(": ", 1)[1]
        assert "GRAMIAN_DATA" in how
    assert how_to_get(["wine"]) == []
