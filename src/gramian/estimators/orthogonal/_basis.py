"""Centres with the ridge regression on them: the state of the orthogonal least squares machines."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from gramian.arrays import Array, row_blocks
from gramian.kernels import Kernel
from gramian.machines._axes import Axes, least
from gramian.machines._forward import ForwardSelection
from gramian.machines._independent import independent_select
from gramian.machines._live_ridge import LiveRidge
from gramian.machines._normal_equations import Sums, basis_features, chunk_sums
from gramian.machines._stopping import Path

NOT_HELD = -1
# A centre nearer to the span of those before it than the root of this, in units of the longest, is
# one of them to rounding: the Cholesky factor of the centres' kernel matrix cannot tell it apart.
_DEPENDENT = 1e-12
_PATH = ("size", "ridge", "gcv", "loo", "bic", "condition")


@dataclass(frozen=True, eq=False)
class FixedBasis:
    """``f(x) = w_0 + Σ_j w_j k_j(x, centre_j)`` over samples that come and go.

    Never changed: an edit returns another one, so that several edits are one transaction. The copy
    costs O(m²), as the edit does.

    Parameters
    ----------
    kernels : tuple of Kernel
    centres : ndarray or CSR of shape (m, d)
    which : ndarray of shape (m,)
        The number of the kernel of each centre.
    samples : ndarray of shape (m,)
        Where the centres stand among the samples that the estimator holds; −1: not among them.
    epsilon : float
        Added to ``k(x_i, x_i)`` where the sample i is itself a centre.
    outputs : ndarray of shape (t,)
        What the columns of the targets stand for: labels, or their numbers.
    live : LiveRidge
    path : dict of str to ndarray
        The criteria for each size on the way.
    stop_reason : str
    """

    kernels: tuple[Kernel, ...]
    centres: Any
    which: Array
    samples: Array
    epsilon: float
    outputs: Array
    live: LiveRidge
    path: dict[str, Array]
    stop_reason: str

    @classmethod
    def from_selection(
        cls,
        selection: ForwardSelection,
        kernels: tuple[Kernel, ...],
        X: Any,
        *,
        targets: Array,
        weight: Array,
        epsilon: float = 0.0,
        outputs: Array | None = None,
    ) -> FixedBasis:
        """What `forward_select` has found on the samples X."""
        return cls(
            kernels=kernels,
            centres=X[selection.samples],
            which=selection.kernels,
            samples=selection.samples,
            epsilon=epsilon,
            outputs=np.arange(targets.shape[1]) if outputs is None else outputs,
            live=LiveRidge.from_selection(selection, targets, weight),
            path=path_arrays(selection.path),
            stop_reason=selection.stop_reason,
        )

    def __len__(self) -> int:
        return len(self.which)

    # -- edits ----------------------------------------------------------------------------------

    def append(self, X: Any, targets: Array, weight: Array) -> FixedBasis:
        """Samples enter, none of which is a centre; O(m²) each."""
        live = deepcopy(self.live)
        for block in self.blocks(X.shape[0]):
            live.append(self.rows(X[block]), targets[block], weight[block])
        return replace(self, live=live)

    def remove_rows(
        self, X: Any, targets: Array, weight: Array, positions: Array | None = None
    ) -> FixedBasis:
        """Samples leave, given as they entered; O(m²) each. All centres stay."""
        live = deepcopy(self.live)
        for block in self.blocks(X.shape[0]):
            rows = self.rows(X[block], None if positions is None else positions[block])
            live.remove(rows, targets[block], weight[block])
        return replace(self, live=live)

    def remove(self, X: Any, targets: Array, weight: Array, positions: Array) -> FixedBasis:
        """Samples leave that stood at these ascending positions, and with them their centres.

        O(m²) for a sample, O(m³) for a centre.
        """
        rest = self.remove_rows(X, targets, weight, positions)
        gone = np.isin(self.samples, positions)
        samples = self.samples - np.searchsorted(positions, self.samples)
        rest = replace(rest, samples=samples)
        return rest.without_centres(gone) if gone.any() else rest

    def without_centres(self, gone: Array) -> FixedBasis:
        """The centres in the mask leave the basis; O(m³) each."""
        live = deepcopy(self.live)
        for centre in np.flatnonzero(gone)[::-1]:
            live.remove_centre(int(centre))
        return replace(self._with_centres(np.flatnonzero(~gone)), live=live)

    def _with_centres(self, kept: Array) -> FixedBasis:
        """Other centres; the regression does not follow."""
        return replace(
            self,
            centres=self.centres[kept],
            which=self.which[kept],
            samples=self.samples[kept],
        )

    def with_outputs(self, outputs: Array, value: float) -> FixedBasis:
        """The outputs asked for; the target of a new one is ``value`` for every sample so far."""
        live = deepcopy(self.live)
        for column in np.flatnonzero(~np.isin(self.outputs, outputs))[::-1]:
            live.remove_output(int(column))
        kept = self.outputs[np.isin(self.outputs, outputs)]
        new = outputs[~np.isin(outputs, kept)]
        for _ in new:
            live.append_output(value)
        return replace(self, live=live, outputs=np.concatenate([kept, new]))

    # -- penalties ------------------------------------------------------------------------------

    def with_kernel_penalty(
        self, X: Any, targets: Array, weight: Array, ridge: str | float
    ) -> FixedBasis:
        """The penalty λ‖f‖² in the kernel's own space in the place of the selection's; O(n m²).

        ``‖f‖² = wᵀK_mm w``, so U is the Cholesky factor of K_mm. Several kernels have a space each,
        and ‖f‖² is the sum over them. Centres that depend on those before them are dropped.

        Parameters
        ----------
        X, targets, weight
            The samples of the selection.
        ridge : "loo", "gcv" or float
            How to find λ, or λ.
        """
        K = self.rows(self.centres, self.samples) * (self.which[:, None] == self.which)
        diagonal = np.diagonal(K)
        tau = _DEPENDENT * diagonal.max(initial=1.0)
        found = independent_select(lambda j: K[:, j], diagonal, tau)
        basis = self._with_centres(found.basis)
        U = block_diag(1.0, found.factor.T)
        sums = basis.sums(X, targets, weight, np.arange(len(weight)), U)
        found_ridge = basis._find_ridge(X, targets, weight, ridge, U, sums)
        return replace(basis, live=LiveRidge(U, sums, found_ridge, self.live.free))

    def with_ridge(self, X: Any, targets: Array, weight: Array, ridge: str | float) -> FixedBasis:
        """Another λ, given or found as `with_kernel_penalty` does; O(n m²)."""
        live = self.live
        found = self._find_ridge(X, targets, weight, ridge, live.U, live.sums)
        return self.with_sums(live.sums, found)

    def _find_ridge(
        self, X: Any, targets: Array, weight: Array, ridge: str | float, U: Array, sums: Sums
    ) -> float:
        """λ itself, or by leave-one-out (O(n m²)) or generalised cross-validation (O(m³))."""
        if not isinstance(ridge, str):
            return ridge
        axes = Axes.of(sums, self.live.free)
        if ridge == "gcv":
            return axes.shrinkage.minimize_gcv()
        errors = np.zeros(len(axes.ridges))
        width = max(len(U), targets.shape[1] * len(errors))  # numbers for each sample
        for block in row_blocks(len(weight), width):
            rows = self.rows(X[block], np.arange(block.start, block.start + len(weight[block])))
            features = basis_features(U, rows)
            errors += axes.press(features, targets[block], weight[block], axes.ridges)
        return least(axes.ridges, errors)

    # -- reads ----------------------------------------------------------------------------------

    def blocks(self, n: int) -> Any:
        """Slices of n samples whose rows fit into bounded memory."""
        return row_blocks(n, len(self) + 1)

    def rows(self, X: Any, positions: Array | None = None) -> Array:
        """Kernel values with the centres, of shape (len(X), m), ε added where X is a centre."""
        rows = np.empty((X.shape[0], len(self)))
        for number, kernel in enumerate(self.kernels):
            own = np.flatnonzero(self.which == number)
            rows[:, own] = kernel(X, self.centres[own])
        if positions is not None and self.epsilon:
            held = self.samples >= 0
            rows[(positions[:, None] == self.samples) & held] += self.epsilon
        return rows

    def outputs_of(self, X: Any, weights: Array) -> Array:
        """``f(x)`` of shape (len(X), t), in bounded memory."""
        out = np.empty((X.shape[0], weights.shape[1]))
        for block in self.blocks(X.shape[0]):
            out[block] = self.rows(X[block]) @ weights[1:] + weights[0]
        return out

    def loo_outputs(
        self, X: Any, targets: Array, weight: Array, positions: Array | None = None
    ) -> Array:
        """``f₋ᵢ(x_i)`` of samples that have entered, centres and λ kept; O(m²) each."""
        out = np.empty(targets.shape)
        for block in self.blocks(X.shape[0]):
            rows = self.rows(X[block], None if positions is None else positions[block])
            left = self.live.loo_residuals(rows, targets[block], weight[block])
            out[block] = targets[block] - left
        return out

    def sums(
        self,
        X: Any,
        targets: Array,
        weight: Array,
        positions: Array | None = None,
        U: Array | None = None,
    ) -> Sums:
        """Sums over samples for this basis, whether they have entered or not; O(m²) each."""
        U = self.live.U if U is None else U
        total = Sums.zeros(len(U), targets.shape[1])
        for block in self.blocks(X.shape[0]):
            rows = self.rows(X[block], None if positions is None else positions[block])
            total += chunk_sums(U, rows, targets[block], weight[block])
        return total

    def with_sums(self, sums: Sums, ridge: float | None = None) -> FixedBasis:
        """The same basis over other samples, given by their sums; O(m³)."""
        ridge = self.live.ridge if ridge is None else ridge
        return replace(self, live=LiveRidge(self.live.U, sums, ridge, self.live.free))

    # -- state ----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All but the kernels, as plain values and arrays."""
        live = self.live
        names = ("centres", "which", "samples", "epsilon", "outputs", "path", "stop_reason")
        sums = {name: getattr(live.sums, name) for name in vars(live.sums)}
        regression = {"U": live.U, "sums": sums, "ridge": live.ridge, "free": live.free}
        return {**{name: getattr(self, name) for name in names}, "live": regression}

    @classmethod
    def from_state(cls, kernels: tuple[Kernel, ...], state: dict[str, Any]) -> FixedBasis:
        """The inverse of `state`."""
        kept = {**state["live"]["sums"]}
        kept["gram"] = np.asfortranarray(kept["gram"])
        live = LiveRidge(**{**state["live"], "sums": Sums(**kept)})
        return cls(**{**state, "kernels": kernels, "live": live})


def path_arrays(path: Path) -> dict[str, Array]:
    """The criteria as arrays."""
    return {name: np.array(getattr(path, name)) for name in _PATH}
