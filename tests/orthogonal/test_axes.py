"""Ridge regression for many λ from sums, against a direct solve for each."""

import numpy as np
import pytest

from gramian.orthogonal._normal_equations import Axes, best_ridge
from tests.orthogonal.sums import chunk_sums
from tests.tolerance import tolerance

RIDGES = np.array([0.0, 0.1, 3.0, 1e3])


def problem(n=40, m=6, t=2):
    """Features with the bias first, targets and weights."""
    rng = np.random.default_rng(0)
    features = np.column_stack([np.ones(n), rng.standard_normal((n, m - 1)) + 0.5])
    return features, rng.standard_normal((n, t)) + features[:, 1:3], rng.uniform(0.2, 3.0, n)


def axes_of(features, targets, weight, free):
    sums = chunk_sums(np.eye(features.shape[1]), features[:, 1:], targets, weight)
    return Axes.of(sums, free)


def solve(features, targets, weight, ridge, free):
    penalty = ridge * np.diag(np.arange(features.shape[1]) >= free)
    roots = np.sqrt(weight)[:, None]
    M = (features * roots).T @ (features * roots) + penalty
    return np.linalg.solve(M, features.T @ (weight[:, None] * targets))


@pytest.mark.parametrize("free", [0, 1, 2])
def test_outputs_are_those_of_direct_solves(free):
    features, targets, weight = problem()
    found = axes_of(features, targets, weight, free).outputs(features[:7], RIDGES)
    for values, ridge in zip(found, RIDGES, strict=True):
        expected = features[:7] @ solve(features, targets, weight, ridge, free)
        np.testing.assert_allclose(values, expected, atol=tolerance(40, cond=100.0, power=1))


@pytest.mark.parametrize("free", [0, 1])
def test_press_is_that_of_solves_without_each_row(free):
    features, targets, weight = problem()
    found = axes_of(features, targets, weight, free).press(features, targets, weight, RIDGES)
    for error, ridge in zip(found, RIDGES, strict=True):
        expected = 0.0
        for i in range(len(weight)):
            rest = np.arange(len(weight)) != i
            a = solve(features[rest], targets[rest], weight[rest], ridge, free)
            expected += weight[i] * np.square(targets[i] - features[i] @ a).sum()
        assert error == pytest.approx(expected, rel=tolerance(40, cond=1e3, power=1))


def test_press_adds_up_over_blocks():
    features, targets, weight = problem()
    axes = axes_of(features, targets, weight, 1)
    whole = axes.press(features, targets, weight, RIDGES)
    parts = [
        axes.press(features[b], targets[b], weight[b], RIDGES) for b in (slice(9), slice(9, None))
    ]
    np.testing.assert_allclose(sum(parts), whole, rtol=tolerance(40))


def test_grid_goes_from_next_to_nothing_to_all():
    features, targets, weight = problem()
    axes = axes_of(features, targets, weight, 1)
    first, last = axes.ridges[[0, -1]]
    assert axes.shrinkage.df(first) == pytest.approx(6.0)
    assert axes.shrinkage.df(last) < 2.0
    constant = axes_of(features[:, :1], targets, weight, 1)
    np.testing.assert_array_equal(constant.ridges, [0.0])
    mean = np.average(targets, axis=0, weights=weight)
    np.testing.assert_allclose(constant.outputs(features[:1, :1], constant.ridges)[0, 0], mean)


def test_best_ridge_is_the_largest_that_is_as_good():
    ridges = np.array([1.0, 2.0, 4.0, 8.0])
    assert best_ridge(ridges, np.array([5.0, 4.0, 4.001, 6.0]), tol=1e-2) == 4.0
    assert best_ridge(ridges, np.array([5.0, 4.0, 4.001, 6.0]), tol=0.0) == 2.0
    assert best_ridge(ridges, np.array([np.inf, np.inf, 3.0, np.inf])) == 4.0
