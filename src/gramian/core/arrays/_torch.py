"""The array operations for torch tensors: blocked and in place, so that one buffer is enough.

Torch has no in-place symmetric product, factorisation or inverse, and a second copy of a matrix of
100,000 samples does not fit on a GPU. All functions here work on blocks of `BLOCK` rows and columns
of the *upper* triangle and leave the strict lower triangle as it is, because it holds another
matrix. Each costs n³/3 operations, or half a pass over the matrix for each of its two products.
Factors and inverses of float32 matrices are computed in float64, a block at a time, and rounded
when they are stored: sums over n numbers would lose digits, and such a GPU is as fast in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

BLOCK, WIDE = 2048, 8192
MULTIPLIED = ADDED = 1024
ROTATED = 256
SOLVED = 512
FAR, FEW_PAIRS = 64.0, 2**22
Tensor = Any


def _blocks(n: int, size: int | None = None) -> Iterator[slice]:
    size = size or BLOCK
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def _write_upper(square: Tensor, values: Tensor) -> None:
    """Replace the upper triangle of a square block, and keep what is below it."""
    square.copy_(torch.tril(square, -1) + torch.triu(values))


def _double(block: Tensor) -> Tensor:
    """A float32 block in float64; any other as it is, not a copy."""
    return block.double() if block.dtype == torch.float32 else block


def symmetric_product(buffer: Tensor, X: Tensor, lower: bool) -> Tensor:
    """``S @ X`` for the symmetric S in one triangle."""
    S, out = buffer.T if lower else buffer, torch.zeros_like(X)
    for J in _blocks(len(S), MULTIPLIED):
        upper = torch.triu(S[J, J])
        out[J].addmm_(upper, X[J]).addmm_(upper.T, X[J])
        out[J] -= upper.diagonal()[:, None] * X[J]  # which both triangles have
        rest = S[J, J.stop :]
        out[J].addmm_(rest, X[J.stop :])
        out[J.stop :].addmm_(rest.T, X[J])
    return out


def add_outer(buffer: Tensor, W: Tensor, sign: float) -> None:
    """``S += sign · W Wᵀ``."""
    if not W.shape[1]:
        return
    for J in _blocks(len(buffer), ADDED):
        buffer[J, J] += torch.triu(sign * (W[J] @ W[J].T))
        buffer[J, J.stop :].addmm_(W[J], W[J.stop :].T, alpha=sign)


def add_cross(buffer: Tensor, X: Tensor, Y: Tensor, sign: float) -> None:
    """``S += sign · (X Yᵀ + Y Xᵀ)``, below the diagonal as well."""
    buffer.addmm_(X, Y.T, alpha=sign).addmm_(Y, X.T, alpha=sign)


def weighted_square(W: Tensor, weight: Tensor) -> Tensor:
    """``W diag(weight) Wᵀ``, below the diagonal as well."""
    return (W * weight) @ W.T


def factor_cholesky(buffer: Tensor) -> int:
    """Replace S by R with ``S = RᵀR``, left-looking; return 0 or the 1-based bad pivot."""
    for J in _blocks(len(buffer)):
        above = _double(buffer[: J.start, J])
        square = _double(torch.triu(buffer[J, J]))
        square = square + torch.triu(square, 1).T - above.T @ above
        R, info = torch.linalg.cholesky_ex(square, upper=True)
        if int(info):
            _write_upper(buffer[J, J], square)
            return int(J.start + int(info))
        _write_upper(buffer[J, J], R)
        for start in range(J.stop, len(buffer), WIDE):
            K = slice(start, start + WIDE)
            rest = torch.addmm(
                _double(buffer[J, K]), above.T, _double(buffer[: J.start, K]), alpha=-1
            )
            buffer[J, K] = torch.linalg.solve_triangular(R.T, rest, upper=False)
    return 0


def invert_cholesky(buffer: Tensor) -> None:
    """Replace R by ``T = R⁻¹``, then T by ``P = T Tᵀ``."""
    invert_upper(buffer)
    for J in _blocks(len(buffer)):
        own = _double(buffer[J, J.start :].clone())  # T[J, J:], a triangle and what is right of it
        own[:, : J.stop - J.start] = torch.triu(own[:, : J.stop - J.start])
        for rows in _blocks(J.start):
            buffer[rows, J] = (_double(buffer[rows, J.start :]) @ own.T).to(buffer.dtype)
        _write_upper(buffer[J, J], own @ own.T)


def invert_upper(buffer: Tensor) -> None:
    """Replace R by ``R⁻¹``: block columns from the left, in each the block rows from the top."""
    for J in _blocks(len(buffer)):
        square = _double(torch.triu(buffer[J, J]))
        eye = torch.eye(len(square), dtype=square.dtype, device=buffer.device)
        T = torch.linalg.solve_triangular(square, eye, upper=True)
        M = _double(buffer[: J.start, J]) @ T
        for rows in _blocks(J.start):
            product = _double(torch.triu(buffer[rows, rows])) @ M[rows]
            product.addmm_(_double(buffer[rows, rows.stop : J.start]), M[rows.stop :])
            buffer[rows, J] = -product
        _write_upper(buffer[J, J], T)


def solve_upper(buffer: Tensor, X: Tensor, transposed: bool) -> Tensor:
    """``R⁻¹ X`` or ``R⁻ᵀ X``."""
    X = X.clone()
    for J in _blocks(len(buffer)) if transposed else reversed(list(_blocks(len(buffer)))):
        R = torch.triu(buffer[J, J])
        if transposed:
            X[J] = torch.linalg.solve_triangular(R.T, X[J], upper=False)
            X[J.stop :].addmm_(buffer[J, J.stop :].T, X[J], alpha=-1)
        else:
            X[J].addmm_(buffer[J, J.stop :], X[J.stop :], alpha=-1)
            X[J] = torch.linalg.solve_triangular(R, X[J], upper=True)
    return X


def solve_transposed(U: Tensor, X: Tensor) -> Tensor:
    """``U⁻ᵀ X`` in place of X, for many columns: all but small inverses is products of matrices."""
    for J in _blocks(len(U), SOLVED):
        eye = torch.eye(J.stop - J.start, dtype=U.dtype, device=U.device)
        T = torch.linalg.solve_triangular(torch.triu(U[J, J]), eye, upper=True)
        rest = torch.addmm(X[J], U[: J.start, J].T, X[: J.start], alpha=-1)
        X[J] = T.T @ rest
    return X


def reciprocal_condition(buffer: Tensor, norm: float) -> float:
    """Estimate of ``1 / (‖S‖₁ ‖S⁻¹‖₁)`` by Hager's ascent and Higham's alternating vector."""
    n = len(buffer)

    def solved(x: Tensor) -> Tensor:
        return solve_upper(buffer, solve_upper(buffer, x, True), False)

    x = torch.full((n, 1), 1.0 / n, dtype=buffer.dtype, device=buffer.device)
    largest = 0.0
    for _ in range(5):
        y = solved(x)
        largest = max(largest, float(y.abs().sum()))
        z = solved(torch.where(y < 0, -1.0, 1.0).to(y.dtype))
        j = int(z.abs().argmax())
        if float(z[j].abs()) <= float((z * x).sum()):
            break
        x = torch.zeros_like(x)
        x[j] = 1.0
    steps = torch.arange(n, dtype=buffer.dtype, device=buffer.device)[:, None]
    alternating = (1.0 - 2.0 * (steps % 2)) * (1.0 + steps / max(n - 1, 1))
    largest = max(largest, 2.0 * float(solved(alternating).abs().sum()) / (3.0 * n))
    return 1.0 / (norm * largest) if norm * largest > 0 else 0.0


def add_rows_to_cholesky(buffer: Tensor, rows: Tensor) -> None:
    """Replace R by the R of ``RᵀR + rowsᵀ rows``: blocks of R and the rows by Householder."""
    rows = rows.clone()
    for start in range(0, len(buffer), ROTATED):
        J = slice(start, min(start + ROTATED, len(buffer)))
        width = J.stop - start
        Q, R = torch.linalg.qr(torch.cat([torch.triu(buffer[J, J]), rows[:, J]]), mode="complete")
        _write_upper(buffer[J, J], R[:width])
        turned = Q.T @ torch.cat([buffer[J, J.stop :], rows[:, J.stop :]])
        buffer[J, J.stop :] = turned[:width]
        rows[:, J.stop :] = turned[width:]


def scale_by_cholesky(U: Tensor, L: Tensor) -> Tensor:
    """``U L⁻ᵀ``."""
    return torch.linalg.solve_triangular(L.T, U.to(L.dtype), upper=True, left=False)


def solve_lower(L: Tensor, X: Tensor) -> Tensor:
    """``L⁻¹ X``."""
    return torch.linalg.solve_triangular(L, X, upper=False)


def clear_slot(buffer: Tensor, slot: int) -> None:
    """Set a row and a column to zero.

    The numbers of a column are named one by one: torch divides what reaches over more than 2 GB,
    such as the column of a large matrix, into as many parts as it takes.
    """
    buffer[slot] = 0.0
    buffer.view(-1)[torch.arange(slot, buffer.numel(), len(buffer), device=buffer.device)] = 0.0


def subtract_outer(rows: Tensor, factors: Tensor, vector: Tensor) -> None:
    """``rows −= outer(factors, vector)``."""
    rows.addr_(factors.to(rows.dtype), vector, alpha=-1)


def triangle_rows(buffer: Tensor, rows: Tensor, lower: bool) -> Tensor:
    """Rows (k, n) of the symmetric matrix in one triangle, with the diagonal that is stored."""
    before = torch.arange(len(buffer), device=buffer.device) < rows[:, None]
    return torch.where(before == lower, buffer[rows], buffer[:, rows].T)


def factor_columns(
    buffer: Tensor, diagonal: Tensor, W: Tensor, signs: Tensor, slots: list[int]
) -> Tensor:
    """Columns (n, k) of an upper triangle, with its diagonal, plus ``W diag(signs) Wᵀ``."""
    if len(slots) == 1:  # mostly
        (j,) = slots
        out = torch.cat([buffer[:j, j], diagonal[j : j + 1], buffer[j, j + 1 :]])[:, None]
        return out.addmm_(W, (signs * W[j])[:, None])
    places = torch.tensor(slots, device=buffer.device)
    out = triangle_rows(buffer, places, False).T
    out[places, torch.arange(len(slots), device=buffer.device)] = diagonal[places]
    return torch.addmm(out, W, signs[:, None] * W[places].T)


def distances(X: Tensor, Y: Tensor, p: float) -> Tensor:
    """‖x − y‖_p for all pairs, each from the differences of its two samples."""
    mode: Any = "donot_use_mm_for_euclid_dist"
    return torch.cdist(X, Y, p=p, compute_mode=mode)


def times_log(K: Tensor) -> Tensor:
    """``K log K``, 0 where K is 0."""
    return torch.xlogy(K, K)


def squares(X: Tensor, Y: Tensor, gamma: float) -> Tensor:
    """−gamma ‖x − y‖² for all pairs.

    One product of matrices gives ``‖x − c‖² + ‖y − c‖² − 2 (x − c)·(y − c)`` for a centre c, with
    an error of about eps times the first two terms. Where gamma times these may exceed `FAR`, so
    that an exponent could be 1e-13 off, and for a few pairs, the differences are squared instead.
    """
    if len(X) * len(Y) > FEW_PAIRS and X.dtype == torch.float64:
        centre = Y[:: -(-len(Y) // 64)].median(dim=0).values
        A, B = X - centre, Y - centre
        a, b = gamma * A.square().sum(1, keepdim=True), gamma * B.square().sum(1, keepdim=True)
        if float(a.max() + b.max()) < FAR:  # False for NaN
            left = torch.cat([2.0 * gamma * A, -a, torch.ones_like(a)], dim=1)
            right = torch.cat([B, torch.ones_like(b), -b], dim=1)
            return (left @ right.T).clamp_(max=0.0)
    values = distances(X, Y, 2.0)
    return values.square_().mul_(-gamma)
