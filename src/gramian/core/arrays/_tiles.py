"""Factors, inverses and products of a large matrix by blocks, which are computed side by side.

All work in place on the upper triangle of a Fortran-ordered buffer and keep the strict lower one,
as `_blas` does. With block rows and columns J and K and "after J" for those to its right::

    S = RᵀR       R[J, K] = R_JJ⁻ᵀ (S[J, K] − R[:J, J]ᵀ R[:J, K])      block rows from the top
    T = R⁻¹       T[K, J] = −T[K, K:J] R[K:J, J] T_JJ                   block columns from the left
    P = T Tᵀ      P[K, J] = T[K, J] T_JJᵀ + T[K, after J] T[J, after J]ᵀ   likewise

The blocks depend on the size of the matrix alone, so that the number of threads does not change a
bit of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isqrt
from typing import TypeVar

import numpy as np

from gramian.core.arrays._native import (
    gemm,
    is_native,
    lauum,
    potrf,
    syrk,
    trmm,
    trsm,
    trtri,
)
from gramian.core.arrays._threads import side_by_side
from gramian.core.arrays._types import Array

Result = TypeVar("Result")

LARGE = 700
"""Rows from which on a matrix is divided."""
_LEAST, _MOST, _BLOCKS, _UNIT = 256, 512, 8, 64
_THIN = 2**27
"""Multiplications up to which one product of a whole matrix is faster than those of its blocks."""


def each_block(
    function: Callable[[slice], Result], blocks: Iterable[slice], numbers: int
) -> list[Result]:
    """``function(block)`` for blocks of a matrix, side by side if it has many numbers.

    Blocks take a millisecond or two, and then threads wait for one another. So they are given to
    half as many threads as the same number of samples would have by itself.
    """
    if numbers < LARGE**2:
        return [function(block) for block in blocks]
    return side_by_side(function, blocks, isqrt(numbers) // 2)


def is_large(buffer: Array) -> bool:
    """Whether a square buffer is divided into blocks."""
    return len(buffer) >= LARGE and is_native(buffer)


def blocks_of(n: int) -> list[slice]:
    """Eight blocks of n rows if they then have 256 to 512, or as many of such sizes as it takes."""
    size = min(max(-(-n // (_BLOCKS * _UNIT)) * _UNIT, _LEAST), _MOST)
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def factor_tiles(buffer: Array) -> int:
    """Replace S by R with ``S = RᵀR``; return 0 or the 1-based bad pivot."""
    blocks = blocks_of(len(buffer))
    for j, J in enumerate(blocks):
        above = slice(0, J.start)

        def subtract(K: slice, J: slice = J, above: slice = above) -> None:
            if K == J:
                syrk(-1.0, buffer[above, J], buffer[J, J], b"T")
            else:
                gemm(-1.0, buffer[above, J], buffer[above, K], 1.0, buffer[J, K], b"TN")

        def solve(K: slice, J: slice = J) -> None:
            trsm(buffer[J, J], buffer[J, K])

        if j:
            each_block(subtract, blocks[j:], buffer.size)
        bad = potrf(buffer[J, J])
        if bad:
            return int(J.start + bad)
        each_block(solve, blocks[j + 1 :], buffer.size)
    return 0


def invert_tiles(buffer: Array) -> None:
    """Replace R by ``(RᵀR)⁻¹``."""
    blocks = blocks_of(len(buffer))
    for j in range(len(blocks)):
        _invert_column(buffer, blocks[:j], blocks[j])
    for j in range(len(blocks)):
        _multiply_column(buffer, blocks[:j], blocks[j])


def _invert_column(buffer: Array, rows: list[slice], J: slice) -> None:
    """Replace R[:J, J] by T[:J, J], where T is known left of it."""
    bad = trtri(buffer[J, J])
    assert bad == 0, "a Cholesky factor has no zero on its diagonal"
    M = np.empty((J.start, J.stop - J.start), dtype=buffer.dtype, order="F")

    def scale(K: slice) -> None:
        M[K] = buffer[K, J]
        trmm(b"R", 1.0, buffer[J, J], M[K])

    def multiply(K: slice) -> None:
        T = buffer[K, J]
        T[...] = M[K]
        trmm(b"L", -1.0, buffer[K, K], T)
        if K.stop < J.start:
            gemm(-1.0, buffer[K, K.stop : J.start], M[K.stop :], 1.0, T)

    each_block(scale, rows, buffer.size)
    each_block(multiply, rows, buffer.size)


def _multiply_column(buffer: Array, rows: list[slice], J: slice) -> None:
    """Replace T[:J, J] by P[:J, J], and the triangle T_JJ."""
    after = slice(J.stop, len(buffer))

    def multiply(K: slice) -> None:
        trmm(b"R", 1.0, buffer[J, J], buffer[K, J], b"T")
        if J.stop < len(buffer):
            gemm(1.0, buffer[K, after], buffer[J, after], 1.0, buffer[K, J], b"NT")

    each_block(multiply, rows, buffer.size)
    lauum(buffer[J, J])
    if J.stop < len(buffer):
        syrk(1.0, buffer[J, after], buffer[J, J])


def add_outer_tiles(buffer: Array, W: Array, sign: float) -> None:
    """``S += sign · W Wᵀ`` for W in Fortran order; a thin W by one product."""
    if W.size * len(W) < _THIN:
        return syrk(sign, W, buffer)

    def add(J: slice) -> None:
        if J.start:
            above = slice(0, J.start)
            gemm(sign, W[above], W[J], 1.0, buffer[above, J], b"NT")
        syrk(sign, W[J], buffer[J, J])

    each_block(add, reversed(blocks_of(len(buffer))), buffer.size)
