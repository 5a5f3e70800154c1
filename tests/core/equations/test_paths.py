"""Leave-one-out along a path, against n real refits that solve each estimator's own problem."""

import numpy as np
import pytest

from gramian.core.equations import ClassTargets, Responses
from gramian.core.gram._spectrum import decompose
from tests.core.equations.conftest import EQUATIONS
from tests.tolerance import tolerance


def gram(X, Z):
    return np.exp(-0.3 * ((X[:, None] - Z[None]) ** 2).sum(axis=2))


def coefficients(name, K, y, ridge):
    """``(intercept, z)`` by the defining system of each estimator, row i of K being sample i."""
    n, m = K.shape
    if name == "ridge":
        return 0.0, np.linalg.solve(K + ridge * np.eye(n), y)
    if name == "ls-svm":  # duan2008, eq. (6)
        border = np.block([[np.zeros((1, 1)), np.ones((1, n))], [np.ones((n, 1)), K]])
        border[1:, 1:] += ridge * np.eye(n)
        solution = np.linalg.solve(border, np.concatenate([[0.0], y]))
    elif name == "kda":  # kim2006: the least-norm solution of an underdetermined system
        G = np.hstack([np.ones((n, 1)), K + ridge * np.eye(n)])
        solution = np.linalg.lstsq(G, y, rcond=None)[0]
    else:  # saadi2004, eq. (4) or (5)
        Z = np.hstack([np.ones((n, 1)), K])
        R = ridge * np.eye(m + 1)
        R[0, 0] *= name == "kfd-penalized"
        solution = np.linalg.solve(Z.T @ Z + R, Z.T @ y)
    return solution[0], solution[1:]


def refit_without(name, K, Y, ridge, i):
    """Decision values at sample i of the model trained on the rest."""
    keep = np.arange(len(K)) != i
    columns = slice(None) if name.startswith("kfd") else keep  # saadi2004, §2.3: columns stay
    values = [
        (lambda b, z: b + K[i, columns] @ z)(*coefficients(name, K[keep][:, columns], y, ridge))
        for y in Y[keep].T
    ]
    return np.array(values)


def class_targets(labels, n_classes, kind):
    """Targets of the samples given, each class against the rest."""
    columns = [1] if n_classes == 2 else range(n_classes)
    counts = np.bincount(labels, minlength=n_classes)
    n, Y = len(labels), np.zeros((len(labels), len(columns)))
    for position, j in enumerate(columns):
        mine = labels == j
        if kind == "signs":
            Y[:, position] = np.where(mine, 1.0, -1.0)
        else:
            Y[mine, position] = n / max(counts[j], 1)
            Y[~mine, position] = -n / max(n - counts[j], 1)
    return Y


@pytest.mark.parametrize("name", EQUATIONS)
@pytest.mark.parametrize("n", [2, 3, 25])
def test_regression_path_equals_refits(name, n):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((n, 2)), rng.standard_normal((n, 2))
    K, ridges = gram(X, X), np.array([1e-3, 0.1, 10.0])
    F = EQUATIONS[name].loo_path(decompose(K.copy()), Responses(Y).fitted, ridges)
    assert F.shape == (3, n, 2)
    for f, ridge in zip(F, ridges, strict=True):
        expected = np.array([refit_without(name, K, Y, ridge, i) for i in range(n)])
        np.testing.assert_allclose(f, expected, rtol=0, atol=tolerance(n, cond=1e3, power=2))


@pytest.mark.parametrize("name", EQUATIONS)
@pytest.mark.parametrize("kind", ["signs", "fisher"])
@pytest.mark.parametrize("counts", [(8, 12), (1, 9), (6, 5, 7), (1, 4, 8), (1, 1)])
def test_classification_path_equals_refits(name, kind, counts):
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    n, ridge = len(labels), 0.1
    K = (lambda X: gram(X, X))(rng.standard_normal((n, 2)))
    targets = ClassTargets(labels, len(counts), kind)
    F = targets.decisions(EQUATIONS[name].loo_path(decompose(K.copy()), targets.fitted, [ridge]))[0]

    def left_out_value(i):
        keep = np.arange(n) != i
        Y = np.zeros((n, F.shape[1]))
        Y[keep] = class_targets(labels[keep], len(counts), kind)
        return refit_without(name, K, Y, ridge, i)

    expected = np.array([left_out_value(i) for i in range(n)])
    np.testing.assert_allclose(F, expected, rtol=0, atol=tolerance(n, cond=1e3, power=2))


@pytest.mark.parametrize("name", EQUATIONS)
@pytest.mark.parametrize("kind", ["signs", "fisher"])
def test_integer_weights_equal_repetition(name, kind):
    """Sample i left out with all its copies: train on the repeated rest, predict i."""
    rng = np.random.default_rng(0)
    n, ridge = 9, 0.2
    X, labels = rng.standard_normal((n, 2)), np.array([0, 1, 2] * 3)
    weight = rng.integers(1, 4, n)
    targets = ClassTargets(labels, 3, kind, weight.astype(float))
    spectrum = decompose(gram(X, X), weight.astype(float))
    F = targets.decisions(EQUATIONS[name].loo_path(spectrum, targets.fitted, [ridge]))[0]

    for i in range(n):
        rest = np.repeat(np.delete(np.arange(n), i), np.delete(weight, i))
        columns = np.repeat(np.arange(n), weight) if name.startswith("kfd") else rest
        Y = class_targets(labels[rest], 3, kind)
        for j, y in enumerate(Y.T):
            b, z = coefficients(name, gram(X[rest], X[columns]), y, ridge)
            value = b + gram(X[i : i + 1], X[columns])[0] @ z
            assert abs(F[i, j] - value) < tolerance(len(columns), cond=1e3, power=2)


def test_own_targets():
    labels = np.array([0, 0, 0, 1])
    np.testing.assert_allclose(ClassTargets(labels, 2).own[:, 0], [-1, -1, -1, 1])
    np.testing.assert_allclose(
        ClassTargets(labels, 2, "fisher").own[:, 0], [-4 / 3, -4 / 3, -4 / 3, 4]
    )
    with_empty = ClassTargets(labels, 3, "fisher").own
    np.testing.assert_allclose(with_empty[3], [-4, 4, -1])


def test_taking_samples_counts_them_anew():
    labels = np.array([0, 0, 0, 1])
    taken = ClassTargets(labels, 2, "fisher", np.ones(4)).take(np.array([2, 3]))
    np.testing.assert_allclose(taken.own[:, 0], [-2, 2])
    np.testing.assert_allclose(Responses(np.arange(4.0)[:, None]).take([1]).own, [[1.0]])
