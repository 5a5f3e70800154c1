"""The samples of a window and their time stamps."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from scipy import sparse

from gramian.stream._holdings import Held, check_age, check_times


def make_held(n, start=0):
    ids = np.arange(start, start + n)
    return Held(np.outer(ids, [1.0, 2.0]), ids % 2, ids, 10 * ids)


def test_join_and_take_keep_the_samples_together():
    held = make_held(3).join(make_held(2, start=3)).take(np.array([0, 2, 4]))
    assert len(held) == 3
    np.testing.assert_array_equal(held.ids, [0, 2, 4])
    np.testing.assert_array_equal(held.times, [0, 20, 40])
    np.testing.assert_array_equal(held.X[:, 1], [0, 4, 8])
    np.testing.assert_array_equal(held.y, [0, 0, 0])


def test_sparse_samples_stay_sparse():
    held = replace(make_held(3), X=sparse.csr_matrix(make_held(3).X))
    added = held.join(held).take(np.array([1, 4]))
    assert sparse.issparse(added.X)
    np.testing.assert_array_equal(added.X.toarray(), [[1, 2], [1, 2]])


@pytest.mark.parametrize("age", [1, 2.5, timedelta(hours=1), np.timedelta64(3, "m")])
def test_ages(age):
    assert check_age(age) == age


@pytest.mark.parametrize("age", [0, -1.0, "1h", timedelta(0), np.nan, [1, 2], True])
def test_bad_ages(age):
    with pytest.raises(ValueError, match="max_age must be a number or timedelta > 0"):
        check_age(age)


def test_one_time_stands_for_all():
    np.testing.assert_array_equal(check_times(5, 3, 1.0), [5, 5, 5])
    noon = datetime(2024, 1, 1, 12)
    times = check_times([noon, noon + timedelta(hours=1)], 2, np.timedelta64(1, "h"))
    assert times[1] - times[0] == np.timedelta64(1, "h")


@pytest.mark.parametrize(
    ("times", "age", "match"),
    [
        ([1, 2, 3], 1.0, "one per sample"),
        ([1, np.nan], 1.0, "must be finite"),
        (["a", "b"], 1.0, "must be finite numbers"),
        ([1, 2], np.timedelta64(1, "h"), "datetimes where max_age is a timedelta"),
        (np.array(["2024-01-01", "NaT"], "M8[D]"), np.timedelta64(1, "h"), "must be finite"),
        (np.array(["2024-01-01"] * 2, "M8[D]"), 1.0, "datetimes where max_age is a timedelta"),
    ],
)
def test_bad_times(times, age, match):
    with pytest.raises(ValueError, match=match):
        check_times(times, 2, age)
