"""The inverse in single precision: solutions against a direct solve in double precision."""

import numpy as np
import pytest

from gramian.core.gram import LiveSystem
from gramian.core.gram._single import SINGLE
from tests.core.gram.conftest import gram


class Samples:
    """A live system over some samples of a pool, and the blocks of A that follow its edits."""

    def __init__(self, n, holdings, *, ridge=0.1, outputs=2, **shape):
        self.pool = gram(n, ridge=ridge, **shape)
        self.Y = np.random.default_rng(7).standard_normal((n, outputs))
        self.holdings = np.array(holdings)
        diagonal = self.A.diagonal().copy()
        self.system = LiveSystem(diagonal, self.rows, self.Y[self.holdings], SINGLE)

    @property
    def A(self):
        return self.pool[np.ix_(self.holdings, self.holdings)]

    def rows(self, rows, columns):
        return self.pool[np.ix_(self.holdings[rows], self.holdings[columns])]

    def append(self, samples):
        cross, corner = (
            self.pool[np.ix_(holdings, samples)] for holdings in (self.holdings, samples)
        )
        self.system.append(cross, corner, self.Y[samples])
        self.holdings = np.append(self.holdings, samples)

    def remove(self, positions):
        self.system.remove(np.asarray(positions))
        self.holdings = np.delete(self.holdings, positions)

    def check(self):
        X, expected = self.system.solution(), np.linalg.solve(self.A, self.Y[self.holdings])
        assert X.dtype == np.float64
        atol = 2**14 * np.finfo(float).eps * np.linalg.cond(self.A) * np.abs(expected).max()
        np.testing.assert_allclose(X, expected, rtol=0, atol=atol)


@pytest.mark.parametrize("ridge", [1.0, 1e-1, 1e-2])
def test_edits_keep_double_precision(ridge):
    samples = Samples(80, range(30), ridge=ridge, gamma=0.3)
    assert samples.system.factor.matrix.buffer.dtype == np.float32
    samples.check()
    rng = np.random.default_rng(0)
    samples.append(np.arange(30, 70))  # grows the buffer
    samples.check()
    for _ in range(40):
        samples.remove([rng.integers(len(samples.holdings))])
        samples.check()
    samples.remove(np.arange(20))  # more than half: factored again
    samples.append(np.arange(70, 80))
    samples.check()


def test_the_true_matrix():
    samples = Samples(40, range(40))
    factor = samples.system.factor
    X = samples.Y
    np.testing.assert_allclose(factor.multiply(X), samples.A @ X, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(factor.rows(np.array([3, 17])), samples.A[[3, 17]])
    assert factor.dtype == np.float64


def test_moments_of_the_inverse_have_single_precision():
    samples = Samples(40, range(40), ridge=1.0)
    P, weights = np.linalg.inv(samples.A), np.linspace(1.0, 2.0, 40)
    np.testing.assert_allclose(samples.system.inverse_diagonal(), P.diagonal(), rtol=1e-5)
    found = samples.system.inverse_square_diagonal(weights)
    np.testing.assert_allclose(found, np.einsum("ij,ij,i->j", P, P, weights), rtol=1e-5)
    found = samples.system.apply_inverse(samples.Y)
    np.testing.assert_allclose(found, P @ samples.Y, rtol=0, atol=1e-5)
    np.testing.assert_allclose(samples.system.solve(samples.Y), P @ samples.Y, rtol=0, atol=1e-12)


def test_columns_of_the_inverse_have_double_precision():
    samples = Samples(40, range(40), ridge=1.0)
    found = samples.system.inverse_columns(np.array([31, 4]))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, np.linalg.inv(samples.A)[:, [31, 4]], rtol=0, atol=1e-12)


def test_a_rebuild_keeps_the_precision():
    samples = Samples(40, range(30))
    samples.append(np.arange(30, 40))
    samples.system.rebuild()
    samples.check()
    assert samples.system.factor.name == SINGLE


@pytest.mark.parametrize("k", [1, 9])
def test_a_direction_that_dominates(k):
    """P is far off where A is largest; solutions, new samples and removals are not."""
    samples = Samples(700, range(600), ridge=0.05, gamma=1e-3)
    P = np.linalg.inv(samples.A)
    far = samples.system.factor.apply_inverse(np.ones((600, 1))) - P.sum(axis=1, keepdims=True)
    assert np.abs(far).max() > 1e-4 * np.abs(P.sum(axis=1)).max()
    for start in range(600, 700, k)[:5]:
        samples.append(np.arange(start, start + k))
        samples.remove(np.arange(3, 3 + k))
    samples.check()
    found, expected = samples.system.inverse_diagonal(), np.linalg.inv(samples.A).diagonal()
    np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_refuses_what_would_leave_no_digits():
    with pytest.raises(np.linalg.LinAlgError, match="larger ridge"):
        Samples(200, range(200), ridge=5e-7, gamma=0.01)
