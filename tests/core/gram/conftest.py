"""Matrices and factors that the tests of this layer share."""

import numpy as np
import pytest

from gramian.core.gram import CholeskyFactor, LiveInverse, QRFactor
from gramian.core.gram._slots import SlotMatrix
from tests.tolerance import tolerance

# A new factorisation enters every shared test by one line here.
BUILD = {
    "inverse": lambda A: LiveInverse(slot_matrix(A)),
    "cholesky": lambda A: CholeskyFactor(slot_matrix(A)),
    "qr": lambda A: QRFactor(np.diagonal(A).copy(), row_block(A)),
}
IN_SLOTS = ("inverse", "cholesky")


@pytest.fixture(scope="session", params=BUILD)
def build(request):
    """``build(A)`` for each factor."""
    return BUILD[request.param]


@pytest.fixture(scope="session", params=IN_SLOTS)
def build_in_slots(request):
    """``build(A)`` for each factor that lives in a `SlotMatrix`."""
    return BUILD[request.param]


def row_block(A):
    return lambda rows, columns: A[rows, columns]


def slot_matrix(A):
    return SlotMatrix(np.diagonal(A).copy(), row_block(A))


def gram(n, *, ridge=0.5, gamma=0.1, features=8, dtype=float, seed=0):
    """An RBF Gram matrix with a ridge, symmetric to the last bit."""
    X = np.random.default_rng(seed).standard_normal((n, features))
    K = np.exp(-gamma * np.square(X[:, None] - X[None]).sum(axis=2))
    return (K + ridge * np.eye(n)).astype(dtype)


def without(A, positions):
    return np.delete(np.delete(A, positions, axis=0), positions, axis=1)


def inverse(factor):
    """P as the factored form alone gives it."""
    return factor.apply_inverse(np.eye(factor.n, dtype=factor.dtype))


def public_reads(factor):
    """What a caller can see, to compare to the last bit before and after something."""
    everything, ones = np.arange(factor.n), np.ones((factor.n, 1), dtype=factor.dtype)
    return [
        factor.rows(everything),
        factor.matrix_diagonal().copy(),
        factor.multiply(ones),
        inverse(factor),
        factor.columns(everything),
        factor.diagonal(),
        np.array(factor.norm()),
    ]


def assert_same_bits(before, after):
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(new, old)


def inverse_tolerance(A, updates=0):
    """Absolute, for entries of A⁻¹."""
    P = np.linalg.inv(A.astype(float))
    cond = np.linalg.cond(A.astype(float))
    return tolerance(len(A), updates=updates, cond=cond, power=1, dtype=A.dtype) * np.abs(P).max()


def assert_factors(factor, A, updates=0):
    """Every read of ``factor`` against NumPy on the matrix it should hold; A itself to the bit."""
    n, everything = len(A), np.arange(len(A))
    assert factor.n == n
    np.testing.assert_array_equal(factor.rows(everything), A)
    np.testing.assert_array_equal(factor.matrix_diagonal(), np.diagonal(A))
    if n == 0:
        return
    exact = A.astype(float)
    P = np.linalg.inv(exact)
    X = np.random.default_rng(1).standard_normal((n, 9)).astype(A.dtype)
    weights = np.linspace(0.5, 2.0, n).astype(A.dtype)
    tol = inverse_tolerance(A, updates)
    norm = np.abs(exact).sum(axis=0).max()
    size = np.abs(X).max()
    scale = n * size * tol

    def close(got, expected, atol):
        assert got.dtype == A.dtype
        np.testing.assert_allclose(got, expected, rtol=0, atol=atol)

    for few_or_many in (X[:, :2], X):  # by matrix-vector and by matrix-matrix products
        close(factor.apply_inverse(few_or_many), P @ few_or_many, scale)
        product_tolerance = tolerance(n, dtype=A.dtype) * norm * size
        close(factor.multiply(few_or_many), exact @ few_or_many, product_tolerance)
    solved, residual = factor.solve(X)
    close(solved, P @ X, scale)
    assert residual <= norm * scale
    close(factor.columns(everything[::-2]), P[:, ::-2], tol)
    close(factor.diagonal(), np.diagonal(P), tol)
    square = np.diagonal(P @ np.diag(weights) @ P)
    close(factor.square_diagonal(weights), square, 4 * n * np.abs(P).max() * tol)
    assert abs(factor.norm() - norm) <= tolerance(n, dtype=A.dtype) * norm
    assert factor.inverse_drift(everything) <= norm * tol


class Edited:
    """A factor of some samples of a pool, and which samples they are."""

    def __init__(self, build, pool, holdings):
        self.pool, self.holdings, self.updates = pool, list(holdings), 0
        self.factor = build(self.A)

    @property
    def A(self):
        return self.pool[np.ix_(self.holdings, self.holdings)]

    @property
    def missing(self):
        return [i for i in range(len(self.pool)) if i not in self.holdings]

    def append(self, samples):
        samples = list(samples)
        cross, corner = self.blocks(samples)
        W = self.factor.append(cross, corner)
        self.holdings += samples
        self.updates += len(samples)
        return W

    def remove(self, positions):
        positions = np.asarray(positions, dtype=int)
        W = self.factor.remove(positions)
        self.holdings = list(np.delete(self.holdings, positions))
        self.updates += len(positions)
        return W

    def blocks(self, samples):
        return self.pool[np.ix_(self.holdings, samples)], self.pool[np.ix_(samples, samples)]

    def check(self):
        assert_factors(self.factor, self.A, self.updates)
