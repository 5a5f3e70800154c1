"""A linear system A X = B that samples enter and leave, its solution held to the true A."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gramian._arrays import Array, solve_lower
from gramian.gram._cholesky import CholeskyFactor
from gramian.gram._errors import NotPositiveDefiniteError
from gramian.gram._factor import Factor
from gramian.gram._inverse import LiveInverse
from gramian.gram._qr import QRFactor
from gramian.gram._slots import RowBlock, SlotMatrix

FACTORS = ("auto", "inverse", "cholesky", "qr")

# Rows of A against which the solution and the inverse are measured after edits, and the number
# of edits after which the whole residual is taken.
_PROBES = 8
_FULL_CHECK = 64


@dataclass(frozen=True)
class Refactorization:
    """One rebuilding of the factor: why, at how many samples, after how many edits."""

    reason: str
    n_samples: int
    edits: int
    factor: str


def factorize(diagonal: Array, row_block: RowBlock, factor: str = "auto") -> tuple[Factor, float]:
    """Factor A, given by its diagonal and its blocks, and estimate its condition number.

    ``"auto"`` takes the explicit inverse while ``cond(A) ≤ 0.1 / √eps``, where its updates keep
    at least half of the digits between refinements, and the Cholesky factor beyond.

    Raises
    ------
    NotPositiveDefiniteError
        If A is not positive definite.
    MemoryError
        If A does not fit, before anything is allocated.
    """
    if factor == "qr":
        qr = QRFactor(diagonal, row_block)
        return qr, qr.condition()
    cholesky = CholeskyFactor(SlotMatrix(diagonal, row_block))
    condition = cholesky.condition()
    invertible = condition <= 0.1 / np.sqrt(np.finfo(cholesky.dtype).eps)
    if factor == "inverse" or (factor == "auto" and invertible):
        return LiveInverse(cholesky.matrix, cholesky_done=True), condition
    return cholesky, condition


class LiveSystem:
    """``A X = B`` with rows that come and go, X exact to the rounding error of a fresh solve.

    X follows each edit in O(n t) where the factor gives the low-rank change of P, and is solved
    anew on the next read otherwise. Before it is read, it is measured on a few rows of the true A
    (on all of them every 64 edits) and refined if the residual is above

        max(2¹² eps max|B|,  4 eps ‖A‖₁ max|X|),

    the larger of what is wanted and what a fresh solve can reach. If P itself has drifted, or
    refinement stalls, the factor is rebuilt and the event is recorded.

    Parameters
    ----------
    diagonal : ndarray of shape (n,)
        Of A.
    row_block : callable
        ``row_block(rows, columns)`` gives that block of A; see `SlotMatrix`.
    B : ndarray of shape (n, t)
    factor : {"auto", "inverse", "cholesky", "qr"}

    Attributes
    ----------
    factor : Factor
    condition : float
        Estimate of the condition number of A when it was last factored.
    refactorizations : list of Refactorization
    edits : int
        Samples that have entered or left since the start.
    """

    _X: Array | None  # None: to be solved anew on the next read

    def __init__(self, diagonal: Array, row_block: RowBlock, B: Array, factor: str = "auto"):
        self._wanted = factor
        self.B = np.asarray(B, dtype=diagonal.dtype)
        self.factor, self.condition = factorize(diagonal, row_block, factor)
        self.refactorizations: list[Refactorization] = []
        self.edits = 0
        self._start()

    @property
    def n(self) -> int:
        return self.factor.n

    # -- edits ----------------------------------------------------------------------------------

    def append(self, cross: Array, corner: Array, B: Array) -> None:
        """Enter k samples with their rows of B (which may bring new columns); atomic.

        Raises
        ------
        NotPositiveDefiniteError
            If A would not stay positive definite, also after refactoring.
        """
        cross, corner = (np.asarray(block, dtype=self.factor.dtype) for block in (cross, corner))
        W = self._edit(lambda: self.factor.append(cross, corner))
        extra = B.shape[1] - self.B.shape[1]
        self.B = np.vstack([np.pad(self.B, ((0, 0), (0, extra))), B.astype(self.B.dtype)])
        if W is None or self._X is None:
            self._X = None
        else:
            self._X = np.pad(self._X, ((0, len(B)), (0, extra))) + W @ (W.T @ self.B)
        self._count(len(B))

    def remove(self, positions: Array) -> None:
        """Take samples out; atomic."""
        W = self._edit(lambda: self.factor.remove(positions))
        if W is None or self._X is None:
            self._X = None
        else:
            change = W @ solve_lower(W[positions], self._X[positions])
            self._X = np.delete(self._X - change, positions, axis=0)
        self.B = np.delete(self.B, positions, axis=0)
        self._count(len(positions))

    def select_columns(self, columns: Array) -> None:
        """Keep these columns of B and X only."""
        self.B = self.B[:, columns]
        self._X = None if self._X is None else self._X[:, columns]

    def refactor(self, reason: str = "asked for") -> None:
        """Rebuild the factor from A and solve anew, O(n³)."""
        if self._wanted == "auto":
            held, all_rows = self.factor, np.arange(self.n)
            self.factor, self.condition = factorize(
                held.matrix_diagonal(), lambda rows, cols: held.rows(all_rows[rows])[:, cols]
            )
        else:
            self.factor.refactor()
        event = Refactorization(reason, self.n, self.edits, self.factor.name)
        self.refactorizations.append(event)
        self._start()

    # -- reads ----------------------------------------------------------------------------------

    def solution(self) -> Array:
        """X, shape (n, t)."""
        self._verify()
        assert self._X is not None
        return self._X

    def inverse_diagonal(self) -> Array:
        """``diag(A⁻¹)``."""
        self._verify()
        return self.factor.diagonal()

    def inverse_square_diagonal(self, weights: Array) -> Array:
        """``diag(A⁻¹ diag(weights) A⁻¹)``."""
        self._verify()
        return self.factor.square_diagonal(weights)

    def solve(self, B: Array) -> Array:
        """``A⁻¹ B`` for another right-hand side, held to the true system."""
        self._verify()
        return self.factor.solve(np.asarray(B, dtype=self.factor.dtype))[0]

    def drift(self) -> float:
        """The residual ``max |B − A X| / max |B|`` of the present solution, on all rows."""
        X = self.factor.apply_inverse(self.B) if self._X is None else self._X
        return float(np.abs(self.B - self.factor.multiply(X)).max() / np.abs(self.B).max())

    # -- inside ---------------------------------------------------------------------------------

    def _start(self) -> None:
        self._X, _ = self.factor.solve(self.B)
        self._norm = self.factor.norm()
        self._unchecked = self._since_full_check = self._probe = 0
        # A fresh inverse has a drift of its own, cond(A) eps or so. It is rebuilt at a hundred
        # times that, or where little more than half of the digits of leave-one-out values are left.
        fresh = self.factor.inverse_drift(self._probes())
        self._inverse_tolerance = max(1e2 * fresh, 1e-1 * np.sqrt(np.finfo(self.B.dtype).eps))

    def _edit(self, edit: Callable[[], Array | None]) -> Array | None:
        """Run an edit; if a drifted factor makes it fail, rebuild and run it once more."""
        try:
            return edit()
        except NotPositiveDefiniteError as error:
            if not self._since_refactor():
                raise
            self.refactor(f"an edit failed: {error}")
            return edit()

    def _since_refactor(self) -> int:
        return self.edits - (self.refactorizations[-1].edits if self.refactorizations else 0)

    def _count(self, k: int) -> None:
        self.edits += k
        self._unchecked += k
        self._since_full_check += k

    def _probes(self) -> Array:
        """A few rows, other ones each time, spread evenly by the golden ratio."""
        steps = self._probe + np.arange(min(_PROBES, self.n))
        self._probe += _PROBES
        return np.unique((steps * 0.6180339887498949 % 1.0 * self.n).astype(int))

    def _tolerance(self) -> float:
        eps = float(np.finfo(self.B.dtype).eps)
        wanted = 2**12 * np.abs(self.B).max(initial=0.0)
        reachable = 4 * self._norm * np.abs(self._X).max(initial=0.0)  # type: ignore[arg-type]
        return eps * float(max(wanted, reachable))

    def _verify(self) -> None:
        """Bring X to within tolerance of the true system, and P to within its own."""
        if self._X is None:
            self._X, _ = self.factor.solve(self.B)
            self._since_full_check = 0
        elif self._unchecked:
            self._check()
        self._unchecked = 0

    def _check(self) -> None:
        assert self._X is not None
        probes = self._probes()
        drift = self.factor.inverse_drift(probes)
        if drift > self._inverse_tolerance:
            self.refactor(
                f"the inverse drifted to {drift:.1e}, above {self._inverse_tolerance:.1e}"
            )
            return
        residual = np.abs(self.B[probes] - self.factor.rows(probes) @ self._X).max(initial=0.0)
        if residual > self._tolerance() or self._since_full_check >= _FULL_CHECK:
            self._X, error = self.factor.solve(self.B, start=self._X)
            self._since_full_check = 0
            if error > 16 * self._tolerance():
                self.refactor(f"refinement stalled at a residual of {error:.1e}")
