"""The array operations: for NumPy by BLAS and LAPACK, for an array on a device by torch.

All functions work on the *upper* triangle of a square Fortran-ordered buffer and keep the strict
lower triangle unchanged, so one buffer can hold two symmetric matrices. Always pass the whole
buffer: SciPy's wrappers silently copy a view of a larger array, and an update of the copy would
be lost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs, solve_triangular

from gramian.core.arrays import _native
from gramian.core.arrays._tiles import (
    add_outer_tiles,
    each_block,
    factor_tiles,
    invert_tiles,
    is_large,
)
from gramian.core.arrays._types import Array

# For up to this many right-hand sides, one matrix-vector product each is faster than a matrix
# product, which packs the matrix first. A complex one needs two triangular products.
_FEW_COLUMNS = 6
_FEW_COMPLEX_COLUMNS = 3
# Rows from which on a product with one vector lets other threads of Python run meanwhile; with
# fewer it is done in a millisecond, and faster without.
_LONG = 2048
_MUCH = 2**15  # numbers of an update by columns, likewise
_UNBLOCKED = 32
_MIRRORED = 128
_SQUARE = 256  # rows and columns of a triangle that are copied at once
_LOWER = np.tri(_SQUARE, dtype=bool)


@cache
def _blas(name: str, dtype: np.dtype) -> Callable[..., Any]:
    """A routine of BLAS: looking it up costs as much as a small call."""
    routine: Callable[..., Any] = get_blas_funcs(name, dtype=dtype)
    return routine


@cache
def _lapack(name: str, dtype: np.dtype) -> Callable[..., Any]:
    """A routine of LAPACK."""
    routine: Callable[..., Any] = get_lapack_funcs(name, dtype=dtype)
    return routine


def symmetric_product(buffer: Array, X: Array, *, lower: bool = False) -> Array:
    """``S @ X`` for the symmetric S in one triangle of ``buffer``; half a pass per few columns.

    X has columns, or is one vector.
    """
    if not isinstance(buffer, np.ndarray):  # on a device
        return buffer.through("symmetric_product", X, lower=lower)
    if X.ndim == 1:
        return _symv(buffer, X, lower)
    if X.shape[1] == 0:
        return np.zeros_like(X, order="F")
    is_complex = buffer.dtype.kind == "c"
    if X.shape[1] > (_FEW_COMPLEX_COLUMNS if is_complex else _FEW_COLUMNS):
        if is_large(buffer):
            return _native.symm(b"L" if lower else b"U", buffer, X)
        symm = _blas("symm", buffer.dtype)
        result: Array = symm(1.0, buffer, X, lower=lower)
        return result
    out = np.empty(X.shape, dtype=buffer.dtype, order="F")
    for j in range(X.shape[1]):
        out[:, j] = _symv(buffer, X[:, j], lower)
    return out


def _symv(buffer: Array, x: Array, lower: bool) -> Array:
    """``S x`` for one vector."""
    if len(buffer) >= _LONG and _native.is_native(buffer):
        return _native.symv(b"L" if lower else b"U", buffer, x)
    symv = _complex_symv if buffer.dtype.kind == "c" else _blas("symv", buffer.dtype)
    return symv(1.0, buffer, x, lower=lower)


def triangle_rows(buffer: Array, rows: Array, *, lower: bool = False) -> Array:
    """Rows (k, n) of the symmetric matrix in one triangle, with the diagonal that is stored."""
    if not isinstance(buffer, np.ndarray):  # on a device
        return buffer.through("triangle_rows", rows, lower)
    stored, out = buffer if lower else buffer.T, np.empty((len(rows), len(buffer)), buffer.dtype)
    if len(rows) > 1 and np.array_equal(rows, np.arange(rows[0], rows[0] + len(rows))):
        return _copy_band(stored, int(rows[0]), out)
    for row, j in zip(out, rows.tolist(), strict=True):
        row[:j], row[j:] = stored[j, :j], stored[j:, j]
    return out


def _copy_band(stored: Array, first: int, out: Array) -> Array:
    """Rows (k, n) of a lower triangle from ``first`` on, in squares that stay in the cache."""
    after, n = first + len(out), len(stored)
    for a in range(first, after, _SQUARE):
        b = min(after, a + _SQUARE)
        rows = out[a - first : b - first]
        for start in range(0, a, _SQUARE):
            stop = min(a, start + _SQUARE)
            rows[:, start:stop] = stored[a:b, start:stop]
        for start in range(b, n, _SQUARE):
            stop = min(n, start + _SQUARE)
            rows[:, start:stop] = stored[start:stop, a:b].T
        corner = stored[a:b, a:b]
        rows[:, a:b] = np.where(_LOWER[: b - a, : b - a], corner, corner.T)
    return out


def _complex_symv(alpha: float, buffer: Array, x: Array, *, lower: bool) -> Array:
    """``S x`` as ``T x + Tᵀ x``, because BLAS lacks this product for complex symmetric S."""
    trmv = _blas("trmv", buffer.dtype)
    both = trmv(buffer, x, lower=lower) + trmv(buffer, x, lower=lower, trans=1)
    result: Array = alpha * (both - buffer.diagonal() * x)
    return result


def add_outer(buffer: Array, W: Array, sign: float) -> None:
    """``S += sign · W Wᵀ`` in the upper triangle, in place: a symmetric rank-k update.

    W has columns, or is one vector.
    """
    if not isinstance(buffer, np.ndarray):  # on a device
        return buffer.through("add_outer", W, sign)
    if W.ndim == 1:
        return _add_square(buffer, W, sign)
    if W.shape[1] == 0:
        return
    if is_large(buffer):
        return add_outer_tiles(buffer, np.asfortranarray(W), sign)
    if W.size >= _MUCH and _native.is_native(buffer):
        return _native.syrk(sign, np.asfortranarray(W, buffer.dtype), buffer)
    syrk = _blas("syrk", buffer.dtype)
    updated = syrk(sign, W, beta=1.0, c=buffer, lower=0, overwrite_c=1)
    assert updated.ctypes.data == buffer.ctypes.data, "the rank-k update must happen in place"


def _add_square(buffer: Array, w: Array, sign: float) -> None:
    updated = _blas("syr", buffer.dtype)(sign, w, a=buffer, overwrite_a=1)
    assert updated is buffer, "the rank-one update must happen in place"


def plus_outer(X: Array, w: Array, c: Array) -> Array:
    """``X + w cᵀ`` as a new array in Fortran order, in host memory."""
    result: Array = _blas("ger", X.dtype)(1.0, w, c, a=X)
    return result


def add_cross(buffer: Array, X: Array, Y: Array, sign: float) -> None:
    """``S += sign · (X Yᵀ + Y Xᵀ)`` in the upper triangle, in place."""
    if not isinstance(buffer, np.ndarray):  # on a device
        return buffer.through("add_cross", X, Y, sign)
    syr2k = _blas("syr2k", buffer.dtype)
    updated = syr2k(sign, X, Y, beta=1.0, c=buffer, lower=0, overwrite_c=1)
    assert updated.ctypes.data == buffer.ctypes.data, "the rank-2k update must happen in place"


def clear_diagonal(buffer: Array) -> None:
    """Set the diagonal to zero."""
    if not isinstance(buffer, np.ndarray):  # on a device
        np.fill_diagonal(buffer, 0.0)
        return
    buffer.T.reshape(-1)[:: len(buffer) + 1] = 0.0  # a view of it; faster than fill_diagonal


def clear_slot(buffer: Array, slot: int) -> None:
    """Set a row and a column to zero."""
    if not isinstance(buffer, np.ndarray):  # on a device
        return buffer.through("clear_slot", slot)
    buffer[slot] = 0.0
    buffer[:, slot] = 0.0


def weighted_square(W: Array, weight: Array) -> Array:
    """``W diag(weight) Wᵀ`` in the upper triangle of a new buffer, at half the cost of a product.

    One symmetric rank-k update for each sign of the weights.
    """
    if not isinstance(W, np.ndarray):  # on a device
        return W.through("weighted_square", weight)
    square = np.zeros((len(W), len(W)), order="F")
    for sign in (1.0, -1.0):
        some = np.flatnonzero(sign * weight > 0)
        part = np.take(W.T, some, axis=0)
        part *= np.sqrt(sign * weight[some])[:, None]
        add_outer(square, part.T, sign)
    return square


def mirror_upper(buffer: Array) -> Array:
    """Copy the upper triangle into the lower one, in place, and return the buffer."""

    def mirror(block: slice) -> None:
        below = slice(block.stop, None)
        buffer[below, block] = buffer[block, below].T
        strict = np.triu(buffer[block, block], 1)
        buffer[block, block] = np.triu(buffer[block, block]) + strict.T

    n = len(buffer)
    each_block(mirror, (slice(i, min(i + _MIRRORED, n)) for i in range(0, n, _MIRRORED)), n * n)
    return buffer


def factor_cholesky(buffer: Array) -> int:
    """Replace S by R with ``S = RᵀR`` in the upper triangle; return 0 or the 1-based bad pivot."""
    if not isinstance(buffer, np.ndarray):  # on a device
        return buffer.through("factor_cholesky")
    return factor_tiles(buffer) if is_large(buffer) else _native.potrf(buffer)


def invert_cholesky(buffer: Array) -> None:
    """Replace R by ``(RᵀR)⁻¹`` in the upper triangle."""
    if not isinstance(buffer, np.ndarray):  # on a device
        return buffer.through("invert_cholesky")
    return invert_tiles(buffer) if is_large(buffer) else _native.potri(buffer)


def add_rows_to_cholesky(buffer: Array, rows: Array) -> None:
    """Replace R by the R of ``RᵀR + rowsᵀ rows``: a backward-stable update by Householder."""
    if not isinstance(buffer, np.ndarray):  # on a device
        return buffer.through("add_rows_to_cholesky", rows)
    tpqrt = _lapack("tpqrt", buffer.dtype)
    block = min(32, buffer.shape[0])
    factor, _, _, info = tpqrt(
        0, block, buffer, np.asfortranarray(rows), overwrite_a=1, overwrite_b=1
    )
    assert info == 0 and factor.ctypes.data == buffer.ctypes.data


def eigh(S: Array) -> tuple[Array, Array]:
    """Rising eigenvalues and eigenvectors of a symmetric S in Fortran order; overwrites S."""
    S = np.asfortranarray(S)
    return _native.syevd(S), S


def solve_upper(buffer: Array, X: Array, *, transposed: bool = False) -> Array:
    """``R⁻¹ X`` (or ``R⁻ᵀ X``) for the upper triangle R of ``buffer``."""
    if not isinstance(buffer, np.ndarray):  # on a device
        return buffer.through("solve_upper", X, transposed)
    if X.shape[1] == 0 or buffer.shape[0] == 0:
        return np.array(X, dtype=buffer.dtype, order="F")
    trsm = _blas("trsm", buffer.dtype)
    result: Array = trsm(1.0, buffer, X, lower=0, trans_a=int(transposed))
    return result


def solve_transposed(U: Array, X: Array) -> Array:
    """``U⁻ᵀ X`` for an upper triangular U in any memory order, on the device of X; overwrites X."""
    if not isinstance(X, np.ndarray):  # on a device
        return np.asarray(U, like=X).through("solve_transposed", X)
    result: Array = solve_triangular(U, X, trans="T", overwrite_b=True, check_finite=False)
    return result


def subtract_outer(rows: Array, factors: Array, vector: Array) -> None:
    """``rows −= outer(factors, vector)`` in place, row by row, without a temporary array."""
    if not isinstance(rows, np.ndarray):  # on a device
        return rows.through("subtract_outer", factors, vector)
    for row, factor in zip(rows, factors, strict=True):
        row -= factor * vector


def invert_upper(R: Array) -> Array:
    """``R⁻¹`` of an upper triangular R with zeros below; overwrites R."""
    if not isinstance(R, np.ndarray):  # on a device
        R.through("invert_upper")
        return R
    trtri = _lapack("trtri", R.dtype)
    inverse: Array
    inverse, info = trtri(R, lower=0, overwrite_c=1)
    assert info == 0
    return inverse


def reciprocal_condition(buffer: Array, norm: float) -> float:
    """Estimate of ``1 / (‖S‖₁ ‖S⁻¹‖₁)`` from the Cholesky factor in the upper triangle, O(n²)."""
    if not isinstance(buffer, np.ndarray):  # on a device
        return buffer.through("reciprocal_condition", norm)
    pocon = _lapack("pocon", buffer.dtype)
    rcond, info = pocon(buffer, norm)
    assert info == 0
    return float(rcond)


def small_cholesky(S: Array) -> tuple[Array, int]:
    """Lower L of a small ``S = L Lᵀ`` and 0, or the 1-based index of the first bad pivot."""
    if not isinstance(S, np.ndarray):  # on a device
        # Small: faster by LAPACK, whatever the way there.
        L, info = small_cholesky(np.asarray(S))
        return np.asarray(L, like=S), info
    if S.size == 1 and S[0, 0] > 0:
        return np.sqrt(S), 0
    potrf = _lapack("potrf", S.dtype)
    L, info = potrf(S, lower=1, clean=1)
    return L, int(info)


def complex_cholesky(S: Array) -> Array:
    """Lower L of a small complex symmetric ``S = L Lᵀ``, not conjugated and without pivoting.

    If one of the real and imaginary parts is definite and the other semi-definite, no pivot is
    zero and no entry grows threefold (docs/maths/fisher.md). Otherwise a zero pivot yields
    non-finite numbers; the caller must check the diagonal.
    """
    if not isinstance(S, np.ndarray):  # on a device
        return np.asarray(complex_cholesky(np.asarray(S)), like=S)
    if len(S) > _UNBLOCKED:
        return _blocked_complex_cholesky(S)
    L = np.tril(S)
    with np.errstate(divide="ignore", invalid="ignore"):
        for j in range(len(L)):
            L[j:, j] -= L[j:, :j] @ L[j, :j]
            L[j:, j] /= np.sqrt(L[j, j])
    return L


def _blocked_complex_cholesky(S: Array) -> Array:
    """`complex_cholesky` by halves, so that matrix products do most of the work."""
    half = len(S) // 2
    L = np.zeros_like(S)
    L[:half, :half] = complex_cholesky(S[:half, :half])
    L[half:, :half] = scale_by_cholesky(S[half:, :half], L[:half, :half])
    rest = S[half:, half:] - L[half:, :half] @ L[half:, :half].T
    L[half:, half:] = complex_cholesky(rest)
    return L


def scale_by_cholesky(U: Array, L: Array) -> Array:
    """``U L⁻ᵀ``, so that ``W Wᵀ = U (L Lᵀ)⁻¹ Uᵀ`` for the result W."""
    if L.size == 1:
        return U / L
    if not isinstance(U, np.ndarray):  # on a device
        return U.through("scale_by_cholesky", L)
    trsm = _blas("trsm", U.dtype)
    result: Array = trsm(1.0, L, U, side=1, lower=1, trans_a=1)
    return result


def solve_lower(L: Array, X: Array) -> Array:
    """``L⁻¹ X`` for a small lower triangular L."""
    if L.size == 1:
        return X / L
    if not isinstance(L, np.ndarray):  # on a device
        return L.through("solve_lower", X)
    trsm = _blas("trsm", L.dtype)
    result: Array = trsm(1.0, L, X, lower=1)
    return result
