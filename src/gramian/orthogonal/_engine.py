"""The engine of orthogonal least squares: one basis for all outputs, or several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.core.arrays import Array, to_host
from gramian.core.engines import AddedBlock, Engine, Holdings
from gramian.core.gram import Rebuild
from gramian.core.kernels._expansion import KernelExpansion
from gramian.orthogonal._fixed_basis import NOT_HELD, Centres, FixedBasis, target_columns
from gramian.orthogonal._normal_equations import Sums
from gramian.orthogonal._queries import BasisQueries
from gramian.orthogonal._state import BasisState

if TYPE_CHECKING:
    from gramian.orthogonal._spec import BasisSpec


@dataclass(frozen=True, eq=False)
class BasisPredictor:
    """Computes the outputs of all bases from centres and weights, in their public order."""

    bases: tuple[tuple[Centres, Array], ...]
    order: Array

    def outputs(self, X: Any) -> Array:
        """Decision values or predictions of shape (len(X), t)."""
        blocks = [centres.outputs(X, weights) for centres, weights in self.bases]
        return np.concatenate(blocks, axis=1)[:, self.order]

    def terms(self) -> tuple[KernelExpansion, ...]:
        """An expansion for each kernel of each basis."""
        terms, place = [], np.cumsum([0, *(weights.shape[1] for _, weights in self.bases)])
        for (centres, weights), start in zip(self.bases, place, strict=False):
            wide = np.zeros((len(weights), place[-1]))
            wide[:, start : start + weights.shape[1]] = to_host(weights)
            b, Z = wide[0, self.order], wide[1:, self.order]
            for number, kernel in enumerate(centres.kernels):
                own = np.flatnonzero(centres.which == number)
                terms.append(KernelExpansion(kernel, centres.points[own], Z[own], b))
                b = np.zeros_like(b)
        return tuple(terms)


class BasisEngine(Engine):
    """Bases that learn and forget samples in O(m²), each a `FixedBasis` for some of the outputs.

    Immutable: an edit returns a new engine. Samples can also be added as sums over them; the model
    then does not hold them.

    Parameters
    ----------
    spec : BasisSpec
    bases : tuple of FixedBasis
    holdings : Holdings
        The holdings over which the bases were summed.
    past : tuple of Rebuild
        Records of earlier rebuilds.
    calibration : float, optional
        Scale of the probabilities of a model that does not hold all its samples.
    """

    factor = "normal equations"
    serves: object = None

    def __init__(
        self,
        spec: BasisSpec,
        bases: tuple[FixedBasis, ...],
        holdings: Holdings,
        past: tuple[Rebuild, ...] = (),
        calibration: float | None = None,
    ) -> None:
        self.spec, self.bases, self.past, self.calibration = spec, bases, past, calibration
        self.serves, self.classified = holdings.version, holdings.classes is not None
        self._set_aside = False  # whether the samples of the selection were set aside

    @property
    def n_rows(self) -> int:
        """Number of learned samples: those held, and those known only by their sums."""
        return self.bases[0].live.rows

    def holds_all(self, holdings: Holdings) -> bool:
        """Whether the model holds every sample that it has learned."""
        return self.n_rows == len(holdings)

    # -- edits ----------------------------------------------------------------------------------

    def append(self, before: Holdings, after: Holdings) -> Engine:
        """Add samples, O(m²) each. A new class joins a basis, or gets one of its own.

        Where samples, such as outliers, make the weights of the centres undetermined, the bases are
        chosen anew, as a fit would choose them.
        """
        try:
            return self._with(before, after)
        except np.linalg.LinAlgError as error:
            if not self.holds_all(before):
                raise
            try:
                return self._chosen_anew(after, str(error))
            except np.linalg.LinAlgError:
                raise error from None

    def _with(self, before: Holdings, after: Holdings) -> Engine:
        n, own = len(before), np.empty(0)
        X, y, weight = after.rows.take(np.arange(n, len(after))), after.y[n:], after.weight[n:]
        if self.spec.one_vs_rest and self.holds_all(before):
            own = np.setdiff1d(y, before.y)
        bases = self._bases_for(after, own)
        bases = [basis.append(X, self._targets(y, basis), weight) for basis in bases]
        if len(own):
            ridge = self.spec.tuned_ridge(after)
            bases += [self.spec.select(after, own[[k]], ridge) for k in range(len(own))]
        return self._moved(after, bases, len(y))

    def remove(self, before: Holdings, after: Holdings, positions: Array) -> Engine:
        """Remove samples, O(m²) each; O(m³) for a centre, which leaves its basis.

        Where the samples that stay do not determine the weights of the centres that stay, as after
        outliers, or where the last centre of a basis leaves, the bases are chosen anew on them.
        """
        try:
            engine = self._without(before, after, positions)
        except np.linalg.LinAlgError as error:
            if not self.holds_all(before):
                raise
            return self._chosen_anew(after, str(error))
        pairs = zip(engine.bases, self._bases_for(after), strict=True)
        if self.holds_all(before) and any(len(now) == 0 < len(was) for now, was in pairs):
            return self._chosen_anew(after, "the last centre was forgotten.")
        return engine

    def _chosen_anew(self, holdings: Holdings, why: str) -> Engine:
        """Other bases, chosen on these holdings, since those so far do not serve them."""
        spec, reason = self.spec, f"the bases were chosen anew: {why}"
        bases = spec.bases(holdings, spec.tuned_ridge(holdings))
        return BasisEngine(spec, bases, holdings, self.past).recorded(reason, len(holdings))

    def _without(self, before: Holdings, after: Holdings, positions: Array) -> BasisEngine:
        X, y, weight = before.rows.take(positions), before.y[positions], before.weight[positions]
        bases = []
        for basis in self._bases_for(after):
            left = basis.remove(X, self._targets(y, basis), weight, positions)
            samples = left.centres.samples
            bases.append(left.with_positions(samples - np.searchsorted(positions, samples)))
        engine = self._moved(after, bases, len(positions))
        worn = engine.holds_all(after) and any(basis.live.worn() for basis in bases)
        return engine.fresh(after, "most of what the sums held has left") if worn else engine

    def remove_rows(self, holdings: Holdings, X: Any, y: Array, weight: Array) -> BasisEngine:
        """Remove samples that are not held; a centre that equals one of them leaves its basis."""
        bases = []
        for basis in self.bases:
            samples = basis.centres.samples
            found = np.where(samples < 0, _find_rows(X, basis.centres.points), NOT_HELD)
            left = basis.with_positions(found)
            left = left.remove(X, self._targets(y, basis), weight, np.arange(len(y)))
            bases.append(left.with_positions(samples[found < 0]))
        return self._moved(holdings, bases, len(y))

    def over(self, holdings: Holdings, sums: Iterable[Sums], estimate: bool) -> BasisEngine:
        """Return the bases over other samples, none of them held; ``estimate`` chooses λ again."""
        pairs = zip(self.bases, sums, strict=True)
        bases = [basis.unheld().with_sums(given) for basis, given in pairs]
        if estimate:
            bases = [basis.with_sums(basis.live.sums, basis.live.minimize_gcv()) for basis in bases]
        return self._moved(holdings, bases)

    def with_holdings(self, holdings: Holdings) -> BasisEngine:
        """Return the bases over these holdings, none of which took part in their selection."""
        engine = self._moved(holdings, [b.unheld() for b in self._bases_for(holdings)])
        engine = engine.over(holdings, engine._sums(holdings), estimate=False)
        engine._set_aside = True
        return engine

    def with_sums(self, holdings: Holdings, sums: Iterable[Sums], n_rows: int) -> BasisEngine:
        """Add samples that are not held, given by their sums for each basis."""
        pairs = zip(self.bases, sums, strict=True)
        return self._moved(holdings, [b.with_sums(b.live.sums + more) for b, more in pairs], n_rows)

    def with_classes(self, holdings: Holdings) -> BasisEngine:
        """Return an engine with one output for each class of these holdings."""
        return self._moved(holdings, self._bases_for(holdings))

    def calibrated(self, scale: float) -> BasisEngine:
        """Return an engine with the scale of probabilities for samples that are not held."""
        twin = copy(self)
        twin.calibration = scale
        return twin

    def grown(self, holdings: Holdings, spec: BasisSpec, k: int | None) -> BasisEngine:
        """Return an engine with up to k more centres per basis, chosen on the samples held."""
        twin, spec = copy(self), replace(spec, widths=self.spec.widths)
        ridge, bases = spec.tuned_ridge(holdings), []
        for basis in self.bases:
            rules = replace(spec.rules, max_basis=None if k is None else len(basis) + k)
            grows = replace(spec, rules=rules)
            bases.append(grows.select(holdings, basis.outputs, ridge, basis.centres))
        twin.spec = spec
        return twin._moved(holdings, bases).recorded("grown", len(holdings))

    def fresh(self, holdings: Holdings, reason: str | None = None) -> BasisEngine:
        """Return the bases with new sums, or the same sums if some samples are not held."""
        if holdings.version is not self.serves:  # the positions of centres are not known there
            raise np.linalg.LinAlgError(reason)
        anew = [basis.live.sums for basis in self.bases]
        if self.holds_all(holdings):
            anew = self._sums(holdings)
        pairs = zip(self.bases, anew, strict=True)
        engine = self._moved(holdings, [basis.with_sums(sums) for basis, sums in pairs])
        return engine.recorded(reason, len(holdings))

    # -- reads ----------------------------------------------------------------------------------

    def order(self) -> Array:
        """Which columns of the bases are public, and in which order; of two classes, the second."""
        order = np.argsort(np.concatenate([basis.outputs for basis in self.bases]))
        return order[1:] if self.classified and len(order) == 2 else order

    def predictor(self, holdings: Holdings) -> BasisPredictor:
        return BasisPredictor(tuple((b.centres, b.weights) for b in self.bases), self.order())

    def loo(self, holdings: Holdings) -> Array:
        """Leave-one-out outputs with the same centres and λ, O(m²) per sample."""
        if holdings.codes is not None:
            return self._queries(holdings).left_groups(holdings.codes)
        X, positions = holdings.rows.samples(), np.arange(len(holdings))
        return self.loo_rows(X, holdings.y, holdings.weight, positions)

    def loo_rows(self, X: Any, y: Array, weight: Array, positions: Array | None = None) -> Array:
        """Leave-one-out outputs of learned samples, whether held or not."""
        blocks = [b.loo_outputs(X, self._targets(y, b), weight, positions) for b in self.bases]
        return np.concatenate(blocks, axis=1)[:, self.order()]

    def added(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, AddedBlock]]:
        """Yield blocks of queries with the left-out values of all samples if one were added.

        The centres and λ stay. O(n m) for each query after the features of the samples, O(n m²).
        """
        return self._queries(holdings).added(X)

    def without_each(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each held sample."""
        return self._queries(holdings).without_each(X)

    def without_pairs(self, holdings: Holdings) -> Iterator[tuple[Array, Array]]:
        """Yield samples i with outputs (k, n, t) at all samples j without both, centres fixed."""
        return self._queries(holdings).without_pairs()

    def smoother(self, holdings: Holdings, X: Any) -> Array:
        """``∂f(x)/∂y_i`` at queries, (m, n, t), centres fixed."""
        return self._queries(holdings).smoother(X)

    def variances(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with the variances of their outputs on the present centres."""
        return self._queries(holdings).variances(X)

    def drift(self, holdings: Holdings) -> float:
        """The largest residual of the normal equations or error of the sums.

        The error of the sums is measured against new sums, O(n m²), if all samples are held.
        """
        found = [basis.live.drift() for basis in self.bases]
        if self.holds_all(holdings):
            pairs = zip(self.bases, self._sums(holdings), strict=True)
            found += [basis.live.sums.distance(sums) for basis, sums in pairs]
        return max(found)

    @property
    def chosen_on_data(self) -> tuple[str, ...]:
        """Names: ``"basis"`` for the centres and the U of the penalty, and the calibration."""
        basis = () if self._set_aside else ("basis",)
        return basis if self.calibration is None else (*basis, "calibration")

    def state(self, holdings: Holdings) -> BasisState:
        calibration = None
        if self.calibration is not None:
            calibration = self.calibration, np.zeros(len(holdings.classes))
        return BasisState(
            [basis.state() for basis in self.bases],
            [basis.weights for basis in self.bases],
            calibration,
        )

    # -- inside ---------------------------------------------------------------------------------

    def _moved(
        self, holdings: Holdings, bases: Iterable[FixedBasis], edits: int = 0
    ) -> BasisEngine:
        """Return this engine with other bases and holdings, after so many edits more."""
        twin = copy(self)
        twin.bases, twin.serves, twin.edits = tuple(bases), holdings.version, self.edits + edits
        if twin.holds_all(holdings):
            twin.calibration = None
        return twin

    def _targets(self, y: Array, basis: FixedBasis) -> Array:
        return target_columns(y, basis.outputs, self.classified)

    def _queries(self, holdings: Holdings) -> BasisQueries:
        pairs = [(basis, self._targets(holdings.y, basis)) for basis in self.bases]
        return BasisQueries.of(pairs, holdings, self.order())

    def _sums(self, holdings: Holdings) -> list[Sums]:
        X, weight, positions = holdings.rows.samples(), holdings.weight, np.arange(len(holdings))
        return [
            b.centres.sums(b.live.U, X, self._targets(holdings.y, b), weight, positions)
            for b in self.bases
        ]

    def _bases_for(self, holdings: Holdings, besides: Any = ()) -> list[FixedBasis]:
        """Return the bases with exactly one output per class, except for the classes ``besides``.

        A class without an output joins the first basis, because no sample so far belongs to it.
        """
        if holdings.classes is None:
            return list(self.bases)
        classes = np.setdiff1d(holdings.classes, besides)
        known = [basis.outputs[np.isin(basis.outputs, classes)] for basis in self.bases]
        new = np.setdiff1d(classes, np.concatenate(known))
        outputs = [np.concatenate([known[0], new]), *known[1:]]
        pairs = zip(self.bases, outputs, strict=True)
        return [basis.with_outputs(labels) for basis, labels in pairs if len(labels)]


def _find_rows(X: Any, points: Any) -> Array:
    """For each centre, the position of an equal row of X, or −1."""
    rows, wanted = (Z.toarray() if hasattr(Z, "toarray") else to_host(Z) for Z in (X, points))
    where = {row.tobytes(): i for i, row in reversed(list(enumerate(rows + 0.0)))}
    found = [where.get(row.tobytes(), NOT_HELD) for row in wanted + 0.0]
    return np.array(found, dtype=np.intp).reshape(-1)
