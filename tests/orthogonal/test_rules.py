"""How λ follows the columns, against real refits without each row, and when to stop."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from gramian.orthogonal._equations import OrthogonalRegression
from gramian.orthogonal._rules import (
    LeaveOneOutRidge,
    Path,
    minimize_press,
    ridge_rule,
    settled,
    stalled,
    vertex,
)
from tests.tolerance import tolerance


def regression_of(n=30, m=6, t=2, free=0, noise=1.0):
    """A regression on m columns of different lengths."""
    rng = np.random.default_rng(0)
    K = rng.standard_normal((n, m)) * np.geomspace(3.0, 0.3, m)
    Y = K @ rng.standard_normal((m, t)) + noise * rng.standard_normal((n, t))
    regression = OrthogonalRegression(Y, total=float(n), free=free)
    for column in K.T:
        enter(regression, column)
    return regression, Y


def enter(regression, column):
    z = column.copy()[None]
    regression.append(z[0], regression.basis.project(z)[0])


def press_by_refits(regression, Y, ridge):
    Q, n = regression.basis.Q.T, len(Y)
    penalty = ridge * np.diag(np.arange(Q.shape[1]) >= regression.free)
    error = 0.0
    for i in range(n):
        keep = np.arange(n) != i
        a = np.linalg.solve(Q[keep].T @ Q[keep] + penalty, Q[keep].T @ Y[keep])
        error += np.square(Y[i] - Q[i] @ a).sum()
    return error / n


@pytest.mark.parametrize("free", [0, 1])
def test_press_equals_refits_without_each_row(free):
    regression, Y = regression_of(free=free)
    ridges = np.array([0.0, 0.1, 3.0, 200.0])
    expected = [press_by_refits(regression, Y, ridge) for ridge in ridges]
    rtol = tolerance(30, cond=100.0, power=1)
    np.testing.assert_allclose(regression.press(ridges), expected, rtol=rtol)
    assert regression.ridge == 0.0


@pytest.mark.parametrize("free", [0, 1])
@pytest.mark.parametrize("noise", [0.3, 2.0])
@pytest.mark.parametrize("start", [0.0, 1e-3, 1e6])
def test_minimum_of_the_leave_one_out_error_is_found_from_anywhere(start, noise, free):
    regression, Y = regression_of(free=free, noise=noise)
    found = minimize_scalar(
        lambda log: press_by_refits(regression, Y, np.exp(log)), bounds=(-8, 8), method="bounded"
    )
    ridge = minimize_press(regression, start)
    np.testing.assert_allclose(ridge, np.exp(found.x), rtol=0.25)  # a quarter, as it says
    assert press_by_refits(regression, Y, ridge) < 1.001 * found.fun


def test_leave_one_out_ridge_waits_until_there_are_five_per_cent_more_columns():
    rng = np.random.default_rng(0)
    regression, _ = regression_of(n=200, m=40)
    rule = LeaveOneOutRidge()
    values = [rule(regression)]
    for _ in range(2):
        enter(regression, rng.standard_normal(200))
        values.append(rule(regression))
    assert values[0] == values[1] != values[2]


def test_rules_by_name():
    regression, _ = regression_of()
    assert ridge_rule(0.25)(regression) == 0.25
    assert ridge_rule("gcv")(regression) == regression.shrinkage.minimize_gcv()
    assert ridge_rule("loo")(regression) == minimize_press(regression, 0.0)


def test_nothing_to_shrink_needs_no_ridge():
    regression, _ = regression_of(m=1, free=1)
    assert ridge_rule("loo")(regression) == 0.0


def test_vertex_of_a_parabola():
    x = np.array([-1.0, 0.0, 1.0])
    assert vertex((x - 0.3) ** 2) == pytest.approx(0.3)
    assert vertex(np.ones(3)) == 0.0


def test_stalled_compares_the_last_scores_with_all_before():
    scores = np.array([3.0, 2.0, 1.0, 1.5, 0.99])
    assert not stalled(scores[:4], patience=2, tol=0.0)
    assert not stalled(scores, patience=2, tol=0.0)
    assert stalled(scores, patience=2, tol=0.05)
    assert not stalled(scores, patience=5, tol=0.05)


def test_settled_needs_two_columns():
    assert not settled([1.0, 1.0], tol=1e-3)
    assert settled([5.0, 1.0, 1.0005], tol=1e-3)
    assert not settled([5.0, 1.0, 1.5], tol=1e-3)


def test_path_compares_sizes_on_the_scale_of_a_logarithm():
    path = Path(size=[0, 1, 2], gcv=[2.0, 1.0, 4.0], loo=[3.0, 2.0, 0.0], bic=[5.0, 8.0, 9.0])
    path.total = 2.0
    np.testing.assert_array_equal(path.scores("gcv"), np.log([2.0, 1.0, 4.0]))
    np.testing.assert_array_equal(path.scores("bic"), [2.5, 4.0, 4.5])
    assert [path.best(name) for name in ("gcv", "loo", "bic", "lambda")] == [1, 2, 0, 2]
