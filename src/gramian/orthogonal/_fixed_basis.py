"""The centres of orthogonal least squares, and the ridge regression on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from gramian.core.arrays import Array, device_like, placed_like, row_blocks, small_cholesky, to_host
from gramian.core.engines import Holdings
from gramian.core.equations import independent_select
from gramian.core.kernels import Kernel
from gramian.orthogonal._forward import ForwardSelection
from gramian.orthogonal._live_ridge import LiveRidge
from gramian.orthogonal._normal_equations import Axes, RunningSums, Sums, basis_features, best_ridge
from gramian.orthogonal._rules import Path

NOT_HELD = -1
# A centre whose squared distance from the span of the earlier ones is below this, relative to the
# longest, depends on them: the Cholesky factor of the centres' kernel matrix cannot separate it.
_DEPENDENT = 1e-12
# Leave-one-out errors of at most so many samples choose λ; the regression is over all of them.
_JUDGED_ON = 20_000


@dataclass(frozen=True, eq=False)
class Centres:
    """The centres of a basis, which compute its columns for any samples.

    Parameters
    ----------
    kernels : tuple of Kernel
    points : ndarray or CSR of shape (m, d)
    which : ndarray of shape (m,)
        The number of the kernel of each centre.
    samples : ndarray of shape (m,)
        Positions of the centres among the samples that the model holds; −1 if not held.
    epsilon : float
        Added to ``k(x_i, x_i)`` where the sample i is itself a centre.
    """

    kernels: tuple[Kernel, ...]
    points: Any
    which: Array
    samples: Array
    epsilon: float = 0.0

    def __len__(self) -> int:
        return len(self.which)

    def take(self, kept: Array) -> Centres:
        """Return some of the centres."""
        points, which, samples = (part[kept] for part in (self.points, self.which, self.samples))
        return replace(self, points=points, which=which, samples=samples)

    def blocks(self, X: Any, positions: Array | None = None) -> Iterator[tuple[slice, Array]]:
        """Yield slices of X with their kernel values `rows`, in bounded memory."""
        X = placed_like(X, self.points)
        for block in row_blocks(X.shape[0], len(self) + 1, like=X):
            yield block, self.rows(X[block], None if positions is None else positions[block])

    def rows(self, X: Any, positions: Array | None = None) -> Array:
        """Kernel values with the centres, of shape (len(X), m), plus ε where X is a centre.

        In host memory they are computed in double precision: U⁻ᵀ enlarges rounding errors, and a
        sample must leave as it came.
        """
        rows, points = np.empty((X.shape[0], len(self)), like=device_like(X)), self.points
        if device_like(X) is None:
            X, points = X.astype(float, copy=False), points.astype(float, copy=False)
        single = len(self.kernels) == 1
        for number, kernel in enumerate(self.kernels):
            own = slice(None) if single else np.flatnonzero(self.which == number)
            rows[:, own] = kernel(X, points[own])
        if positions is not None and self.epsilon:
            held = self.samples >= 0
            rows[(positions[:, None] == self.samples) & held] += self.epsilon
        return rows

    def sums(
        self, U: Array, X: Any, targets: Array, weight: Array, positions: Array | None = None
    ) -> Sums:
        """Sums of the normal equations over samples; O(m²) each."""
        sums = RunningSums(U, targets.shape[1], device_like(self.points))
        self.add_to(sums, X, targets, weight, positions)
        return sums.total()

    def add_to(
        self,
        sums: RunningSums,
        X: Any,
        targets: Array,
        weight: Array,
        positions: Array | None = None,
    ) -> None:
        """Add samples to sums; O(m²) each, in bounded memory."""
        for block, rows in self.blocks(X, positions):
            sums.add(rows, targets[block], weight[block])

    def outputs(self, X: Any, weights: Array) -> Array:
        """``f(x) = w_0 + Σ_j w_j k_j(x, centre_j)`` of shape (len(X), t)."""
        out, weights = np.empty((X.shape[0], weights.shape[1])), placed_like(weights, self.points)
        for block, rows in self.blocks(X):
            out[block] = to_host(rows @ weights[1:] + weights[0])
        return out


@dataclass(frozen=True, eq=False)
class FixedBasis:
    """A ridge regression on fixed centres, over samples that are added and removed.

    Immutable: an edit returns a new basis. The copy costs O(m²), as does the edit.

    Parameters
    ----------
    centres : Centres
    outputs : ndarray of shape (t,)
        The output of each target column: a label, or a column number.
    live : LiveRidge
    path : dict of str to ndarray
        The criteria for each size during the selection.
    stop_reason : str
    """

    centres: Centres
    outputs: Array
    live: LiveRidge
    path: dict[str, Array]
    stop_reason: str

    @classmethod
    def from_selection(
        cls, found: ForwardSelection, centres: Centres, outputs: Array, Y: Array, weight: Array
    ) -> FixedBasis:
        """Build a basis from the result of `forward_select`."""
        live = LiveRidge.from_regression(found.regression, Y, weight)
        return cls(centres, outputs, live, found.path.arrays(), found.stop_reason)

    @classmethod
    def from_centres(
        cls,
        centres: Centres,
        outputs: Array,
        free: int,
        X: Any,
        targets: Array,
        weight: Array,
        ridge: str | float,
    ) -> FixedBasis:
        """Build a basis at centres that were chosen without a selection, with λ‖f‖²; O(n m²)."""
        reason = "exhausted" if len(centres) == len(weight) else "max_basis"
        centres, live = _in_kernel_space(centres, X, targets, weight, free)
        basis = cls(centres, outputs, live, Path().arrays(), reason)
        return basis.with_ridge(X, targets, weight, ridge)

    def __len__(self) -> int:
        return len(self.centres)

    def unheld(self) -> FixedBasis:
        """Return the same basis, none of whose centres is among the held samples."""
        return self.with_positions(np.full(len(self), NOT_HELD))

    def with_positions(self, samples: Array) -> FixedBasis:
        """Return the same basis with other positions of its centres among the held samples."""
        return replace(self, centres=replace(self.centres, samples=samples))

    @cached_property
    def weights(self) -> Array:
        """w of shape (m + 1, t), the bias first."""
        return self.live.weights

    # -- edits ----------------------------------------------------------------------------------

    def append(self, X: Any, targets: Array, weight: Array) -> FixedBasis:
        """Add samples, none of which is a centre; O(m²) each."""
        live = self.live.copy()
        for block, rows in self.centres.blocks(X):
            live.append(rows, targets[block], weight[block])
        return replace(self, live=live)

    def remove(self, X: Any, targets: Array, weight: Array, positions: Array) -> FixedBasis:
        """Remove the samples at these positions, and the centres among them with their weights.

        O(m²) for a sample, O(m³) for a centre. The positions of the other centres do not change.
        """
        live = self.live.copy()
        for block, rows in self.centres.blocks(X, positions):
            live.remove(rows, targets[block], weight[block])
        gone = np.isin(self.centres.samples, positions)
        for centre in np.flatnonzero(gone)[::-1]:
            live.remove_centre(int(centre))
        return replace(self, centres=self.centres.take(np.flatnonzero(~gone)), live=live)

    def with_outputs(self, outputs: Array) -> FixedBasis:
        """Return the basis with these outputs; a new output has the target −1 for all samples."""
        known = np.isin(self.outputs, outputs)
        new = outputs[~np.isin(outputs, self.outputs)]
        if known.all() and len(new) == 0:
            return self
        live = self.live.copy()
        for column in np.flatnonzero(~known)[::-1]:
            live.remove_output(int(column))
        for _ in new:
            live.append_output(-1.0)
        return replace(self, live=live, outputs=np.concatenate([self.outputs[known], new]))

    def with_sums(self, sums: Sums, ridge: float | None = None) -> FixedBasis:
        """Return the basis over other samples, given by their sums, or with another λ; O(m³)."""
        live, ridge = self.live, self.live.ridge if ridge is None else ridge
        like = device_like(self.centres.points)
        return replace(self, live=LiveRidge(live.U, sums, ridge, live.free, like))

    # -- penalties ------------------------------------------------------------------------------

    def with_kernel_penalty(
        self, X: Any, targets: Array, weight: Array, ridge: str | float
    ) -> FixedBasis:
        """Replace the penalty of the selection by λ‖f‖² in the kernel's own space; O(n m²).

        ``‖f‖² = wᵀK_mm w``, so U is the Cholesky factor of K_mm. Several kernels have one space
        each, and ‖f‖² is the sum over them. Centres that depend on earlier ones are dropped. The
        samples must be those of the selection; ``ridge`` is "loo", "gcv" or λ.
        """
        centres, live = _in_kernel_space(self.centres, X, targets, weight, self.live.free)
        return replace(self, centres=centres, live=live).with_ridge(X, targets, weight, ridge)

    def with_ridge(self, X: Any, targets: Array, weight: Array, ridge: str | float) -> FixedBasis:
        """Return the basis with a λ that is given, or found by leave-one-out (O(n m²)) or GCV.

        Of more than 20,000 samples, some at even distances are left out, one at a time.
        """
        sums, U = self.live.sums, self.live.U
        if not isinstance(ridge, str):
            return self.with_sums(sums, ridge)
        axes = Axes.of(sums, self.live.free, device_like(X))
        if ridge == "gcv":
            return self.with_sums(sums, axes.shrinkage.minimize_gcv())
        errors = np.zeros(len(axes.ridges))
        width = max(len(U), targets.shape[1] * len(errors))  # numbers for each sample
        step = -(-len(weight) // _JUDGED_ON)
        for block in row_blocks(len(weight), width, like=X):
            some = slice(block.start + -block.start % step, block.stop, step)
            positions = np.arange(some.start, some.stop, step)
            features = basis_features(U, self.centres.rows(X[some], positions))
            errors += to_host(axes.press(features, targets[some], weight[some], axes.ridges))
        return self.with_sums(sums, best_ridge(axes.ridges, errors))

    # -- reads ----------------------------------------------------------------------------------

    def loo_outputs(
        self, X: Any, targets: Array, weight: Array, positions: Array | None = None
    ) -> Array:
        """``f₋ᵢ(x_i)`` of learned samples, with the same centres and λ; O(m²) each."""
        out = np.empty(targets.shape)
        for block, rows in self.centres.blocks(X, positions):
            left = self.live.loo_residuals(rows, targets[block], weight[block])
            out[block] = targets[block] - to_host(left)
        return out

    def state(self) -> dict[str, Any]:
        """Return all but the kernels, as plain values and arrays."""
        live, centres = self.live, self.centres
        regression = {"U": live.U, "sums": vars(live.sums), "ridge": live.ridge, "free": live.free}
        own = {"outputs": self.outputs, "path": self.path, "stop_reason": self.stop_reason}
        points = {name: getattr(centres, name) for name in ("which", "samples", "epsilon")}
        return {"centres": to_host(centres.points), **points, **own, "live": regression}

    @classmethod
    def from_state(
        cls, kernels: tuple[Kernel, ...], holdings: Holdings, state: Any, weights: Array
    ) -> FixedBasis:
        """Restore a basis from its `state` and its weights, on the device of the samples held."""
        points = [state[name] for name in ("centres", "which", "samples", "epsilon")]
        points[0] = holdings.rows.adopt(points[0])
        own = {name: state[name] for name in ("outputs", "path", "stop_reason")}
        kept = {**state["live"], "sums": Sums(**state["live"]["sums"])}
        live = LiveRidge(**kept, like=device_like(points[0]))
        basis = cls(Centres(kernels, *points), live=live, **own)
        vars(basis)["weights"] = weights  # bit by bit as saved
        return basis


def _in_kernel_space(
    centres: Centres, X: Any, targets: Array, weight: Array, free: int
) -> tuple[Centres, LiveRidge]:
    """The centres that are independent, and the regression on them with λ‖f‖²; λ is to follow."""
    K = to_host(centres.rows(centres.points, centres.samples))
    K *= centres.which[:, None] == centres.which
    kept, factor = _independent(K)
    centres, U = centres.take(kept), block_diag(1.0, factor.T)
    sums = centres.sums(U, X, targets, weight, np.arange(len(weight)))
    # a provisional λ that makes it solvable
    return centres, LiveRidge(U, sums, 1.0, free, device_like(X))


def _independent(K: Array) -> tuple[Array, Array]:
    """The centres that depend on no earlier one, and the Cholesky factor of their part of K."""
    diagonal = np.diagonal(K)
    tau = _DEPENDENT * diagonal.max(initial=1.0)
    factor, bad = small_cholesky(K)
    if not bad and np.square(np.diagonal(factor)).min(initial=np.inf) >= tau:
        return np.arange(len(K)), factor
    found = independent_select(lambda j: K[:, j], diagonal, tau)
    return found.basis, found.factor


def target_columns(y: Array, outputs: Array, classified: bool) -> Array:
    """Targets of these outputs, of shape (n, t): ±1 for classes, or columns of numbers."""
    if classified:
        return np.where(y.reshape(-1, 1) == outputs, 1.0, -1.0)
    return (y[:, None] if y.ndim == 1 else y)[:, outputs].astype(float, copy=False)
