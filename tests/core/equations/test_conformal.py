"""Counting: p-values, regions and jackknife+ against definitions evaluated point by point."""

import numpy as np
import pytest

from gramian.core.equations import (
    BestOthers,
    accepted,
    added_rows,
    conformal_regions,
    jackknife_plus,
    nonconformity,
    p_values,
    rows_without_each,
)

STEEP = [0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -3.0]


@pytest.mark.parametrize("confidence_level", [0.3, 0.6, 0.8])
@pytest.mark.parametrize("seed", range(5))
def test_a_region_is_where_enough_samples_count(seed, confidence_level):
    """Lines of all slopes: samples that count between two numbers, beyond one, or outside two."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(1, 9)), rng.choice(STEEP, size=(1, 9))
    weight, f = rng.choice([0.5, 1.0, 2.0], size=9), rng.normal(size=1)
    (region,) = conformal_regions(a, b, f, weight, confidence_level)
    assert np.all(region[:, 0] <= region[:, 1])
    assert np.all(region[1:, 0] > region[:-1, 1])
    ends = region[np.isfinite(region)]
    grid = np.concatenate([np.linspace(-20, 20, 401), ends + 1e-9, ends - 1e-9, f])
    for y in grid:
        counted = np.abs(a[0] - b[0] * y) >= abs(y - f[0])
        p = (1.0 + weight @ counted) / (1.0 + weight.sum())
        inside = np.any((region[:, 0] <= y) & (y <= region[:, 1]))
        assert inside == (p > 1 - confidence_level + 1e-9)


def test_regions_may_be_in_pieces_or_points():
    one = np.ones(3)
    (region,) = conformal_regions(
        *np.array([[[3.0, 3.0, 3.0]], [[2.0, 2.0, 2.0]]]), one[:1] * 0, one, 0.5
    )
    np.testing.assert_allclose(region, [[-np.inf, 1.0], [3.0, np.inf]])
    a, b = np.array([[1.0, -1.0, 0.0]]), np.array([[1.0, 1.0, 0.0]])  # (−∞, ½], [−½, ∞), {0}
    (region,) = conformal_regions(a, b, np.zeros(1), one, 0.2)
    np.testing.assert_allclose(region, [[0.0, 0.0]])
    (region,) = conformal_regions(a[:, :1] * np.inf, b[:, :1], np.zeros(1), one[:1], 0.3)
    assert region.tolist() == [[-np.inf, np.inf]] * 1


def test_nonconformity_of_classes():
    F = np.array([[[1.0, 3.0, 2.0], [1.0, 3.0, 2.0], [-np.inf, -np.inf, -np.inf]]])
    assert nonconformity(F, np.array([0, 1, 2])).tolist() == [[2.0, -1.0, 0.0]]
    assert nonconformity(F[..., :1], np.array([0, 1, 0])).tolist() == [[1.0, -1.0, -np.inf]]


def test_rivals_are_the_nonconformity_of_every_label():
    rng = np.random.default_rng(0)
    values, slope = rng.normal(size=(4, 7, 3)), rng.normal(size=(4, 7, 1))
    slope[:, -1], labels = 0.0, rng.integers(0, 3, 6)
    rivals = BestOthers.of(values, slope, labels)
    for label in range(3):
        F = values.copy()
        F[..., label] += slope[..., 0]
        np.testing.assert_allclose(rivals.scores(label), nonconformity(F, np.append(labels, label)))


def test_ties_count_in_full_or_by_a_random_number():
    scores, weight = np.array([[2.0, 1.0, 1.0 + 1e-12, 0.0, 1.0]]), np.ones(4)
    assert p_values(scores, weight)[0] == 4 / 5
    assert p_values(scores, weight, np.array([0.5]))[0] == pytest.approx((1 + 0.5 * 3) / 5)
    assert p_values(np.array([[np.inf, 1.0, np.inf]]), np.ones(2))[0] == 2 / 3
    assert accepted(np.array([0.1, 0.1001]), 0.9).tolist() == [False, True]


def test_rows_that_are_fitted_whatever_they_are():
    """A row with 1 − h = 0 has an infinite left-out residual, and widens every interval."""
    residuals, room = np.array([[0.0], [1.0]]), np.array([0.0, 0.5])
    g, one = np.array([[0.0, 0.5]]), np.ones(1)
    added = added_rows(residuals, room, np.ones(2), g, one, np.zeros((1, 1)), np.ones((2, 1)))
    assert np.isneginf(added.values[0, 0, 0])
    assert np.isfinite(added.values[0, 1:]).all()
    assert np.isfinite(added.slope).all()
    left = rows_without_each(residuals, room, np.ones(2), g, np.zeros((1, 1)))
    assert left[0, :, 0].tolist() == [0.0, -1.0]
    low, high = jackknife_plus(left[..., 0], np.array([np.inf, 2.0]), np.ones(2), 0.5)
    assert (low[0], high[0]) == (-np.inf, np.inf)
    assert jackknife_plus(np.full((1, 2), np.nan), np.ones(2), np.ones(2), 0.5)[0][0] == -np.inf
