"""Large matrices by blocks: as without them, in one triangle alone, to the bit for any threads."""

import numpy as np
import pytest

from gramian.core.arrays import (
    add_outer,
    factor_cholesky,
    invert_cholesky,
    symmetric_product,
    using_jobs,
)
from gramian.core.arrays._tiles import LARGE, blocks_of
from tests.tolerance import tolerance

N = LARGE + 5  # blocks of 256, 256 and a rest
LOWER = np.tril_indices(N, -1)


def make_buffer(dtype):
    rng = np.random.default_rng(0)
    W = rng.standard_normal((N, N + 30))
    buffer = np.asfortranarray(W @ W.T / N + np.eye(N), dtype=dtype)
    buffer[LOWER] = 7.0
    return buffer


def symmetric(buffer):
    return np.triu(buffer) + np.triu(buffer, 1).T


def test_blocks_cover_all_rows_and_grow_with_them():
    for n, count in ((700, 3), (2048, 8), (3000, 8), (10_000, 20)):
        blocks = blocks_of(n)
        assert len(blocks) == count
        assert [row for block in blocks for row in range(block.start, block.stop)] == [*range(n)]


@pytest.mark.parametrize("columns", [3, 300])  # by one product, and by blocks
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_factor_inverse_and_outer_product(dtype, columns):
    found = []
    for jobs in (1, 3):
        with using_jobs(jobs):
            buffer = make_buffer(dtype)
            A = symmetric(buffer).astype(float)
            assert factor_cholesky(buffer) == 0
            R = np.triu(buffer).astype(float)
            invert_cholesky(buffer)
            P = symmetric(buffer).astype(float)
            W = np.random.default_rng(1).standard_normal((N, columns)).astype(dtype)
            add_outer(buffer, W, -0.5)
            found.append((R, P, buffer))
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))
    assert (buffer[LOWER] == 7.0).all()
    cond = np.linalg.cond(A)
    size = np.linalg.norm(A)
    assert np.linalg.norm(R.T @ R - A) < tolerance(N, dtype=dtype) * size
    assert np.linalg.norm(P @ A - np.eye(N)) < tolerance(N, cond=cond, power=1, dtype=dtype)
    outer = symmetric(buffer) - P
    W = W.astype(float)
    assert np.linalg.norm(outer + 0.5 * W @ W.T) < tolerance(N, dtype=dtype) * np.linalg.norm(outer)


def test_bad_pivot_is_counted_in_the_whole_matrix():
    for bad in (3, 300, N - 1):
        buffer = make_buffer(float)
        buffer[bad, bad] = -1.0
        assert factor_cholesky(buffer) == bad + 1


@pytest.mark.parametrize("long", [1, 10_000])  # without Python's lock, and with it
@pytest.mark.parametrize("columns", [2, 9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_with_vectors(dtype, columns, long, monkeypatch):
    monkeypatch.setattr("gramian.core.arrays._blas._LONG", long)
    buffer = make_buffer(dtype)
    X = np.random.default_rng(2).standard_normal((N, 2 * columns)).astype(dtype)[:, ::2]
    lower = np.tril(buffer) + np.tril(buffer, -1).T
    for S, is_lower in ((symmetric(buffer), False), (lower, True)):
        expected = S.astype(float) @ X
        found = symmetric_product(buffer, X, lower=is_lower)
        assert found.dtype == dtype
        error = np.linalg.norm(found - expected) / np.linalg.norm(expected)
        assert error < tolerance(N, dtype=dtype)
