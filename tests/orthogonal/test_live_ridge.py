"""Rows entering and leaving a fixed basis, against solving anew from the rows present."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from gramian.orthogonal._forward import forward_select
from gramian.orthogonal._live_ridge import LiveRidge
from gramian.orthogonal._normal_equations import Axes, basis_features
from gramian.orthogonal._rules import ForwardRules
from tests.orthogonal.sums import chunk_sums
from tests.tolerance import tolerance


def gram(X, Z):
    return np.exp(-((X[:, None] - Z[None]) ** 2).sum(axis=2))


class Data:
    """Rows, and a basis chosen on the first ``chosen_on`` of them."""

    def __init__(self, n=120, chosen_on=80, basis=15, t=2, **rules):
        rng = np.random.default_rng(0)
        self.X = rng.uniform(-2, 2, (n, 2))
        self.Y = np.sin(2 * self.X[:, :1] + np.arange(t)) + 0.3 * rng.standard_normal((n, t))
        self.weight = rng.uniform(0.3, 3.0, n)
        self.seen = np.arange(chosen_on)
        self.found = forward_select(
            lambda samples, kernel: gram(self.X[samples], self.X[self.seen]),
            self.Y[self.seen],
            ForwardRules(max_basis=basis, patience=1000, **rules),
            weight=self.weight[self.seen],
        )
        regression = self.found.regression
        self.U, self.ridge, self.free = regression.basis.U, regression.ridge, regression.free
        self.rows = gram(self.X, self.X[self.found.samples])

    def take(self, index):
        return self.rows[index], self.Y[index], self.weight[index]

    def live(self, index=None):
        if index is None:
            seen = self.seen
            return LiveRidge.from_regression(self.found.regression, self.Y[seen], self.weight[seen])
        sums = chunk_sums(self.U, *self.take(index))
        return LiveRidge(self.U, sums, self.ridge, self.free)

    def normal_matrix(self, index):
        """M in the columns themselves: ``KᵀVK + λ UᵀU``, the bias of U aside if it is free."""
        rows, _, weight = self.take(index)
        K = np.column_stack([np.ones(len(rows)), rows])
        diagonal = self.ridge * (np.arange(K.shape[1]) >= self.free)
        return K, K.T @ (weight[:, None] * K) + self.U.T @ np.diag(diagonal) @ self.U

    def direct(self, index):
        """Weights by one solve from the rows in ``index``."""
        K, M = self.normal_matrix(index)
        _, Y, weight = self.take(index)
        return np.linalg.solve(M, K.T @ (weight[:, None] * Y))

    def assert_direct(self, live, index, edits=0):
        _, M = self.normal_matrix(index)
        rtol = tolerance(len(M), updates=edits, cond=np.linalg.cond(M), power=1)
        expected = self.direct(index)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(live.weights / scale, expected / scale, atol=rtol)
        assert live.sums.rows == len(index)


def criteria(live):
    """RSS, df and GCV for any λ, from the sums of a live regression."""
    return Axes.of(live.sums, live.free).shrinkage


@pytest.mark.parametrize("penalize_bias", [True, False])
def test_begins_as_the_selection_ended(penalize_bias):
    data = Data(penalize_bias=penalize_bias)
    live, seen = data.live(), data.seen
    data.assert_direct(live, seen)
    rtol = tolerance(80, cond=data.found.path.condition[-1], power=1)
    np.testing.assert_allclose(live.weights, data.found.weights, rtol=rtol)
    rows, Y, weight = data.take(seen)
    hat = live._leverages(basis_features(live.U, rows), weight)
    np.testing.assert_allclose(hat, data.found.regression.hat, rtol=rtol)
    loo = live.loo_residuals(rows, Y, weight)
    expected = data.found.regression.loo().T / np.sqrt(weight)[:, None]
    np.testing.assert_allclose(loo, expected, rtol=rtol, atol=rtol)
    best = data.found.path.best("loo")
    gcv = criteria(live).gcv(live.ridge)
    np.testing.assert_allclose(gcv, data.found.path.gcv[best], rtol=rtol)
    np.testing.assert_allclose(live.minimize_gcv(), data.ridge, rtol=1e-4)  # how far it settles


def test_features_of_the_rows_give_the_sums_of_the_selection():
    data = Data()
    summed = chunk_sums(data.U, *data.take(data.seen))
    condition = data.found.path.condition[-1]
    assert data.live().sums.distance(summed) < tolerance(80, cond=condition, power=1)


@pytest.mark.parametrize("size", [1, 5, 40])
@pytest.mark.parametrize("penalize_bias", [True, False])
def test_rows_enter_and_leave_as_if_solved_anew(size, penalize_bias):
    data = Data(penalize_bias=penalize_bias)
    live, present = data.live(), list(data.seen)
    for start in (80, 0):
        for first in range(start, start + 40, size):
            block = np.arange(first, first + size)
            if start:
                live.append(*data.take(block))
                present += list(block)
            else:
                live.remove(*data.take(block))
                present = [i for i in present if i not in block]
    data.assert_direct(live, np.array(present), edits=80)


@given(st.lists(st.integers(0, 119), min_size=1, max_size=60))
def test_any_script_of_edits_equals_a_fresh_solve(script):
    data = DATA
    live, present = data.live(), set(data.seen.tolist())
    for i in script:
        if i in present:
            live.remove(*data.take([i]))
        else:
            live.append(*data.take([i]))
        present ^= {i}
    data.assert_direct(live, np.array(sorted(present)), edits=len(script))


DATA = Data()


@pytest.mark.slow
def test_thousands_of_edits_leave_rounding_error_only():
    data = Data()
    live = data.live()
    before = live.normal.rebuilds
    rng = np.random.default_rng(1)
    for i in rng.integers(80, 120, 3000):
        live.append(*data.take([i]))
        live.remove(*data.take([i]))
    assert live.normal.rebuilds == before
    data.assert_direct(live, data.seen, edits=6000)
    summed = chunk_sums(data.U, *data.take(data.seen))
    assert live.sums.distance(summed) < tolerance(80, updates=6000)
    assert live.drift() < tolerance(80, updates=6000)


def test_all_rows_may_leave_and_return():
    data = Data()
    live = data.live()
    for i in data.seen:
        live.remove(*data.take([i]))
    assert live.sums.rows == 0
    longest = data.found.regression.basis.squares.max()
    atol = tolerance(80, updates=80, cond=longest / data.ridge, power=1)
    np.testing.assert_allclose(live.orthogonal_weights, 0.0, atol=atol)
    for i in data.seen[::-1]:
        live.append(*data.take([i]))
    data.assert_direct(live, data.seen, edits=160)


def test_leave_one_out_is_what_removing_the_row_gives():
    data = Data()
    rows, Y, weight = data.take(data.seen)
    live = data.live()
    loo = live.loo_residuals(rows, Y, weight)
    for i in data.seen[::7]:
        rest = np.delete(data.seen, i)
        w = data.direct(rest)
        _, M = data.normal_matrix(rest)
        expected = Y[i] - np.append(1.0, rows[i]) @ w
        rtol = tolerance(80, cond=np.linalg.cond(M), power=1)
        np.testing.assert_allclose(loo[i], expected, rtol=rtol)


def test_row_with_leverage_one_leaves_and_has_no_leave_one_out_value():
    U, rows, targets = np.eye(2), np.array([[0.0], [0.0], [1.0]]), np.array([[1.0], [2.0], [5.0]])
    live = LiveRidge(U, chunk_sums(U, rows, targets), ridge=0.0)
    assert np.isinf(live.loo_residuals(rows, targets)[2])
    with pytest.raises(np.linalg.LinAlgError, match="do not determine the weight of column 1 of 2"):
        live.remove(rows[2:], targets[2:])
    assert live.sums.rows == 3
    np.testing.assert_allclose(live.weights, [[1.5], [3.5]], rtol=tolerance(3))
    live = LiveRidge(U, live.sums, ridge=1e-6)
    before = live.normal.rebuilds
    live.remove(rows[2:], targets[2:])
    assert live.normal.rebuilds == before + 1
    expected = [[3.0 / (2 + 1e-6)], [0.0]]
    np.testing.assert_allclose(live.weights, expected, atol=tolerance(3))


@pytest.mark.parametrize("penalize_bias", [True, False])
def test_criteria_equal_those_of_the_hat_matrix(penalize_bias):
    data = Data(penalize_bias=penalize_bias)
    index = np.arange(40, 120)
    live = data.live(index)
    _, Y, weight = data.take(index)
    N = weight.sum()

    def by_hat_matrix(ridge):
        data.ridge = ridge
        K, M = data.normal_matrix(index)
        H = K @ np.linalg.solve(M, K.T * weight)
        rss = np.einsum("i,ik->", weight, np.square(Y - H @ Y))
        return np.trace(H), rss, N * rss / (N - np.trace(H)) ** 2

    rtol = tolerance(80, cond=np.linalg.cond(data.normal_matrix(index)[1]), power=1)
    df, rss, gcv = by_hat_matrix(live.ridge)
    shrinkage = criteria(live)
    np.testing.assert_allclose(shrinkage.df(live.ridge), df, rtol=rtol)
    np.testing.assert_allclose(shrinkage.rss(live.ridge), rss, rtol=rtol)
    np.testing.assert_allclose(shrinkage.gcv(live.ridge), gcv, rtol=rtol)
    best = live.minimize_gcv()
    found = minimize_scalar(
        lambda log: by_hat_matrix(np.exp(log))[2], bounds=(-15, 8), method="bounded"
    )
    np.testing.assert_allclose(best, np.exp(found.x), rtol=1e-3)  # GCV is flat there


def test_gcv_is_infinite_with_as_many_columns_as_rows():
    U, rows, targets = np.eye(2), np.array([[0.0], [1.0]]), np.array([[1.0], [2.0]])
    shrinkage = criteria(LiveRidge(U, chunk_sums(U, rows, targets), ridge=0.1))
    assert np.isfinite(shrinkage.gcv(0.1))
    assert shrinkage.gcv(0.0) == np.inf


def test_outputs_enter_and_leave():
    data = Data()
    live = data.live()
    live.append_output(-1.0)
    rows, Y, weight = data.take([90])
    live.append(rows, np.append(Y, [[1.0]], axis=1), weight)
    live.remove_output(0)
    index = np.append(data.seen, 90)
    third = np.where(index == 90, 1.0, -1.0)
    K, M = data.normal_matrix(index)
    targets = np.column_stack([data.Y[index, 1], third])
    expected = np.linalg.solve(M, K.T @ (data.weight[index, None] * targets))
    rtol = tolerance(81, cond=np.linalg.cond(M), power=1)
    np.testing.assert_allclose(live.weights, expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("centre", [0, 7, -1])
@pytest.mark.parametrize("penalize_bias", [True, False])
def test_a_centre_leaves_and_rows_go_on_entering(centre, penalize_bias):
    data = Data(penalize_bias=penalize_bias)
    live = data.live()
    centre %= len(data.found.samples)
    live.remove_centre(centre)
    rows, Y, weight = data.take(np.arange(80, 85))
    live.append(np.delete(rows, centre, axis=1), Y, weight)
    index = np.arange(85)
    K, M = data.normal_matrix(index)
    K = np.delete(K, centre + 1, axis=1)
    M = np.delete(np.delete(M, centre + 1, axis=0), centre + 1, axis=1)
    _, Y, weight = data.take(index)
    expected = np.linalg.solve(M, K.T @ (weight[:, None] * Y))
    rtol = tolerance(85, cond=np.linalg.cond(M), power=1)
    np.testing.assert_allclose(live.weights, expected, rtol=rtol, atol=rtol)
    live.append_output(1.0)
    ones = np.linalg.solve(M, K.T @ weight)
    np.testing.assert_allclose(live.weights[:, -1], ones, rtol=rtol, atol=rtol)


def test_a_spoilt_inverse_is_noticed_and_rebuilt():
    data = Data()
    live = data.live()
    before = live.normal.rebuilds
    live.normal._N *= 1.1
    live.normal._B = None
    data.assert_direct(live, data.seen)
    assert live.normal.rebuilds == before + 1
    assert live.drift() < tolerance(80)


def test_bad_shapes_leave_everything_as_it_was():
    data = Data()
    live = data.live()
    with pytest.raises(ValueError, match=r"targets must be of shape \(1, 2\), got \(1, 3\)"):
        live.append(data.rows[:1], np.ones((1, 3)))
    with pytest.raises(ValueError, match="could not broadcast"):
        live.append(data.rows[:1, :-1], data.Y[:1])
    data.assert_direct(live, data.seen)


def test_float32_rows_are_summed_in_float64():
    data = Data()
    rows, Y, weight = (array.astype(np.float32) for array in data.take(data.seen))
    live = LiveRidge(data.U, chunk_sums(data.U, rows, Y, weight), data.ridge)
    assert live.weights.dtype == float
    np.testing.assert_allclose(
        rows @ live.weights[1:] + live.weights[0],
        data.rows[data.seen] @ data.found.weights[1:] + data.found.weights[0],
        atol=tolerance(80, dtype=np.float32),
    )


def test_wear_outlasts_the_centre_that_wore_the_sums():
    data = Data()
    live = data.live()
    far = np.full((1, data.rows.shape[1]), 1e6)
    live.append(far, data.Y[:1])
    assert not live.worn()  # while it is there, it is most of what is held
    live.remove(far, data.Y[:1])
    live.remove_centre(3)
    assert live.worn()
    assert live.copy().worn()
    assert not LiveRidge(live.U, live.sums, 2.0).worn()
