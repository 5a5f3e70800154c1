"""Thresholds: where they lie, and kernels on the sides of them, by their definition."""

import numpy as np
import pytest
from scipy import sparse

from gramian.core.kernels import RBF, Exponential, Laplacian, ThresholdKernel
from gramian.core.kernels._thresholds import Thresholds


def samples(n=60, seed=0):
    """A skewed number, a mark, whole numbers, a constant."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [
            np.exp(2 * rng.standard_normal(n)),
            rng.random(n) < 0.3,
            rng.integers(0, 5, n),
            np.full(n, 3.0),
        ]
    )


def test_all_gaps_of_few_values_and_quantiles_of_many():
    X = samples()
    found = Thresholds.of(X, 8)
    assert np.bincount(found.columns, minlength=4).tolist() == [8, 1, 4, 0]
    assert len(found) == 13
    number = found.edges[found.columns == 0]
    counts = np.histogram(X[:, 0], np.concatenate([[0.0], number, [np.inf]]))[0]
    assert np.ptp(counts) <= 1  # as many samples between any two
    whole = found.edges[found.columns == 2]
    np.testing.assert_array_equal(np.floor(whole), [0, 1, 2, 3])


def test_the_map_counts_by_hand():
    X, Q = samples(), samples(seed=1)
    found = Thresholds.of(X, 8)
    by_hand = [
        [float(q[c] > e) for c, e in zip(found.columns, found.edges, strict=True)] for q in Q
    ]
    np.testing.assert_array_equal(found(Q), by_hand)
    np.testing.assert_array_equal(found(sparse.csr_array(Q)), by_hand)
    assert found(Q.astype(np.float32)).dtype == np.float32


def test_neither_order_nor_repetition_matters_beyond_weight():
    X = samples(30)
    weight = np.random.default_rng(2).integers(1, 4, 30)
    often = Thresholds.of(np.repeat(X, weight, axis=0), 8)
    weighted = Thresholds.of(X[::-1], 8, weight[::-1].astype(float))
    np.testing.assert_array_equal(often.edges, weighted.edges)
    dense, csr = Thresholds.of(X, 8), Thresholds.of(sparse.csr_array(X), 8)
    np.testing.assert_array_equal(dense.edges, csr.edges)
    np.testing.assert_array_equal(dense.columns, csr.columns)


def test_constant_samples_have_a_threshold_that_says_nothing():
    X = np.full((5, 2), 7.0)
    found = Thresholds.of(X, 8)
    assert not found(X).any()
    np.testing.assert_array_equal(ThresholdKernel(RBF(1.0), found)(X, X), np.ones((5, 5)))


def test_neighbouring_numbers_are_told_apart():
    low = 1.0
    X = np.array([[low], [np.nextafter(low, 2.0)], [1e308], [-1e308]])
    found = Thresholds.of(X, 8)
    assert np.isfinite(found.edges).all()
    assert np.unique(found(X), axis=0).shape[0] == 4


@pytest.mark.parametrize("kind", [RBF, Laplacian, Exponential])
def test_the_kernel_depends_on_what_lies_between(kind):
    X, Q = samples(), samples(20, seed=1)
    found = Thresholds.of(X, 8)
    factors = np.random.default_rng(3).random(len(found)) + 0.1
    kernel = ThresholdKernel(kind(0.3).with_scales(factors), found)
    one = kind(0.3).with_scales(factors).gamma
    power = 0.5 if kind is Exponential else 1.0
    widths = one**2 if kind is Exponential else one
    between = np.abs(found(Q)[:, None] - found(X)[None]) @ widths
    np.testing.assert_allclose(kernel(Q, X), np.exp(-(between**power)), rtol=1e-12)
    np.testing.assert_array_equal(kernel.diagonal(Q), np.ones(20))
    moved = X.copy()
    moved[:, 0] **= 3  # any growing function of a feature, thresholds with it
    same = Thresholds(found.columns, np.where(found.columns == 0, found.edges**3, found.edges))
    np.testing.assert_array_equal(same(moved), found(X))
    assert kernel(Q[:0], X).shape == (0, 60)
