"""What the orthogonal least squares classifier and regressor share: bases that samples enter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from gramian.arrays import Array
from gramian.estimators.live._history import KeepsHistory
from gramian.estimators.orthogonal._basis import FixedBasis
from gramian.estimators.orthogonal._settings import OrthogonalSettings
from gramian.kernels import Kernel


class OrthogonalEstimator(KeepsHistory, OrthogonalSettings):
    """One basis for all outputs, or several, each a `FixedBasis` for some of them.

    A machine says which outputs share a basis (`_groups`), what their targets are (`_targets`) and
    in which order they are shown (`_shown_outputs`).
    """

    _bases: tuple[FixedBasis, ...]
    _rebuilt = "normal equations"

    # -- the contract ---------------------------------------------------------------------------

    @property
    def basis_(self):
        """The centres, of shape (n_basis, n_features), in the order in which they were chosen."""
        centres = [basis.centres for basis in self._fitted_bases()]
        return (sparse.vstack if sparse.issparse(centres[0]) else np.vstack)(centres)

    @property
    def basis_ids_(self):
        """Ids of the centres that are samples which the model holds."""
        samples = self._joined("samples")
        return self._ids[samples[samples >= 0]]

    @property
    def basis_kernels_(self):
        """The number of each centre's kernel in a list of `gamma`; else zeros."""
        return self._joined("which")

    @property
    def n_basis_(self):
        """Number of centres, over all bases."""
        return sum(len(basis) for basis in self._fitted_bases())

    @property
    def dual_coef_(self):
        """Weights of the centres, of shape (n_basis,) or (n_basis, n_outputs)."""
        weights = self._weights()
        blocks = np.zeros((self.n_basis_, sum(w.shape[1] for w in weights)))
        row = column = 0
        for w in weights:
            rows, columns = row + len(w) - 1, column + w.shape[1]
            blocks[row:rows, column:columns] = w[1:]
            row, column = rows, columns
        return self._flat(blocks)

    @property
    def intercept_(self):
        """Bias, a number or an array of shape (n_outputs,)."""
        return self._flat(np.concatenate([w[0] for w in self._weights()])[None])[0]

    @property
    def ridge_(self):
        """λ; an array of one for each basis where there are several."""
        return self._each([basis.live.ridge for basis in self._fitted_bases()], np.array)

    @property
    def gcv_path_(self):
        """Generalised cross-validation for each number of centres on the way; see `path_`."""
        return self._each([basis.path["gcv"].copy() for basis in self._fitted_bases()])

    @property
    def path_(self):
        """Size, ridge, gcv, loo, bic and condition for each number of centres on the way.

        A dictionary of arrays; a list of such for several bases.
        """
        return self._each([dict(basis.path) for basis in self._fitted_bases()])

    @property
    def stop_reason_(self):
        """Why no more centres were chosen; a list for several bases.

        The criterion (``"loo"``, ``"gcv"``, ``"bic"``, ``"lambda"``), ``"max_basis"``,
        ``"ill-conditioned"``, ``"exact"`` (nothing left to fit) or ``"exhausted"`` (every sample
        is a centre).
        """
        return self._each([basis.stop_reason for basis in self._fitted_bases()])

    @property
    def n_rows_(self):
        """Number of samples learned: those held, and those of Dask arrays."""
        return self._fitted_bases()[0].live.sums.rows

    def grow(self, k=None):
        """Go on with the selection, on the samples that the model holds now.

        The centres stay, and more are chosen as `fit` would. The columns are made orthogonal on
        the samples held, and λ is estimated anew: after this, nothing but the choice of the old
        centres has seen samples that were forgotten. Cost of a fit with as many centres.

        Parameters
        ----------
        k : int, optional
            At most so many more for each basis; ``max_basis`` by default.

        Returns
        -------
        self
        """
        self._check_holds_all("grow")
        k = self.max_basis if k is None else k
        with self._transaction():
            self._check_parameters()
            ridge = self._tune_ridge(self.gamma_, self._rows.rows, self._y, self._weight)
            self._bases = tuple(self._grown(basis, k, ridge) for basis in self._bases)
            self._record("grown")
            self._changed()
        return self

    def reselect(self):
        """Choose width, centres and λ anew on the samples that the model holds. Returns self."""
        self._check_holds_all("reselect")
        with self._transaction():
            self._check_parameters()
            past = self._refactorizations
            self._build(self._rows.rows, self._y, self._weight)
            self._refactorizations = past
            self._record("the basis was chosen anew")
            self._changed()
        return self

    def drift(self):
        """Measured relative error of the present solution and of the sums behind it, O(n m²).

        The larger of the residual in the normal equations and, if the model holds all its samples,
        of the distance of the sums from those taken anew.
        """
        residual = max(basis.live.drift() for basis in self._fitted_bases())
        if not self._holds_all():
            return residual
        return max(
            residual, *(basis.live.sums.distance(self._sums(basis)) for basis in self._bases)
        )

    def refactor(self):
        """Sum anew over the samples, O(n m²), and solve. Returns self.

        The sums stay as they are in a model that does not hold all its samples.
        """
        check_is_fitted(self)
        with self._transaction():
            anew = self._sums if self._holds_all() else lambda basis: basis.live.sums
            self._bases = tuple(basis.with_sums(anew(basis)) for basis in self._bases)
            self._record("asked for")
            self._changed()
        return self

    # -- learning -------------------------------------------------------------------------------

    def _build(self, X: Any, y: Array, weight: Array) -> None:
        self._choose(X, y, weight)

    def _choose(self, X: Any, y: Array, weight: Array) -> None:
        """Choose widths and bases on these samples, and begin with their sums."""
        self.gamma_, ridge = self._tune(X, y, weight)
        kernels = self._make_kernels(self.gamma_, X.shape[1])
        self._bases = tuple(
            self._select_basis(kernels, X, y, weight, outputs, ridge) for outputs in self._groups(y)
        )
        self._begin_history()

    def _select_basis(
        self,
        kernels: tuple[Kernel, ...],
        X: Any,
        y: Array,
        weight: Array,
        outputs: Array,
        ridge: str | float,
        start: FixedBasis | None = None,
        **changes: Any,
    ) -> FixedBasis:
        """A basis for these outputs, which begins with the centres of ``start``."""
        chosen = None if start is None else (start.samples, start.which)
        targets, rules = self._targets(y, outputs), self._rules(**changes)
        basis = self._select(kernels, X, targets, weight, rules, ridge, chosen)
        return replace(basis, outputs=outputs)

    def _grown(self, basis: FixedBasis, k: int | None, ridge: str | float) -> FixedBasis:
        bound = None if k is None else len(basis) + k
        held = self._rows.rows, self._y, self._weight
        return self._select_basis(
            basis.kernels, *held, basis.outputs, ridge, start=basis, max_basis=bound
        )

    def _append(self, bases: Any, X: Any, y: Array, weight: Array) -> None:
        """New samples enter these bases, which become those of the model."""
        self._bases = tuple(
            basis.append(X, self._targets(y, basis.outputs), weight) for basis in bases
        )
        self._edits += len(y)

    def _stacked(self, X: Any) -> Any:
        """The held samples followed by new ones."""
        return (sparse.vstack if sparse.issparse(X) else np.vstack)([self._rows.rows, X])

    def _remove(self, bases: Any, positions: Array) -> None:
        """Samples leave these bases, which become those of the model."""
        X, y, weight = self._rows.take(positions), self._y[positions], self._weight[positions]
        self._bases = tuple(
            basis.remove(X, self._targets(y, basis.outputs), weight, positions) for basis in bases
        )
        self._edits += len(positions)

    def _sums(self, basis: FixedBasis) -> Any:
        targets = self._targets(self._y, basis.outputs)
        return basis.sums(self._rows.rows, targets, self._weight, np.arange(len(targets)))

    def _holds_all(self) -> bool:
        return self.n_rows_ == len(self._y)

    def _check_holds_all(self, method: str) -> None:
        check_is_fitted(self)
        if not self._holds_all():
            raise ValueError(
                f"{method} needs the samples, and the model holds {len(self._y)} of the "
                f"{self.n_rows_} that it has learned: those of Dask arrays are not held. Fit anew."
            )

    # -- predicting -----------------------------------------------------------------------------

    def _outputs(self, X: Any) -> Array:
        X = self._check_queries(X)
        pairs = zip(self._bases, self._weights(), strict=True)
        return self._ordered([basis.outputs_of(X, weights) for basis, weights in pairs])

    def _loo_outputs(self) -> Array:
        check_is_fitted(self)
        return self._derive("loo", lambda: self._ordered([*map(self._loo_of, self._bases)]))

    def _loo_of(self, basis: FixedBasis) -> Array:
        targets = self._targets(self._y, basis.outputs)
        positions = np.arange(len(targets))
        return basis.loo_outputs(self._rows.rows, targets, self._weight, positions)

    def _weights(self) -> list[Array]:
        """w of shape (m + 1, t) for each basis."""
        bases = self._fitted_bases()
        return self._derive("weights", lambda: [basis.live.weights for basis in bases])

    def _ordered(self, blocks: list[Array]) -> Array:
        """Columns of all bases, in the order in which outputs are shown."""
        return np.concatenate(blocks, axis=1)[:, self._shown_outputs()]

    def _shown_outputs(self) -> Any:
        """Which columns are shown, and in which order."""
        return slice(None)

    def _flat(self, values: Array) -> Array:
        """Rows of values for each output as a caller sees them."""
        shown = self._ordered([values])
        return shown[:, 0] if shown.shape[1] == 1 else shown

    # -- state ----------------------------------------------------------------------------------

    def _get_state(self):
        bases = [basis.state() for basis in self._fitted_bases()]
        return {**super()._get_state(), "bases": bases, "weights": self._weights()}

    def _set_state(self, state):
        super()._set_state(state)
        kernels = self._make_kernels(self.gamma_)
        self._bases = tuple(FixedBasis.from_state(kernels, basis) for basis in state["bases"])
        self._begin_history()
        self._derived["weights"] = state["weights"]

    # -- inside ---------------------------------------------------------------------------------

    def _fitted_bases(self) -> tuple[FixedBasis, ...]:
        check_is_fitted(self)
        return self._bases

    def _joined(self, name: str) -> Array:
        return np.concatenate([getattr(basis, name) for basis in self._fitted_bases()])

    def _each(self, values: list, several: Any = list) -> Any:
        """One value stands for itself."""
        return values[0] if len(values) == 1 else several(values)
