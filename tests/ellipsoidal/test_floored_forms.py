"""Quadratic forms with floored eigenvalues against decompositions."""

import numpy as np
import pytest

from gramian.core.kernels import make_kernel
from gramian.ellipsoidal import _left_out_members
from gramian.ellipsoidal._floored_forms import _POINTS, _WEIGHTS, floored_forms
from tests.ellipsoidal.test_ellipsoids import sequence_of


def problem(m=40, r=30, seed=0):
    """D from 1e-6 to 1, of which κ y yᵀ leaves P D P positive semi-definite."""
    rng = np.random.default_rng(seed)
    D = np.sort(10.0 ** rng.uniform(-6, 0, m))
    Q = rng.standard_normal((r, m))
    Q[: r // 3] = 0.0
    Q[r // 3 :] /= np.linalg.norm(Q[r // 3 :], axis=1)[:, None]
    Y = np.sqrt(D) * rng.standard_normal((r, m))
    Y -= Q * np.einsum("ij,ij->i", Q, Y)[:, None]
    kappa = np.empty(r)
    for i in range(r):
        P = np.eye(m) - np.outer(Q[i], Q[i])
        kappa[i] = rng.uniform(0.1, 0.9) / (Y[i] @ np.linalg.pinv(P * D @ P, 1e-12) @ Y[i])
    return D, Y, Q, kappa


def decomposed(D, Y, Q, kappa, epsilon):
    out = []
    for y, q, k, floor in zip(Y, Q, kappa, epsilon, strict=True):
        P = np.eye(len(D)) - np.outer(q, q)
        values, axes = np.linalg.eigh(P * D @ P - k * np.outer(y, y))
        out.append((y @ axes) ** 2 @ (1.0 / np.maximum(values, floor)))
    return np.array(out)


@pytest.mark.parametrize("floor", [1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_equal_decompositions(floor, seed):
    D, Y, Q, kappa = problem(seed=seed)
    epsilon = np.full(len(Y), floor)
    forms, sure = floored_forms(D, Y, Q, kappa, epsilon)
    assert sure.mean() > 0.8
    # the two circles agree to 1e-10
    np.testing.assert_allclose(forms[sure], decomposed(D, Y, Q, kappa, epsilon)[sure], rtol=1e-9)


def test_many_eigenvalues_near_the_floor():
    """Within 0.1 % of ε, where the step is not sharp."""
    D, Y, Q, kappa = problem(m=60)
    D[20:40] = 1e-3 * np.linspace(0.999, 1.001, 20)
    epsilon = np.full(len(Y), 1e-3)
    forms, sure = floored_forms(np.sort(D), Y, Q, 0.5 * kappa, epsilon)
    assert sure.mean() > 0.5
    expected = decomposed(np.sort(D), Y, Q, 0.5 * kappa, epsilon)
    np.testing.assert_allclose(forms[sure], expected[sure], rtol=1e-9)


def test_the_step_is_sharp():
    x = np.geomspace(1e-9, 1e9, 100_001)
    x = x[np.abs(x - 1.0) > 2.1e-4]
    step = (_WEIGHTS * x[:, None] / (x[:, None] - _POINTS)).real.sum(axis=1)
    assert np.abs(step - (x > 1.0)).max() < 1e-12
    assert np.isclose(_WEIGHTS.sum(), 1.0)
    assert np.allclose(np.abs(_POINTS), 1.0)


def test_floors_of_their_own():
    D, Y, Q, kappa = problem()
    epsilon = 1e-3 * np.random.default_rng(1).uniform(0.5, 1.0, len(Y))
    forms, sure = floored_forms(D, Y, Q, kappa, epsilon)
    assert sure.mean() > 0.8
    np.testing.assert_allclose(forms[sure], decomposed(D, Y, Q, kappa, epsilon)[sure], rtol=1e-9)


@pytest.mark.parametrize("near", [1.01, 1.0001])
def test_what_cannot_be_found_is_not_sure(near):
    """Components that are zero have eigenvalues that are no roots; others become negative."""
    D, Y, Q, kappa = problem()
    Q[:], Y[:, 10:] = 0.0, 0.0
    epsilon = np.full(len(Y), near * D[20])
    forms, sure = floored_forms(D, Y, Q, kappa, epsilon)
    lowest = [
        np.linalg.eigvalsh(np.diag(D) - k * np.outer(y, y))[0]
        for y, k in zip(Y, kappa, strict=True)
    ]
    assert not sure[lowest < -0.02 * epsilon].any()
    assert (lowest < -0.02 * epsilon).any()
    np.testing.assert_allclose(forms[sure], decomposed(D, Y, Q, kappa, epsilon)[sure], rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("epsilon", [1e-6, 1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("gamma", [0.02, 0.2])
def test_left_out_distances_are_those_by_decomposition(monkeypatch, gamma, epsilon, weighted):
    rng, n, tau = np.random.default_rng(3), 90, 1e-4
    X, kernel = rng.standard_normal((n, 8)), make_kernel("rbf", gamma=gamma)
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    sequence, _, column, diagonal = sequence_of(kernel, X, np.eye(8))

    def distances():
        return _left_out_members.kernel_loo_distances(
            sequence, n, column, diagonal, tau, epsilon, weight=weight, queries=True
        )

    fast = distances()
    monkeypatch.setattr(_left_out_members, "_LARGE", n + 1)
    np.testing.assert_allclose(fast, distances(), rtol=1e-8)
