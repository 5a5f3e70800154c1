"""Criteria of forward selection against the dense hat matrix and numerical minimisation."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from gramian.orthogonal._equations import Shrinkage, limit
from tests.tolerance import tolerance

RIDGES = (0.0, 1e-3, 0.7, 40.0)


def orthogonal_problem(free, n=30, m=6, t=2, noise=1.0):
    """Orthogonal columns of different lengths, targets, and their `Shrinkage`."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((n, m)))[0] * np.geomspace(5.0, 0.3, m)
    Y = Q @ rng.standard_normal((m, t)) + noise * rng.standard_normal((n, t))
    s, c = np.square(Q).sum(axis=0), Q.T @ Y
    r0 = np.square(Y - Q @ (c / s[:, None])).sum()
    shrinkage = Shrinkage(s[free:], np.square(c).sum(axis=1)[free:], r0, float(n), t, free)
    return Q, Y, shrinkage


def hat_matrix(Q, ridge, free):
    penalty = ridge * np.diag(np.arange(Q.shape[1]) >= free)
    return Q @ np.linalg.solve(Q.T @ Q + penalty, Q.T)


@pytest.mark.parametrize("free", [0, 1])
@pytest.mark.parametrize("ridge", RIDGES)
def test_criteria_equal_those_of_the_hat_matrix(ridge, free):
    Q, Y, shrinkage = orthogonal_problem(free)
    n, H = len(Y), hat_matrix(Q, ridge, free)
    rss, df = np.square(Y - H @ Y).sum(), np.trace(H)
    rtol = tolerance(n, cond=400.0, power=1)
    np.testing.assert_allclose(shrinkage.rss(ridge), rss, rtol=rtol)
    np.testing.assert_allclose(shrinkage.df(ridge), df, rtol=rtol)
    np.testing.assert_allclose(shrinkage.gcv(ridge), n * rss / (n - df) ** 2, rtol=rtol)
    bic = n * np.log(rss / (2 * n)) + df * np.log(n)
    np.testing.assert_allclose(shrinkage.bic(ridge), bic, rtol=rtol)


@pytest.mark.parametrize("free", [0, 1])
@pytest.mark.parametrize("noise", [0.03, 1.0, 3.0])
def test_reestimation_finds_the_minimum_of_gcv(noise, free):
    Q, Y, shrinkage = orthogonal_problem(free, noise=noise)

    def gcv(log_ridge):
        H = hat_matrix(Q, np.exp(log_ridge), free)
        return np.square(Y - H @ Y).sum() / np.trace(np.eye(len(Y)) - H) ** 2

    found = minimize_scalar(gcv, bounds=(-15, 8), method="bounded", options={"xatol": 1e-10})
    ridge = shrinkage.minimize_gcv()
    # A minimum is known to √eps of its place, by evaluations of the function.
    np.testing.assert_allclose(ridge, np.exp(found.x), rtol=1e-5)
    np.testing.assert_allclose(shrinkage.reestimate(ridge), ridge, rtol=1e-5)


def test_one_reestimation_goes_downhill_from_either_side():
    _, _, shrinkage = orthogonal_problem(free=0)
    least = shrinkage.minimize_gcv()
    for ridge in (least / 50, least * 50):
        assert shrinkage.gcv(shrinkage.reestimate(ridge)) < shrinkage.gcv(ridge)


def test_ridge_has_a_ceiling_where_no_column_explains_anything():
    shrinkage = Shrinkage(np.array([2.0, 3.0]), np.zeros(2), 1.0, 10.0)
    assert shrinkage.minimize_gcv() == 1e4 * 3.0
    assert shrinkage.df(3e4) < 1e-3


def test_ridge_is_zero_where_the_columns_fit_exactly():
    shrinkage = Shrinkage(np.array([2.0, 3.0]), np.array([1.0, 1.0]), 0.0, 10.0)
    assert shrinkage.minimize_gcv() == pytest.approx(0.0, abs=1e-12)
    assert shrinkage.bic(0.0) == -np.inf


def test_ridge_is_zero_where_there_is_nothing_to_shrink():
    shrinkage = Shrinkage(np.empty(0), np.empty(0), 1.0, 10.0, free=1)
    assert shrinkage.minimize_gcv() == 0.0
    assert shrinkage.gcv(0.25) == pytest.approx(10.0 / 81.0)


def test_gcv_is_infinite_without_degrees_of_freedom_left():
    shrinkage = Shrinkage(np.arange(1.0, 6.0), np.ones(5), 0.0, 5.0)
    assert shrinkage.gcv(0.0) == np.inf


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [((1.0, 10.0, 10.0**1.5), 100.0), ((0.0, 1.0, 2.0), 2.0), ((1.0, 2.0, 8.0), 8.0)],
    ids=["settles", "no logarithm", "does not settle"],
)
def test_where_three_numbers_lead(numbers, expected):
    assert limit(*numbers) == pytest.approx(expected)
