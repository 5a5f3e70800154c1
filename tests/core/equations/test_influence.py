"""The change of decision values when a sample leaves, against n real refits."""

import numpy as np
import pytest

from gramian.core.equations import decision_changes
from gramian.core.gram import Moments
from gramian.fisher._equations import Fisher
from tests.core.equations.conftest import EQUATIONS
from tests.core.equations.test_paths import coefficients, gram
from tests.tolerance import tolerance

FROM_THE_INVERSE = ("ridge", "ls-svm", "kda")  # the others are functions of a resolvent


def changes(equations, K, Y, ridge, weight, at):
    """Δ at samples ``at`` by the closed form, from an inverse computed directly."""
    D = 1.0 / weight
    P = np.linalg.inv(K + ridge * np.diag(D))
    second = P @ np.diag(D) @ P
    ones = np.ones(len(K))
    moments = {
        1: Moments(P @ Y, P @ ones, np.diagonal(P)),
        2: Moments(second @ Y, second @ ones, np.diagonal(second)),
    }
    leaving = equations.removals(Y, moments.get, ridge)
    return decision_changes(leaving, at, P[at], P @ ones, ridge * D)


def decisions(name, K, y, ridge, train):
    """Decision values at all samples of the model trained on ``train``, repeats included."""
    b, z = coefficients(name, K[np.ix_(train, train)], y[train], ridge)
    return b + K[:, train] @ z


@pytest.mark.parametrize("name", FROM_THE_INVERSE)
@pytest.mark.parametrize("n", [2, 3, 20])
@pytest.mark.parametrize("weighted", [False, True])
def test_changes_equal_refits(name, n, weighted):
    rng = np.random.default_rng(0)
    X, Y, ridge = rng.standard_normal((n, 2)), rng.standard_normal((n, 2)), 0.1
    weight = rng.integers(1, 4, n) if weighted else np.ones(n, dtype=int)
    K = gram(X, X)
    delta = changes(EQUATIONS[name], K, Y, ridge, weight.astype(float), np.arange(n))
    assert delta.shape == (n, n, 2)
    everyone = np.repeat(np.arange(n), weight)
    for i in range(n):
        rest = everyone[everyone != i]
        for t, y in enumerate(Y.T):
            expected = decisions(name, K, y, ridge, rest) - decisions(name, K, y, ridge, everyone)
            atol = tolerance(len(everyone), cond=n / ridge, power=1)
            np.testing.assert_allclose(delta[:, i, t], expected, rtol=0, atol=atol)


@pytest.mark.parametrize("name", ["kfd", "kfd-penalized"])
@pytest.mark.parametrize("n", [2, 3, 20])
def test_changes_of_the_fisher_discriminant_equal_refits(name, n):
    """By the resolvent (K + iσI)⁻¹; the sample leaves the centres of the kernel, too."""
    rng = np.random.default_rng(0)
    X, Y, ridge = rng.standard_normal((n, 2)), rng.standard_normal((n, 2)), 0.1
    K, ones = gram(X, X), np.ones(n)
    P = np.linalg.inv(K + 1j * np.sqrt(ridge) * np.eye(n))
    equations = Fisher(name, float(name == "kfd-penalized"))
    moments = Moments(P @ Y, P @ ones, np.diagonal(P))
    leaving = equations.removals(Y, lambda power: moments, ridge)
    delta = decision_changes(leaving, np.arange(n), P, P @ ones, 1j * np.sqrt(ridge) * ones)
    assert delta.dtype == float
    everyone = np.arange(n)
    for i in range(n):
        rest = np.delete(everyone, i)
        for t, y in enumerate(Y.T):
            expected = decisions(name, K, y, ridge, rest) - decisions(name, K, y, ridge, everyone)
            atol = tolerance(n, cond=n / np.sqrt(ridge), power=2)
            np.testing.assert_allclose(delta[:, i, t], expected, rtol=0, atol=atol)


def test_rows_of_some_samples():
    """A block of rows is the same block of the whole."""
    rng = np.random.default_rng(0)
    X, Y, weight = rng.standard_normal((9, 2)), rng.standard_normal((9, 1)), np.ones(9)
    K, at = gram(X, X), np.array([7, 2])
    whole = changes(EQUATIONS["kda"], K, Y, 0.5, weight, np.arange(9))
    block = changes(EQUATIONS["kda"], K, Y, 0.5, weight, at)
    np.testing.assert_array_equal(block, whole[at])


def test_the_own_change_leads_to_the_left_out_value():
    """Δ_ii = f₋ᵢ(x_i) − f(x_i), with f₋ᵢ by a refit."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 2)), rng.standard_normal(12)
    K, everyone = gram(X, X), np.arange(12)
    delta = changes(EQUATIONS["ls-svm"], K, y[:, None], 0.2, np.ones(12), everyone)[..., 0]
    fitted = decisions("ls-svm", K, y, 0.2, everyone)
    left_out = [decisions("ls-svm", K, y, 0.2, np.delete(everyone, i))[i] for i in range(12)]
    atol = tolerance(12, cond=12 / 0.2, power=1)
    np.testing.assert_allclose(fitted + np.diagonal(delta), left_out, rtol=0, atol=atol)
