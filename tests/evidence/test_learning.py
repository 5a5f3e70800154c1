"""Steps and times that experiments share."""

import gc

import numpy as np
import pytest

from evidence.shared import learning


class Recorder:
    """Keeps what it was called with."""

    def __init__(self):
        self.calls = []

    def fit(self, X, y):
        self.calls.append(X.tolist())

    partial_fit = fit


def test_inserting_one_by_one_is_fitting():
    model = learning.fit_then_insert(Recorder(), np.arange(8), np.zeros(8))
    assert model.calls == [[0, 1, 2, 3, 4, 5], [6], [7]]


def test_largest_difference_is_relative():
    assert learning.largest_difference([1.0, 2.0], np.array([1.0, 4.0])) == 0.5
    assert learning.largest_difference([1.0], np.zeros(1)) == 1.0


def test_each_call_is_prepared_afresh():
    seen, states = [], iter(range(10))
    seconds, result = learning.all_times(seen.append, 3, lambda: (next(states),))
    assert seen == [0, 1, 2]
    assert len(seconds) == 3
    assert min(seconds) >= 0
    assert result is None
    assert gc.isenabled()


def test_the_collector_is_back_after_an_error():
    with pytest.raises(ZeroDivisionError):
        learning.best_time(lambda: 1 / 0)
    assert gc.isenabled()
    with pytest.raises(ValueError, match="repeat must be >= 1, got 0"):
        learning.best_time(lambda: None, repeat=0)


def test_mean_time_with_what_is_left_to_do():
    seen = []
    assert learning.mean_time(seen.append, range(3), lambda: seen.append("end")) >= 0
    assert seen == [0, 1, 2, "end"]
