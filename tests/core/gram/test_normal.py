"""Sums over samples: every edit against a direct solve with the samples that should be held."""

import numpy as np
import pytest

from gramian.core.gram._normal import CompensatedSum, LiveNormal
from tests.tolerance import tolerance

PENALTY = np.array([0.5, 0.5, 0.5, 0.0])


def samples(n, *, t=2, seed=0, scale=1.0):
    """Three features and a constant, targets and weights."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([scale * rng.standard_normal((n, 3)), np.ones(n)])
    return X, rng.standard_normal((n, t)), rng.uniform(0.5, 2.0, n)


def solved(X, Y, weight, penalty=PENALTY):
    """B as a least-squares problem with the penalty as further rows: no normal equations."""
    root = np.sqrt(weight)[:, None]
    rows = np.vstack([root * X, np.diag(np.sqrt(penalty))])
    targets = np.vstack([root * Y, np.zeros((len(penalty), Y.shape[1]))])
    return np.linalg.lstsq(rows, targets, rcond=None)[0]


def assert_solves(normal, X, Y, weight, updates=0):
    n = len(X)
    atol = tolerance(n, updates=updates, cond=10.0, power=1)  # cond(M) of these samples
    np.testing.assert_allclose(normal.solution(), solved(X, Y, weight), rtol=0, atol=atol)


def edited(n, *, t=2):
    X, Y, weight = samples(n, t=t)
    normal = LiveNormal(PENALTY, t)
    normal.append(X, Y, weight)
    return normal, X, Y, weight


def test_compensated_sum_keeps_what_rounding_takes():
    total = CompensatedSum((1, 1))
    for term in (1.0, 1e17, 1.0, -1e17):
        total.add(np.array([[term]]))
    assert total.value[0, 0] == 2.0


@pytest.mark.parametrize("n", [1, 2, 40])
def test_solution_of_all_samples(n):
    assert_solves(*edited(n))


@pytest.mark.parametrize("k", [1, 2, 9])
def test_append_and_remove_equal_a_direct_solve(k):
    normal, X, Y, weight = edited(30)
    normal.solution()  # an inverse to follow
    new = [part[:k] for part in samples(30, seed=1)]
    normal.append(*new)
    X, Y, weight = (np.concatenate(pair) for pair in zip((X, Y, weight), new, strict=True))
    assert_solves(normal, X, Y, weight, k)
    normal.remove(X[:k], Y[:k], weight[:k])
    assert_solves(normal, X[k:], Y[k:], weight[k:], 2 * k)


def test_single_edits_do_not_rebuild_the_inverse(monkeypatch):
    normal, X, Y, weight = edited(30)
    normal.solution()
    monkeypatch.setattr("gramian.core.gram._normal._invert", None)
    normal.remove(X[:1], Y[:1], weight[:1])
    assert_solves(normal, X[1:], Y[1:], weight[1:], 1)


def test_thousands_of_edits_leave_no_trace():
    X, Y, weight = samples(400)
    normal = LiveNormal(PENALTY, 2)
    normal.append(X[:100], Y[:100], weight[:100])
    for i in range(3000):
        old, new = [i % 400], [(i + 100) % 400]
        normal.remove(X[old], Y[old], weight[old])
        normal.append(X[new], Y[new], weight[new])
    holdings = np.arange(3000, 3100) % 400
    assert_solves(
        normal, X[holdings], Y[holdings], weight[holdings]
    )  # no allowance for the 6,000 updates


def test_a_drifted_inverse_is_rebuilt():
    normal, X, Y, weight = edited(30)
    normal.solution()
    normal._N *= 1.01
    normal._B = None  # solve again, with that inverse
    assert_solves(normal, X, Y, weight)


def test_a_sample_that_holds_everything_leaves():
    normal, X, Y, weight = edited(3)
    normal.solution()
    normal.remove(X[1:], Y[1:], weight[1:])
    assert_solves(normal, X[:1], Y[:1], weight[:1], 2)


def test_new_and_selected_columns():
    normal, X, Y, weight = edited(20, t=1)
    more, more_Y, more_weight = samples(10, t=3, seed=1)
    normal.append(more, more_Y, more_weight)
    X, weight = np.vstack([X, more]), np.append(weight, more_weight)
    Y = np.vstack([np.pad(Y, ((0, 0), (0, 2))), more_Y])
    assert_solves(normal, X, Y, weight, 10)
    normal.select_columns(np.array([2, 0]))
    assert_solves(normal, X, Y[:, [2, 0]], weight, 10)


@pytest.mark.parametrize("large", ["sample", "target"])
def test_sums_are_worn_by_an_outlier_that_has_left(large):
    normal, X, Y, weight = edited(30)
    outlier, target = X[:1].copy(), Y[:1].copy()
    (outlier if large == "sample" else target)[0, 0] = 1e6
    normal.append(outlier, target, weight[:1])
    assert not normal.worn()  # while it is there, it is most of what is held
    normal.remove(outlier, target, weight[:1])
    assert normal.worn()


def test_sums_are_not_worn_by_a_window_that_moves_once():
    normal, X, Y, weight = edited(30)
    normal.append(*samples(30, seed=1))
    normal.remove(X, Y, weight)
    assert not normal.worn()


def test_units_of_the_features_do_not_matter():
    X, Y, weight = samples(40)
    units = np.array([1e-7, 1.0, 1e7, 1.0])
    normal = LiveNormal(PENALTY * units**2, 2)
    normal.append(X * units, Y, weight)
    normal.remove(X[:1] * units, Y[:1], weight[:1])
    expected = solved(X[1:], Y[1:], weight[1:]) / units[:, None]
    rtol = tolerance(40, cond=10.0, power=1)
    np.testing.assert_allclose(normal.solution(), expected, rtol=rtol)


def test_singular_sums_say_what_to_do():
    normal = LiveNormal(np.full(2, 1e-30), 1)
    normal.append(np.ones((3, 2)), np.ones((3, 1)), np.ones(3))
    with pytest.raises(np.linalg.LinAlgError, match="lower `C`, or drop or scale features"):
        normal.solution()


def test_samples_that_are_too_large_are_refused():
    normal = LiveNormal(np.ones(2), 1)
    with pytest.raises(ValueError, match=r"squares are not finite in float64\. Scale"):
        normal.append(np.full((1, 2), 1e200), np.ones((1, 1)), np.ones(1))


def test_rounding_is_beyond_measure_where_there_is_no_inverse():
    X, Y, weight = samples(10)
    normal = LiveNormal(np.zeros(4), 2)
    normal.append(X, Y, weight)
    N = np.linalg.inv(X.T @ (weight[:, None] * X))
    size = (weight @ np.square(X) * N.diagonal()).max()
    assert normal.rounding() == pytest.approx(np.finfo(float).eps * size)
    normal.remove(X[:8], Y[:8], weight[:8])  # two samples do not determine four numbers
    assert normal.rounding() == np.inf
    assert normal.worn()
