"""A linear system A X = B that gains and loses samples, with X refined against the true A."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gramian.core.arrays import Array, on_device, plus_outer, solve_lower, without_rows
from gramian.core.gram._cholesky import CholeskyFactor
from gramian.core.gram._errors import NotPositiveDefiniteError
from gramian.core.gram._factor import Factor, SlotFactor
from gramian.core.gram._inverse import LiveInverse
from gramian.core.gram._qr import QRFactor
from gramian.core.gram._resolvent import LiveResolvent
from gramian.core.gram._single import SINGLE, SingleInverse, TrueRows
from gramian.core.gram._slots import RowBlock, SlotMatrix

FACTORS = ("auto", "inverse", "cholesky", "qr")

# Number of rows of A on which solution and inverse are checked after edits, and the number of
# edits after which the full residual is computed.
_PROBES = 8
# A single edit looks at one row of A itself, that of the sample which comes or goes. Up to so many
# such edits, and up to such a condition number, a read need not look at others: measured, an edit
# changes decision values by 1e-8 cond² eps then, and a read may leave 2¹² eps.
_UNREAD, _LOOKED = 16, 1e5
# Multiples of these, modulo 1, are spread evenly, and no two of them coincide.
_IRRATIONAL = (0.6180339887498949, 0.7548776662466927)
_FULL_CHECK = 64
# The explicit inverse serves up to this condition number, 0.1 / √eps. On a device it serves longer:
# edits of the Cholesky factor cost a hundred times as much there.
_INVERTIBLE = {
    np.dtype(kind): 0.1 / float(np.sqrt(np.finfo(kind).eps)) for kind in (np.float32, np.float64)
}
_LONGER = 1e3
# In single precision, solutions have all their digits there, and leave-one-out values three.
_SINGLE = 2e7
# A resolvent is rebuilt after edits where its condition number times eps, or the ratio of the
# largest weight to the smallest, exceeds these.
_FRAGILE, _SPREAD = 1e-3, 1e6
# A residual of so many eps is accurate enough, in double and in single precision.
_ROOM, _LITTLE_ROOM = 2.0**12, 2.0**6
# A solution with a larger residual than this, relative to B, is trusted from a fresh factor alone:
# where A is that ill-conditioned, updates may lead far astray while the residual says little.
_POOR = 1e-3
# Removing a sample whose k(x, x) is this many times the next largest requires a rebuild.
_DOMINATES = 1e3


@dataclass(frozen=True)
class Rebuild:
    """Record of one rebuild of the factor: why, at how many samples, after how many edits."""

    reason: str
    n_samples: int
    edits: int
    factor: str


def factorize(diagonal: Array, row_block: RowBlock, factor: str = "auto") -> tuple[Factor, float]:
    """Factor A, given by its diagonal and its blocks, and estimate its condition number.

    ``"auto"`` selects the explicit inverse while ``cond(A) ≤ 0.1 / √eps``, and otherwise the
    Cholesky factor, whose updates lose no digits. A complex A needs ``"resolvent"``, and
    ``"single"`` a ``row_block`` as `LiveSystem` describes it.

    Raises
    ------
    NotPositiveDefiniteError
        If A is not positive definite.
    MemoryError
        If A does not fit into memory; raised before anything is allocated.
    """
    if factor == "qr":
        qr = QRFactor(diagonal, row_block)
        return qr, qr.condition()
    return factorize_slots(SlotMatrix(diagonal, row_block, factor == SINGLE), factor, row_block)


def factorize_slots(
    matrix: SlotMatrix, factor: str, true_rows: TrueRows | None = None
) -> tuple[Factor, float]:
    """Factor the A stored in ``matrix``, within its storage; see `factorize`."""
    if factor == LiveResolvent.name:
        resolvent = LiveResolvent(matrix)
        return resolvent, resolvent.condition()
    cholesky = CholeskyFactor(matrix)
    condition = cholesky.condition()
    if factor == SINGLE:
        assert true_rows is not None
        return SingleInverse(matrix, true_rows), condition
    if factor == "inverse" or (factor == "auto" and condition <= _most_inverted(matrix.buffer)):
        return LiveInverse(matrix, cholesky_done=True), condition
    return cholesky, condition


def _most_inverted(array: Array) -> float:
    """The condition number up to which the explicit inverse serves, in this precision and place."""
    return _INVERTIBLE.get(array.dtype, 0.0) * (_LONGER if on_device(array) else 1.0)


class LiveSystem:
    """Solves ``A X = B`` while rows are added and removed, as accurately as a fresh solve.

    An edit updates X in O(n t) if the factor returns the low-rank change of P; otherwise the next
    read solves for X again. An edit of one sample checks X, and what it takes from P, on the row of
    the true A that comes or goes. A read checks both on a few rows more (X on all rows every 64
    edits) if there were other edits, or many, or if the condition of A lets few of them lose
    digits; it refines X if the residual is above

        max(2¹² eps max|B|,  eps ‖A‖ max|X|),

    the larger of the accuracy wanted (2⁶ eps in single precision) and that of a fresh solve. If P
    itself has drifted, or refinement stalls, the factor is rebuilt and the event recorded. Under
    ``"auto"``, an inverse that drifts within n/4 edits is replaced by the Cholesky factor, which
    does not drift: rebuilding the inverse that often would cost more.

    Parameters
    ----------
    diagonal : ndarray of shape (n,)
        Diagonal of A.
    row_block : callable
        ``row_block(rows, columns)`` returns that block of A; see `SlotMatrix`.
    B : ndarray of shape (n, t)
    factor : {"auto", "inverse", "single", "cholesky", "qr", "resolvent"}
        For "single", ``row_block`` must follow the edits, take positions in place of slices, and
        return float64: see `SingleInverse`.

    Attributes
    ----------
    factor : Factor
    condition : float
        Estimate of the condition number of A when it was last factored.
    rebuilds : list of Rebuild
    edits : int
        Number of samples added or removed since the start.
    """

    factor: Factor
    condition: float
    edits: int

    _X: Array | None  # None: the next read solves for it
    _steep: bool
    _reached: float  # a condition number that A may have by now

    def __init__(self, diagonal: Array, row_block: RowBlock, B: Array, factor: str = "auto"):
        self._wanted = factor
        self.B = np.array(B, dtype=diagonal.dtype, order="F", like=diagonal)
        self._eps = float(np.finfo(self.B.dtype).eps)
        self._room = _ROOM if np.finfo(self.B.dtype).bits > 32 else _LITTLE_ROOM
        self._on_host = isinstance(self.B, np.ndarray)
        self._invertible = _most_inverted(self.B)
        self.factor, self.condition = factorize(diagonal, row_block, factor)
        self._true_rows = row_block if factor == SINGLE else None
        self.rebuilds: list[Rebuild] = []
        self.edits = 0
        self._start()
        if self._true_rows is not None:
            self._solve_in_double()

    @property
    def n(self) -> int:
        return self.factor.n

    # -- edits ----------------------------------------------------------------------------------

    def append(self, cross: Array, corner: Array, B: Array) -> None:
        """Add k samples with their rows of B (which may have new columns); atomic.

        Raises
        ------
        NotPositiveDefiniteError
            If A would not stay positive definite, even after a rebuild of the factor.
        """
        dtype, (n, columns) = self.B.dtype, self.B.shape
        like = None if self._on_host else self.B
        cross = np.asarray(cross, dtype=dtype, like=like)
        corner = np.asarray(corner, dtype=dtype, like=like)
        B = np.asarray(B, dtype=dtype, like=like)
        if B.ndim != 2 or len(B) != len(corner) or B.shape[1] < columns:
            raise ValueError(
                f"B must have a row for each of {len(corner)} samples and at least {columns} "
                f"columns, got shape {B.shape}."
            )
        W = self._edit(len(B), lambda: self._enter(cross, corner))
        self._largest = self._largest_with(corner)
        known, self.B = self._X, _concatenated(self.B, B)
        if W is None:
            self._X = None
            return
        # The new diagonal of P, at least: the inverse may serve A no longer.
        if W.ndim == 1:
            steepest = float(W[n]) ** 2
        else:
            steepest = float(np.square(np.abs(W[n:])).sum(axis=1).max(initial=0.0))
        self._reached = max(self._reached, self._largest * steepest)
        if self._wanted == "auto" and self._largest * steepest > self._invertible:
            self._steep = True
        if known is None:
            return
        if B.shape[1] > columns:
            known = np.pad(known, ((0, 0), (0, B.shape[1] - columns)))
        # Drift in P shows first in the new rows, which are known here: refine by them with the new
        # columns W W[new]ᵀ of P.
        if W.ndim == 1:
            k, last, C = cross[:, 0], float(W[n]), W.dot(self.B)
            met = float(k.dot(W[:n])) + float(corner[0, 0]) * last
            residual = B[0] - k.dot(known) - met * C
            self._look(residual)
            known = np.concatenate([known, np.zeros_like(B)])
            self._X = plus_outer(known, W, C + last * residual)
            return
        C, new = W.T @ self.B, W[n:]
        residual = B - cross.T @ known - (cross.T @ W[:n] + corner @ new) @ C
        self._X = W @ (C + new.T @ residual)
        self._X[:n] += known

    def remove(self, positions: Array) -> None:
        """Remove samples; atomic."""
        inverse = self._takes_vectors(len(positions))
        looks = self._spares_a_check()
        row = inverse.matrix.row(positions[0]) if inverse is not None and looks else None
        before = self._largest or self.factor.largest()
        W = self._edit(len(positions), lambda: self._leave(positions))
        self._note_domination(before)
        known, B = self._X, self.B
        if W is None or known is None:
            self._X = None
        elif W.ndim == 1:
            i = positions[0]
            own = float(W[i])
            if row is not None:
                # With this row of A, the column w w_i of P should give 1, and X the row of B.
                self._look(B[i] - row.dot(known), float(row.dot(W)) * own - 1.0)
            self._X = without_rows(plus_outer(known, W, known[i] / -own), positions)
        else:
            change = W @ solve_lower(W[positions], known[positions])
            self._X = without_rows(known - change, positions)
        self.B = without_rows(B, positions)

    def moved(self, B: Array, X: Array, k: int) -> None:
        """Go on with B and X after k edits that left the factor in order; see `MovingSystem`."""
        self.B, self._X = np.asfortranarray(B), np.asfortranarray(X)
        self._largest = self.factor.largest()
        self._count(k)

    def select_columns(self, columns: Array) -> None:
        """Keep only these columns of B and X."""
        self.B = self.B[:, columns]
        self._X = None if self._X is None else self._X[:, columns]

    def rebuild(self, reason: str = "asked for", factor: str | None = None) -> None:
        """Rebuild the factor from A, in its own storage; O(n³). The next read solves for X."""
        if isinstance(self.factor, SlotFactor):
            wanted = factor or self._wanted
            self.factor, self.condition = factorize_slots(
                self.factor.matrix, wanted, self._true_rows
            )
        elif isinstance(self.factor, QRFactor):
            self.factor.rebuild()
            self.condition = self.factor.condition()
        event = Rebuild(reason, len(self.B), self.edits, self.factor.name)
        self.rebuilds.append(event)
        self._start()

    # -- reads ----------------------------------------------------------------------------------

    def solution(self) -> Array:
        """X, shape (n, t)."""
        if self._X is None or self._must_check():
            self._verify()
        assert self._X is not None
        return self._X

    def inverse_diagonal(self) -> Array:
        """``diag(A⁻¹)``."""
        self._verify_inverse()
        return self.factor.diagonal()

    def inverse_square_diagonal(self, weights: Array) -> Array:
        """``diag(A⁻¹ diag(weights) A⁻¹)``."""
        self._verify_inverse()
        return self.factor.square_diagonal(weights)

    def inverse_columns(self, positions: Array) -> Array:
        """Columns of ``A⁻¹``, as accurate as `inverse_diagonal`; refined in single precision."""
        if self._true_rows is not None:
            return self.solve(np.eye(self.n)[:, positions])
        self._verify()
        return self.factor.columns(positions)

    def solve(self, B: Array) -> Array:
        """``A⁻¹ B`` for another right-hand side, refined against the true A."""
        self._verify()
        return self.factor.solve(np.asarray(B, dtype=self.factor.dtype, like=self.B))[0]

    def apply_inverse(self, B: Array) -> Array:
        """``A⁻¹ B`` by the checked factor alone, one product; as accurate as `inverse_diagonal`.

        An inverse in single precision is not good enough for that: it solves.
        """
        if self._true_rows is not None:
            return self.solve(B)
        self._verify_inverse()
        return self.factor.apply_inverse(np.asarray(B, dtype=self.factor.dtype))

    def rounding(self, diagonal: Array) -> float:
        """Relative size of rounding errors in ``diag P``, given that: ``cond(A) eps``."""
        largest = float(np.abs(diagonal).max(initial=0.0)) * self.factor.largest()
        return max(self.condition, largest) * self._eps

    def drift(self) -> float:
        """The residual ``max |B − A X| / max |B|`` of the present solution, on all rows.

        Where there is none, one product with P gives it. Edits then update it, and the next read
        checks it.
        """
        if self._X is None:
            self._X = np.asarray(self.factor.apply_inverse(self.B), order="F", like=self.B)
            self._unchecked += 1
            self._unseen += 1
        residual = float(np.abs(self.B - self.factor.multiply(self._X)).max(initial=0.0))
        return residual / (float(np.abs(self.B).max(initial=0.0)) or 1.0)

    # -- inside ---------------------------------------------------------------------------------

    def _start(self) -> None:
        """Reset the checks for a fresh factor; the next read solves for X."""
        self._X = None
        self._unchecked = self._since_full_check = self._probe = self._unseen = 0
        self._inverse_checked = self.edits
        self._largest, self._dominated, self._steep = 0.0, False, False
        self._reached = self.condition  # or more, as samples came that nearly repeat others
        self._allowed = 0.0  # of a residual; known once X was checked
        # A fresh inverse already has a drift of up to cond(A) eps. It is rebuilt at a hundred times
        # that, or when barely half of the digits of leave-one-out values would be correct.
        eps = float(np.finfo(np.float32 if self._wanted == SINGLE else self.B.dtype).eps)
        self._inverse_tolerance = max(1e2 * self.condition * eps, eps**0.5)
        self._whole_tolerance = max(1e1 * self.condition * eps, eps**0.5)
        # Where a real A gets the Cholesky factor, a complex one is refined at every read.
        self._delicate = self.factor.name == LiveResolvent.name and self.condition > 0.1 / eps**0.5

    def _edit(self, k: int, edit: Callable[[], Array | None]) -> Array | None:
        """Run an edit of the factor by k samples and count it.

        If it fails because P drifted, the factor is rebuilt and the edit tried again.
        """
        try:
            W = edit()
        except NotPositiveDefiniteError as error:
            if self.factor.inverse_drift(self._probes()) <= self._inverse_tolerance:
                raise
            self.rebuild(f"an edit failed: {error}")
            W = edit()
        self._count(k)
        return W

    def _count(self, k: int) -> None:
        """Count k edits, none of which is checked yet."""
        self.edits += k
        self._unchecked += k
        self._unseen += k
        self._since_full_check += k

    def _largest_with(self, corner: Array) -> float:
        """``max |diag(A)|`` with new samples, which are those of ``corner``."""
        if self._largest == 0.0 or not self._on_host:
            return self.factor.largest()
        if corner.size == 1:
            return max(self._largest, float(abs(corner.item())))
        return float(np.abs(corner.diagonal()).max(initial=self._largest))

    def _note_domination(self, before: float) -> None:
        """Note whether a sample has left that dominated A, such as an outlier in a linear kernel.

        Its removal destroys digits of all others. The next read then rebuilds the factor.
        """
        self._largest = self.factor.largest()
        self._dominated = self._dominated or 0.0 < self._largest < before / _DOMINATES

    def _since_rebuild(self) -> int:
        return self.edits - (self.rebuilds[-1].edits if self.rebuilds else 0)

    def _probes(self) -> Array:
        """Positions of a few rows, different each time, spread evenly by the golden ratio."""
        n = len(self.B)
        if n < 3 * _PROBES:  # with as many rows as that, no two of the positions below coincide
            return np.arange(n)
        steps = np.arange(self._probe, self._probe + _PROBES)
        self._probe += _PROBES
        return (steps * _IRRATIONAL[0] % 1.0 * n).astype(int)

    def _wanted_residual(self) -> float:
        """The residual of X that is small enough whatever A."""
        self._allowed = self._room * self._eps * float(np.abs(self.B).max(initial=0.0))
        return self._allowed

    def _takes_vectors(self, k: int) -> LiveInverse | None:
        """The factor if k samples come or go as vectors: one does, by an explicit inverse."""
        factor = self.factor
        if k == 1 and self._on_host and type(factor) is LiveInverse and factor.n > 1:
            return factor
        return None

    def _enter(self, cross: Array, corner: Array) -> Array | None:
        inverse = self._takes_vectors(len(corner))
        if inverse is None:
            return self.factor.append(cross, corner)
        return inverse.append_one(cross[:, 0], corner[0, 0])

    def _leave(self, positions: Array) -> Array | None:
        inverse = self._takes_vectors(len(positions))
        if inverse is None:
            return self.factor.remove(positions)
        return inverse.remove_one(int(positions[0]))

    def looks_good(self, off: float, residual: Array) -> bool:
        """Whether a column of P that is ``off``, and a row of X with this residual, will do."""
        good = abs(off) <= self._inverse_tolerance
        return good and all(abs(value) <= self._allowed for value in residual.tolist())

    def _look(self, residual: Array, off: float = 0.0) -> None:
        """Take note if an edit of one sample has found X, and its column of P, to be good."""
        if self.looks_good(off, residual):
            self._unseen -= 1

    def _must_check(self) -> bool:
        """Whether a read has to look at more rows of A before X is good enough."""
        many = self._unchecked > _UNREAD or self._reached > _LOOKED
        return bool(self._unseen or (self._unchecked and many) or self._dominated or self._steep)

    def _spares_a_check(self) -> bool:
        """Whether a look at the row of A that leaves may spare the next read a look at others."""
        few = self._unchecked < _UNREAD and self._reached <= _LOOKED
        return self._X is not None and few and not self._unseen

    def _tolerance(self, X: Array, rows: Array, spread: bool = False) -> float:
        """Of the residual of X, with ‖A‖ the largest absolute sum of the given rows.

        Where weights differ by many orders of magnitude, the largest rows of A meet the smallest
        of X. ``spread`` says to look at what they add up to, ``|A| |X|``, which is then less.
        """
        wanted, eps, sizes = self._wanted_residual(), self._eps, np.abs(rows)
        reached = eps * sizes.sum(axis=1).max(initial=0.0) * np.abs(X).max(initial=0.0)
        if spread and reached > wanted:
            reached = min(reached, 4.0 * eps * (sizes @ np.abs(X)).max(initial=0.0))
        return float(max(wanted, reached))

    def _verify(self) -> None:
        """Bring X within tolerance of the true system, and P within its own tolerance."""
        if self._dominated:
            self.rebuild("a sample that dominated the others has left")
        if self._steep:
            self.rebuild("a new sample almost repeats a held one", "cholesky")
        if self._unchecked and isinstance(self.factor, LiveResolvent):
            rounding = self.condition * self._eps
            if rounding > _FRAGILE or self.factor.spread() > _SPREAD:  # refinement is not enough
                self.rebuild("updates of the resolvent cannot follow such weights or ridge")
        if self._unchecked:
            self._check()
        if self._X is None:
            self._refine(None)
        if self._X is None:  # rebuilt just now: a fresh solve is the best available
            self._X, _ = self.factor.solve(self.B)
        self._unchecked = self._unseen = 0

    def _verify_inverse(self) -> None:
        """Check X, and after edits P as a whole; rebuild P if it has drifted anywhere. O(n²).

        Decision values are refined, but ``diag P`` is read as it is, and drift is not spread
        evenly: near-duplicates have most of it. So P is checked on two vectors with all rows in
        them, no two entries of which are equal. After few edits of a well-conditioned A that is
        not needed, and leave-one-out values are read in O(n).
        """
        self.solution()
        since = self.edits - self._inverse_checked
        few = since <= _FULL_CHECK and self._reached <= _LOOKED
        if since == 0 or few or self._true_rows is not None:
            return
        z = np.arange(1, len(self.B) + 1)[:, None] * np.array(_IRRATIONAL) % 1.0 - 0.5
        z = np.asarray(z, dtype=self.factor.dtype, like=self.B)
        off = np.abs(self.factor.multiply(self.factor.apply_inverse(z)) - z)
        self._rebuild_drifted(float(off.max(initial=0.0)), self._whole_tolerance)
        self._verify()
        self._inverse_checked = self.edits

    def _rebuild_drifted(self, drift: float, allowed: float) -> bool:
        """Rebuild P if its drift is more than allowed; a hasty one becomes a Cholesky factor."""
        if drift <= allowed:  # false for NaN
            return False
        hasty = self._wanted == "auto" and self._since_rebuild() < len(self.B) / 4
        reason = f"the inverse drifted to {drift:.1e}, above {allowed:.1e}"
        self.rebuild(reason, "cholesky" if hasty else None)
        return True

    def _check(self) -> None:
        """Check P, and X if it is known, on a few rows of A; rebuild or refine if necessary."""
        probes = self._probes()
        rows = self.factor.rows(probes)
        drift = self.factor.inverse_drift(probes, rows)
        rebuilt = self._rebuild_drifted(drift, self._inverse_tolerance)
        if not rebuilt and self._X is not None:
            residual = np.abs(self.B[probes] - rows @ self._X).max(initial=0.0)
            due = self._since_full_check >= _FULL_CHECK or self._delicate
            exact = residual <= self._wanted_residual()
            good = exact or residual <= self._tolerance(self._X, rows, spread=True)
            if due or not good or (not exact and self._is_poor(residual)):
                self._refine(self._X)

    def _refine(self, start: Array | None) -> None:
        """Solve against the true A; rebuild the factor if the residual stays too large."""
        X, error = self.factor.solve(self.B, start=start)
        self._X = np.asarray(X, order="F", like=self.B)
        self._since_full_check = 0
        if self._stalled(error) or self._is_poor(error):
            self.rebuild(f"refinement stalled at a residual of {error:.1e}")

    def _stalled(self, error: float) -> bool:
        """Whether X has a residual that rounding does not explain."""
        assert self._X is not None
        return not error <= 64 * self._tolerance(self._X, self.factor.rows(self._probes()))

    def _solve_in_double(self) -> None:
        """Solve by an inverse in single precision, which must be good enough for that.

        Raises
        ------
        LinAlgError
            If the condition number leaves too few digits, or the residual stays too large.
        """
        self._X, error = self.factor.solve(self.B)
        if self.condition > _SINGLE or self._stalled(error):
            raise np.linalg.LinAlgError(
                f'factor="single" serves up to a condition number of {_SINGLE:.0e}; here it is '
                f"{self.condition:.0e}, and residuals stay at {error:.0e}. Give a larger ridge (a "
                f'smaller C), or leave factor="auto".'
            )

    def _is_poor(self, residual: float) -> bool:
        """Whether a factor that was updated has led to a residual that only a fresh one may."""
        largest = float(np.abs(self.B).max(initial=0.0))
        return self._since_rebuild() > 0 and residual > _POOR * largest


def _concatenated(held: Array, new: Array) -> Array:
    """Rows with new ones at the end, which may have more columns."""
    more = new.shape[1] - held.shape[1]
    if more:
        held = np.pad(held, ((0, 0), (0, more)))
    return np.concatenate([held, new])
