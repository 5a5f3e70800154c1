import numpy as np
import pytest

from gramian.core.arrays import (
    _native,
    add_cross,
    mirror_upper,
    plus_outer,
    triangle_rows,
    weighted_square,
)


@pytest.mark.parametrize("n", [1, 3, 200])  # blocks of 128 columns are mirrored
def test_weighted_squares_and_cross_products(n):
    rng = np.random.default_rng(n)
    W, weight = rng.standard_normal((n, n)), rng.standard_normal(n)
    weight[0] = 0.0
    X, Y = rng.standard_normal((2, n, 2))
    S = weighted_square(W, weight)
    assert not np.tril(S, -1).any()
    add_cross(S, X, Y, -0.5)
    full = mirror_upper(S)
    assert full is S
    expected = (W * weight) @ W.T - 0.5 * (X @ Y.T + Y @ X.T)
    np.testing.assert_allclose(full, expected, atol=1e-12 * n)
    np.testing.assert_array_equal(full, full.T)


def test_eigenvalues_of_what_is_not_finite_are_refused():
    with pytest.raises(np.linalg.LinAlgError, match="of a matrix of 3 rows were not found"):
        _native.syevd(np.full((3, 3), np.nan, order="F"))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_plus_outer_is_a_new_array(dtype, order):
    rng = np.random.default_rng(0)
    X = np.array(rng.standard_normal((5, 3)), dtype=dtype, order=order)
    w, c = rng.standard_normal(5).astype(dtype), rng.standard_normal(3).astype(dtype)
    before = X.copy()
    found = plus_outer(X, w, c)
    assert found.dtype == dtype
    assert found.flags.f_contiguous
    np.testing.assert_allclose(found, before + np.outer(w, c), rtol=4 * np.finfo(dtype).eps)
    assert np.array_equal(X, before)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize(
    "rows", [[4], [0, 1, 2], [7, 8, 9, 10], [*range(100, 900)], [1198, 1199], [3, 2], [5, 9]]
)
def test_rows_of_a_triangle(rows, lower):  # neighbouring ones are copied in squares of 256
    S = np.random.default_rng(0).standard_normal((1200, 1200))
    S += S.T
    other = np.full_like(S, np.nan)
    stored = np.tril(S) + np.triu(other, 1) if lower else np.triu(S) + np.tril(other, -1)
    found = triangle_rows(np.asfortranarray(stored), np.array(rows), lower=lower)
    np.testing.assert_array_equal(found, S[rows])
