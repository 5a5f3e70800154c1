"""Novelty in units of the classes' median left-out distances."""

import numpy as np
import pytest

from gramian.ellipsoidal._novelty import novelties, novelty_units, weighted_quantile


@pytest.mark.parametrize("q", [0.05, 0.25, 0.5, 0.9, 0.95, 1.0])
@pytest.mark.parametrize("n", [1, 2, 20, 101])
def test_quantile_is_numpys_of_repeated_values(n, q):
    rng = np.random.default_rng(n)
    values, weight = rng.normal(size=n), rng.integers(1, 5, size=n)
    expected = np.quantile(np.repeat(values, weight), q, method="inverted_cdf")
    assert weighted_quantile(values, weight.astype(float), q) == expected
    assert weighted_quantile(values, np.ones(n), q) == np.quantile(values, q, method="inverted_cdf")


def test_units_are_medians_of_the_classes():
    own = np.array([1.0, 2.0, 9.0, 5.0, 7.0, 6.0])
    labels = np.array([0, 0, 0, 2, 2, 2])
    units = novelty_units(own, labels, 3, np.ones(6))
    np.testing.assert_array_equal(units, [2.0, 5.0, 6.0])  # class 1, empty, takes that of all
    doubled = novelty_units(own, labels, 3, np.array([9.0, 1.0, 1.0, 1.0, 1.0, 1.0]))
    assert doubled[0] == 1.0


def test_a_class_of_one_sample_takes_the_median_of_all():
    own = np.array([np.inf, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(
        novelty_units(own, np.array([0, 1, 1, 1]), 2, np.ones(4)), [3.0, 3.0]
    )
    alone = novelty_units(np.array([np.inf, np.inf]), np.array([0, 1]), 2, np.ones(2))
    np.testing.assert_array_equal(alone, [1.0, 1.0])


def test_copies_have_no_distance_and_nothing_else_is_like_them():
    units = novelty_units(np.zeros(3), np.zeros(3, dtype=int), 1, np.ones(3))
    np.testing.assert_array_equal(novelties(np.array([[0.0], [1.0]]), units) > 1, [False, True])


def test_the_nearest_class_counts():
    distances = np.array([[4.0, 30.0], [40.0, 5.0], [np.inf, 7.0]])
    np.testing.assert_array_equal(novelties(distances, np.array([2.0, 10.0])), [2.0, 0.5, 0.7])
