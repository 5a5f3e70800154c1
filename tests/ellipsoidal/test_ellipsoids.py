"""Mahalanobis distances against kaieda2004's formulas written out, and against refits."""

import numpy as np
import pytest
from scipy.linalg import eigh, sqrtm

from gramian.core.equations import independent_append, independent_select
from gramian.core.kernels import make_kernel
from gramian.ellipsoidal._ellipsoids import (
    cholesky_floor,
    input_ellipsoid,
    input_loo_distances,
    kernel_ellipsoid,
    kernel_normalize,
    svd_ellipsoid,
    svd_loo_distances,
)
from tests.core.equations.test_independent import KERNELS, TAU, cholesky_by_rows
from tests.tolerance import tolerance

EPSILON = 1e-3
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)


def assert_close(actual, expected, n, cond):
    np.testing.assert_allclose(actual, expected, rtol=tolerance(n, cond=cond, power=1))


def flat_class(n=25, d=4, seed=0):
    """Samples of a class that does not vary in its last feature, some of them repeated."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[:, -1] = 0.0
    X[3::5] = X[0 : len(X[3::5])]
    return X


def queries(q=8, d=4, seed=1):
    return np.random.default_rng(seed).normal(size=(q, d))


# --- in the input space -------------------------------------------------------------------------


def floored_cholesky_by_elements(Q, zeta):
    """kaieda2004, eqs. (41), (42), with the pivot's replacement of §2.1."""
    L = np.zeros_like(Q)
    for o in range(len(Q)):
        for p in range(o):
            L[o, p] = (Q[o, p] - sum(L[p, n] * L[o, n] for n in range(p))) / L[p, p]
        pivot = Q[o, o] - sum(L[o, n] ** 2 for n in range(o))
        L[o, o] = np.sqrt(zeta) if pivot < zeta else np.sqrt(pivot)
    return L


def test_a_pivot_below_the_floor_is_replaced():
    X = flat_class()
    Q = np.cov(X, rowvar=False, bias=True)
    expected = floored_cholesky_by_elements(Q, 1e-4)
    np.testing.assert_allclose(cholesky_floor(Q, 1e-4), expected, atol=tolerance(4))
    assert cholesky_floor(Q, 1e-4)[-1, -1] == 1e-2
    stack = np.stack([Q, Q + np.eye(4)])
    np.testing.assert_allclose(cholesky_floor(stack, 1e-4)[0], expected, atol=tolerance(4))
    np.testing.assert_allclose(
        cholesky_floor(stack, 1e-4)[1], np.linalg.cholesky(stack[1]), atol=tolerance(4)
    )


def test_input_distances_are_mahalanobis_distances():
    X, T = np.random.default_rng(0).normal(size=(30, 3)), queries(d=3)
    Q = np.cov(X, rowvar=False, bias=True)
    offsets = T - X.mean(axis=0)
    expected = np.einsum("ij,jk,ik->i", offsets, np.linalg.inv(Q), offsets)
    assert_close(input_ellipsoid(X, 1e-8).distances(T), expected, 30, np.linalg.cond(Q))


@pytest.mark.parametrize("n", [2, 3, 25])
def test_input_leave_one_out_equals_refits(n):
    X = flat_class(n)
    expected = [
        input_ellipsoid(np.delete(X, i, axis=0), 1e-3).distances(X[i : i + 1])[0] for i in range(n)
    ]
    assert_close(input_loo_distances(X, 1e-3), expected, n, cond=1e3)


# --- by singular value decomposition ------------------------------------------------------------


def literal_svd_distances(K, cross, sigma, inverse_of_small):
    """kaieda2004, eqs. (13), (25)-(27)."""
    n = len(K)
    Z = sqrtm((np.eye(n) - np.full((n, n), 1 / n)) / n).real
    values, U = eigh(Z @ K @ Z)
    small = {"zero": 0.0, "sigma": 1 / sigma}[inverse_of_small]
    inverse = U @ np.diag([1 / v if v >= sigma else small for v in values]) @ U.T
    M = Z @ inverse @ inverse @ Z
    offsets = cross - K.sum(axis=1) / n
    return np.array([offset @ M @ offset for offset in offsets])


@each_kernel
@pytest.mark.parametrize("inverse_of_small", ["zero", "sigma"])
def test_svd_distances_are_equation_25(kernel, inverse_of_small):
    X, T = flat_class(), queries()
    K, cross, sigma = kernel(X, X), kernel(T, X), 1e-3
    actual = svd_ellipsoid(K, sigma, inverse_of_small).distances(cross)
    expected = literal_svd_distances(K, cross, sigma, inverse_of_small)
    # the square root of a singular matrix is good to √eps only; eigh to eps · ‖A‖/σ
    np.testing.assert_allclose(actual, expected, rtol=1e-7)


def test_svd_of_the_linear_kernel_is_the_input_space():
    X, T = np.random.default_rng(0).normal(size=(20, 3)), queries(d=3)
    expected = input_ellipsoid(X, 1e-12).distances(T)
    for inverse_of_small in ("zero", "sigma"):
        ellipsoid = svd_ellipsoid(X @ X.T, 1e-6, inverse_of_small)
        # null vectors are inverted to 10⁶ and leave rounding errors of that multiple
        np.testing.assert_allclose(ellipsoid.distances(T @ X.T), expected, rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 12])
def test_svd_leave_one_out_equals_refits(n):
    kernel, X = KERNELS[2], flat_class(n)
    expected = np.full(n, np.inf)
    for i in range(n if n > 1 else 0):
        rest = np.delete(X, i, axis=0)
        ellipsoid = svd_ellipsoid(kernel(rest, rest), 1e-3)
        expected[i] = ellipsoid.distances(kernel(X[i : i + 1], rest))[0]
    assert_close(svd_loo_distances(kernel(X, X), 1e-3), expected, n, cond=1e3)


# --- by kernel principal components -------------------------------------------------------------


def literal_kernel_distances(kernel, X, extra, T, tau, epsilon):
    """kaieda2004, eqs. (33)-(39) and (46)-(53), as sums of kernel values."""
    n, both = len(X), np.concatenate([X, extra])
    basis, _ = cholesky_by_rows(kernel(both, both), tau)
    vectors = both[basis[basis < n]]
    K = kernel(X, vectors)
    centring = np.eye(n) - np.full((n, n), 1 / n)
    values, rho = eigh(K.T @ centring @ K / n, kernel(vectors, vectors))  # eq. (35)
    eigenvalues, rho = list(np.maximum(values, epsilon)), [row[None] for row in rho.T]
    for added in both[basis[basis >= n]]:
        e = added[None]
        omega = [float((r @ kernel(vectors[: r.shape[1]], e))[0, 0]) for r in rho]  # eq. (49)
        norm = np.sqrt(kernel(e, e)[0, 0] - sum(w * w for w in omega))
        g = np.zeros((1, len(vectors) + 1))
        g[0, -1] = 1.0
        for w, r in zip(omega, rho, strict=True):
            g[0, : r.shape[1]] -= w * r[0]
        rho.append(g / norm)  # eqs. (50), (51)
        vectors = np.concatenate([vectors, e])
        eigenvalues.append(epsilon)
    distances = np.zeros(len(T))
    for r, value in zip(rho, eigenvalues, strict=True):
        used = vectors[: r.shape[1]]
        y = kernel(T, used) @ r[0] - (kernel(X, used) @ r[0]).mean()  # eqs. (38), (39), (52)
        distances += y**2 / value
    return distances


def sequence_of(kernel, X, extra, tau=TAU):
    """The independent vectors of the members X, then of unlabelled samples."""
    both = np.concatenate([X, extra])

    def column(rows):
        return lambda j: kernel(rows, rows[j : j + 1])[:, 0]

    members = independent_select(column(X), kernel.diagonal(X), tau)
    cross = kernel(extra, X[members.basis]) if len(extra) else np.empty((0, len(members.basis)))
    return (
        independent_append(members, cross, column(both), kernel.diagonal(both), tau),
        both,
        column(both),
        kernel.diagonal(both),
    )


def distances_of(kernel, X, extra, T, *, each_query=False):
    sequence, both, _, _ = sequence_of(kernel, X, extra)
    ellipsoid = kernel_ellipsoid(sequence, len(X), EPSILON)
    cross = kernel(T, both[sequence.basis])
    if not each_query:
        return ellipsoid.distances(cross)
    mean = kernel(T, X).mean(axis=1)
    return ellipsoid.query_distances(cross, kernel.diagonal(T), mean, TAU)


def condition(kernel, *samples):
    """A bound on the condition of the independent vectors' Gram matrix, up to their number."""
    return max(kernel.diagonal(np.concatenate(samples)).max(), 1.0) / TAU


NOTHING = np.empty((0, 4))


@each_kernel
@pytest.mark.parametrize("extra", [NOTHING, np.eye(4)], ids=["members", "basis"])
def test_kernel_distances_are_the_papers_sums(kernel, extra):
    X, T = flat_class(), queries()
    expected = literal_kernel_distances(kernel, X, extra, T, TAU, EPSILON)
    assert_close(distances_of(kernel, X, extra, T), expected, 25, condition(kernel, X, T))


@each_kernel
def test_a_query_outside_the_span_adds_its_own_direction(kernel):
    X, T = flat_class(), 3.0 * queries()
    T[0] = X[0]
    expected = np.concatenate(
        [
            literal_kernel_distances(
                kernel, X, np.concatenate([np.eye(4), t[None]]), t[None], TAU, EPSILON
            )
            for t in T
        ]
    )
    actual = distances_of(kernel, X, np.eye(4), T, each_query=True)
    assert_close(actual, expected, 25, condition(kernel, X, T))
    one_by_one = [distances_of(kernel, X, np.eye(4), t[None], each_query=True)[0] for t in T]
    assert_close(actual, one_by_one, 25, condition(kernel, X, T))
    if kernel.name != "linear":
        assert (actual > distances_of(kernel, X, np.eye(4), T) + 1).any()


@each_kernel
def test_queries_may_be_appended_all_at_once(kernel):
    X, T = flat_class(), queries()
    extra = np.concatenate([np.eye(4), T])
    sequence, _, _, _ = sequence_of(kernel, X, extra)
    ellipsoid = kernel_ellipsoid(sequence, len(X), EPSILON)
    expected = literal_kernel_distances(kernel, X, extra, T, TAU, EPSILON)
    actual = ellipsoid.distances_at(sequence.coordinates[len(X) + 4 :])
    assert_close(actual, expected, 25, condition(kernel, X, T))


def test_the_linear_kernel_with_unit_vectors_is_the_input_space():
    X, T = np.random.default_rng(0).normal(size=(20, 4)), queries()
    expected = input_ellipsoid(X, 1e-12).distances(T)
    assert_close(distances_of(KERNELS[0], X, np.eye(4), T), expected, 20, 1 / TAU)
    flat = flat_class()
    off = T.copy()
    off[:, -1] = 0.0
    expected = T[:, -1] ** 2 / EPSILON + distances_of(KERNELS[0], flat, np.eye(4), off)
    assert_close(distances_of(KERNELS[0], flat, np.eye(4), T), expected, 20, 1 / TAU)


def test_small_eigenvalues_are_raised_to_epsilon():
    # Two samples span two directions and vary along one: the other has eigenvalue 0.
    X, T = np.eye(2), np.array([[1.0, 1.0]])
    sequence, _, _, _ = sequence_of(KERNELS[0], X, X[:0])
    ellipsoid = kernel_ellipsoid(sequence, 2, EPSILON)
    np.testing.assert_allclose(ellipsoid.eigenvalues, [EPSILON, 0.5])
    np.testing.assert_allclose(ellipsoid.distances(T @ X.T), [0.5 / EPSILON])


def test_a_class_of_one_sample():
    kernel, X = KERNELS[2], queries(1)
    # k(x, x) by the kernel's diagonal and by its block differ in the last digit
    assert distances_of(kernel, X, np.eye(4), X)[0] < tolerance(1) ** 2 / EPSILON
    np.testing.assert_array_equal(input_loo_distances(X, 1e-3), [np.inf])


def test_a_class_at_the_origin_has_no_independent_vector():
    X, T = np.zeros((3, 4)), queries()
    np.testing.assert_array_equal(distances_of(KERNELS[0], X, NOTHING, T), np.zeros(len(T)))
    expected = (T**2).sum(axis=1) / EPSILON
    np.testing.assert_allclose(distances_of(KERNELS[0], X, np.eye(4), T), expected)


# --- weights ------------------------------------------------------------------------------------


def weighted_class(n=20):
    """Samples, whole weights, and the positions that repeat each sample so often."""
    weight = np.random.default_rng(2).integers(1, 4, size=n)
    return flat_class(n), weight.astype(float), np.repeat(np.arange(n), weight)


def test_weights_repeat_samples_in_the_input_space():
    X, weight, repeated = weighted_class()
    expected = input_ellipsoid(X[repeated], 1e-3).distances(queries())
    assert_close(input_ellipsoid(X, 1e-3, weight).distances(queries()), expected, 60, cond=1e3)


@pytest.mark.parametrize("inverse_of_small", ["zero", "sigma"])
def test_weights_repeat_samples_by_svd(inverse_of_small):
    kernel, (X, weight, repeated) = KERNELS[2], weighted_class()
    many = X[repeated]
    expected = svd_ellipsoid(kernel(many, many), 1e-3, inverse_of_small)
    actual = svd_ellipsoid(kernel(X, X), 1e-3, inverse_of_small, weight)
    np.testing.assert_allclose(
        actual.distances(kernel(queries(), X)),
        expected.distances(kernel(queries(), many)),
        rtol=tolerance(60, cond=1e3, power=2),  # A⁺ is applied, not a factor of it
    )


@each_kernel
@pytest.mark.parametrize("extra", [NOTHING, np.eye(4)], ids=["members", "basis"])
def test_weights_repeat_samples_by_kernel_components(kernel, extra):
    X, weight, repeated = weighted_class()
    sequence, both, _, _ = sequence_of(kernel, X, extra)
    ellipsoid = kernel_ellipsoid(sequence, len(X), EPSILON, weight)
    expected = distances_of(kernel, X[repeated], extra, queries())
    actual = ellipsoid.distances(kernel(queries(), both[sequence.basis]))
    assert_close(actual, expected, 60, condition(kernel, X, queries()))


def without(repeated, i):
    return repeated[repeated != i]


def test_weighted_leave_one_out_leaves_all_copies_out():
    kernel, (X, weight, repeated) = KERNELS[2], weighted_class()
    T = [X[i : i + 1] for i in range(len(X))]
    rest = [X[without(repeated, i)] for i in range(len(X))]
    expected = [input_ellipsoid(R, 1e-3).distances(t)[0] for R, t in zip(rest, T, strict=True)]
    assert_close(input_loo_distances(X, 1e-3, weight), expected, 60, cond=1e3)
    expected = [
        svd_ellipsoid(kernel(R, R), 1e-3).distances(kernel(t, R))[0]
        for R, t in zip(rest, T, strict=True)
    ]
    rtol = tolerance(60, cond=1e3, power=2)
    actual = svd_loo_distances(kernel(X, X), 1e-3, weight=weight)
    np.testing.assert_allclose(actual, expected, rtol=rtol)


# --- parameters ---------------------------------------------------------------------------------


def test_normalised_kernels():
    X, T = queries(), queries(seed=2)
    poly = kernel_normalize(make_kernel("poly", degree=3), 4)
    np.testing.assert_allclose(poly(X, T), (1 + X @ T.T) ** 3 / 5**3)
    rbf = kernel_normalize(make_kernel("rbf", gamma=2.0), 4)
    squared = ((X[:, None] - T[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(rbf(X, T), np.exp(-squared * 2 / 4))
    with pytest.raises(ValueError, match="scale the samples"):
        kernel_normalize(make_kernel("linear"), 4)


def test_floors_must_be_positive():
    X = flat_class()
    with pytest.raises(ValueError, match="zeta must be > 0"):
        input_ellipsoid(X, 0.0)
    with pytest.raises(ValueError, match="sigma must be > 0"):
        svd_ellipsoid(X @ X.T, -1.0)
    with pytest.raises(ValueError, match='must be "zero" or "sigma"'):
        svd_ellipsoid(X @ X.T, 1e-3, "one")
    sequence, _, _, _ = sequence_of(KERNELS[0], X, NOTHING)
    with pytest.raises(ValueError, match="epsilon must be > 0"):
        kernel_ellipsoid(sequence, len(X), 0.0)
