"""Algorithm 7 by removal against n refits and against the closed form that replaces it."""

import numpy as np
import pytest

from evidence.shared.paper_algorithms import loo_by_removal
from gramian.core.equations import ClassTargets
from gramian.core.gram._spectrum import decompose
from gramian.discriminant._equations import KDA_RMSE
from tests.tolerance import tolerance


def gram(n, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, 3))
    return np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))


def refit_without(K, Y, ridge, i):
    """Value at sample i of the minimum-norm solution of kim2006, eq. (16) on the others."""
    rest = np.arange(len(K)) != i
    G = np.column_stack([np.ones(rest.sum()), K[np.ix_(rest, rest)] + ridge * np.eye(rest.sum())])
    solution = np.linalg.pinv(G) @ Y[rest]
    return K[i, rest] @ solution[1:] + solution[0]


@pytest.mark.parametrize("n", [2, 3, 25])
@pytest.mark.parametrize("ridge", [1e-3, 0.1, 10.0])
def test_equals_refits(n, ridge):
    K, Y = gram(n), np.random.default_rng(1).standard_normal((n, 2))
    expected = np.array([refit_without(K, Y, ridge, i) for i in range(n)])
    atol = tolerance(n, updates=n, cond=n / ridge + 1, power=1)
    np.testing.assert_allclose(loo_by_removal(K, Y, ridge), expected, rtol=0, atol=atol)


def test_equals_closed_form():
    n, ridge = 40, 0.1
    K, y = gram(n), np.sign(np.random.default_rng(1).standard_normal(n))
    closed = KDA_RMSE.loo_path(decompose(K.copy()), y[:, None], np.array([ridge]))[0, :, 0]
    atol = tolerance(n, updates=n, cond=n / ridge, power=1)
    np.testing.assert_allclose(loo_by_removal(K, y, ridge), closed, rtol=0, atol=atol)


@pytest.mark.parametrize("classes", [2, 3])
def test_fisher_targets_by_class_indicators(classes):
    n, ridge = 24, 0.1
    K, labels = gram(n), np.arange(n) % classes
    targets = ClassTargets(labels, classes, "fisher")
    combined = targets.combine_left_out(loo_by_removal(K, np.eye(classes)[labels], ridge))

    def left_out(i):
        rest = np.arange(n) != i
        Y = np.zeros((n, combined.shape[1]))
        for column, c in enumerate([1] if classes == 2 else range(classes)):
            size = np.sum(labels[rest] == c)
            Y[:, column] = np.where(labels == c, (n - 1) / size, -(n - 1) / (n - 1 - size))
        return refit_without(K, Y, ridge, i)

    expected = np.array([left_out(i) for i in range(n)])
    atol = tolerance(n, updates=n, cond=n / ridge, power=1)
    np.testing.assert_allclose(combined, expected, rtol=0, atol=atol)


def test_positive_definite_kernel_needs_no_ridge():
    n = 12
    K, y = gram(n), np.arange(n) % 2 * 2.0 - 1.0
    expected = np.array([refit_without(K, y, 0.0, i) for i in range(n)])
    atol = tolerance(n, updates=n, cond=np.linalg.cond(K), power=1)
    np.testing.assert_allclose(loo_by_removal(K, y, 0.0), expected, rtol=0, atol=atol)


def test_float32_and_inputs_untouched():
    n, ridge = 20, 0.1
    K, y = gram(n).astype(np.float32), np.ones(n, dtype=np.float32)
    y[::3] = -1
    before = K.copy(), y.copy()
    found = loo_by_removal(K, y, ridge)
    assert found.dtype == np.float32
    exact = loo_by_removal(K.astype(float), y.astype(float), ridge)
    atol = tolerance(n, updates=n, cond=n / ridge, power=1, dtype=np.float32)
    np.testing.assert_allclose(found, exact, rtol=0, atol=atol)
    np.testing.assert_array_equal(K, before[0])
    np.testing.assert_array_equal(y, before[1])
