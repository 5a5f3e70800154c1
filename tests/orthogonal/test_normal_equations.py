"""Sums over rows, against sums written out, in chunks and in any order."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from gramian.orthogonal._normal_equations import Axes, Sums, basis_features
from tests.orthogonal.sums import chunk_sums
from tests.tolerance import tolerance


def problem(n=50, m=6, t=2):
    """An upper triangular U, kernel rows, targets and weights."""
    rng = np.random.default_rng(0)
    U = np.triu(0.3 * rng.standard_normal((m, m)), 1) + np.eye(m)
    rows, targets = rng.standard_normal((n, m - 1)), rng.standard_normal((n, t))
    return U, rows, targets, rng.uniform(0.2, 3.0, n)


def assert_sums_equal(found, expected, updates=0):
    atol = tolerance(expected.rows + 1, updates=updates)
    assert found.distance(expected) < atol
    np.testing.assert_allclose(found.moments, expected.moments, atol=100 * atol)
    np.testing.assert_allclose(found.squares, expected.squares, rtol=atol)
    assert found.total == pytest.approx(expected.total, rel=atol)
    assert found.rows == expected.rows


def test_features_are_the_orthogonal_coordinates_of_bias_and_columns():
    U, rows, _, _ = problem()
    columns = np.column_stack([np.ones(50), rows])
    features = basis_features(U, rows)
    np.testing.assert_allclose(features @ U, columns, atol=tolerance(6))
    np.testing.assert_array_equal(features[:, 0], 1.0)


def test_sums_are_what_they_say():
    U, rows, targets, weight = problem()
    sums = chunk_sums(U, rows, targets, weight)
    psi = np.column_stack([np.ones(50), rows]) @ np.linalg.inv(U)
    G = sum(v * np.outer(x, x) for v, x in zip(weight, psi, strict=True))
    atol = tolerance(50)
    np.testing.assert_allclose(sums.gram, G, atol=100 * atol)
    np.testing.assert_allclose(sums.moments, psi.T @ np.diag(weight) @ targets, atol=100 * atol)
    np.testing.assert_allclose(sums.squares, [weight @ y**2 for y in targets.T], rtol=atol)
    assert sums.total == pytest.approx(weight.sum())
    assert sums.rows == 50


@pytest.mark.parametrize("chunk", [1, 7, 50])
def test_chunks_do_not_matter(chunk):
    U, rows, targets, weight = problem()
    parts = [slice(i, i + chunk) for i in range(0, 50, chunk)]
    found = Sums(np.zeros((6, 6)), np.zeros((6, 2)), np.zeros(2))
    for part in reversed(parts):
        found = chunk_sums(U, rows[part], targets[part], weight[part]) + found
    assert_sums_equal(found, chunk_sums(U, rows, targets, weight), updates=len(parts))


def test_weights_are_repetitions_and_default_to_one():
    U, rows, targets, _ = problem(n=8)
    times = np.array([1, 2, 3, 1, 1, 4, 2, 1])
    again = np.repeat(np.arange(8), times)
    found = chunk_sums(U, rows, targets, times.astype(float))
    expected = replace(chunk_sums(U, rows[again], targets[again]), rows=8)
    assert_sums_equal(found, expected, updates=15)


@pytest.mark.parametrize("free", [0, 1])
def test_spectrum_of_the_sums_gives_the_criteria(free):
    U, rows, targets, weight = problem()
    targets = targets + 2 * rows[:, :2]
    psi, V = basis_features(U, rows), np.diag(weight)

    def gcv(ridge):
        M = psi.T @ V @ psi + ridge * np.diag(np.arange(6) >= free)
        H = psi @ np.linalg.solve(M, psi.T @ V)
        rss = np.einsum("i,ik->", weight, np.square(targets - H @ targets))
        return weight.sum() * rss / (weight.sum() - np.trace(H)) ** 2

    shrinkage = Axes.of(chunk_sums(U, rows, targets, weight), free).shrinkage
    for ridge in (0.0, 0.3, 20.0):
        rtol = tolerance(50, cond=100.0, power=1)
        np.testing.assert_allclose(shrinkage.gcv(ridge), gcv(ridge), rtol=rtol)
    found = minimize_scalar(lambda log: gcv(np.exp(log)), bounds=(-8, 8), method="bounded")
    # how near evaluations of a function bring its minimum
    np.testing.assert_allclose(shrinkage.minimize_gcv(), np.exp(found.x), rtol=1e-4)


def test_directions_without_rows_do_not_count():
    U, rows, targets, _ = problem(n=4)
    shrinkage = Axes.of(chunk_sums(U, rows, targets), free=0).shrinkage
    assert len(shrinkage.squares) == 4
    assert shrinkage.residual == pytest.approx(0.0, abs=tolerance(4, cond=10.0, power=1))
