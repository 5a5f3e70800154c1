"""Learned attributes of orthogonal least squares, and the edits that choose centres again."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag

from gramian.core.arrays import Array, to_host
from gramian.core.estimators import Fitted, LiveEstimator, edits
from gramian.core.kernels import Kernel
from gramian.orthogonal._engine import BasisEngine
from gramian.orthogonal._fixed_basis import FixedBasis
from gramian.orthogonal._spec import BasisSpec


class BasisAttributes(LiveEstimator):
    """Centres and weights of one basis for all outputs, or of several."""

    @property
    def kernel_(self) -> Kernel | list[Kernel]:
        """The kernel that predicts; a list where gamma is one."""
        spec = self._basis_spec()
        return list(spec.kernels) if spec.listed else spec.kernels[0]

    @property
    def gamma_(self) -> Any:
        """Width or widths of the kernel; None where it has none."""
        return self._basis_spec().gamma

    @property
    def metric_(self) -> Array | None:
        """Factors of the features, of shape (n_features,); None without them."""
        return self._basis_spec().widths[0].factors

    @property
    def ridge_(self) -> Any:
        """λ; an array of one for each basis where there are several."""
        return self._each(lambda basis: basis.live.ridge, np.array)

    @property
    def path_(self) -> Any:
        """Size, ridge, gcv, loo, bic and condition for each number of centres on the way.

        A dictionary of arrays; a list of such for several bases.
        """
        return self._each(lambda basis: dict(basis.path))

    @property
    def gcv_path_(self) -> Any:
        """Generalised cross-validation for each number of centres on the way; see `path_`."""
        return self._each(lambda basis: basis.path["gcv"].copy())

    @property
    def stop_reason_(self) -> Any:
        """Why no more centres were chosen; a list for several bases.

        The criterion (``"loo"``, ``"gcv"``, ``"bic"``, ``"lambda"``), ``"max_basis"``,
        ``"ill-conditioned"``, ``"exact"`` (nothing left to fit) or ``"exhausted"`` (every sample is
        a centre).
        """
        return self._each(lambda basis: basis.stop_reason)

    @property
    def n_basis_(self) -> int:
        """Number of centres, over all bases."""
        return sum(map(len, self._bases()))

    @property
    def n_rows_(self) -> int:
        """Number of samples learned: those held, and those of Dask arrays and `learn_rows`."""
        return self._engine().n_rows

    @property
    def basis_kernels_(self) -> Array:
        """The number of each centre's kernel in a list of `gamma`; else zeros."""
        return np.concatenate([basis.centres.which for basis in self._bases()])

    @property
    def basis_(self) -> Any:
        """The centres, of shape (n_basis, n_features), in the order of their selection."""
        answer = self._fitted().holdings.rows.answer
        centres = [to_host(basis.centres.points) for basis in self._bases()]
        found = (sparse.vstack if sparse.issparse(centres[0]) else np.vstack)(centres)
        return answer(found) if answer else found

    @property
    def basis_ids_(self) -> Array:
        """Ids of the centres that the model still holds as samples."""
        samples = np.concatenate([basis.centres.samples for basis in self._bases()])
        found: Array = self._fitted().holdings.ids[samples[samples >= 0]]
        return found

    @property
    def dual_coef_(self) -> Any:
        """Weights of the centres, of shape (n_basis,) or (n_basis, n_outputs)."""
        return self._public(block_diag(*(basis.weights[1:] for basis in self._bases())))

    @property
    def intercept_(self) -> Any:
        """Bias, a number or an array of shape (n_outputs,)."""
        first = [basis.weights[:1] for basis in self._bases()]
        return self._public(np.concatenate(first, axis=1))[0]

    # -- edits ----------------------------------------------------------------------------------

    @edits
    def grow(self, k: int | None = None) -> Self:
        """Select more centres on the samples that the model holds now.

        The present centres stay, and more are chosen as in `fit`. The columns are made orthogonal
        on the samples held, and λ is estimated again. Forgotten samples then have no influence left
        except on the choice of the old centres. The cost is that of a fit with as many centres.

        Parameters
        ----------
        k : int, optional
            Largest number of new centres for each basis; ``max_basis`` by default.

        Returns
        -------
        self
        """
        now, spec = self._holding_all("grow"), self._spec()
        if any((basis.centres.samples < 0).any() for basis in self._bases()):
            raise ValueError(
                "grow starts from centres that the model holds, and these were chosen on samples "
                "that `tuning_fraction` set aside. Call reselect, or fit with a larger fraction."
            )
        k = spec.rules.max_basis if k is None else k
        self._now = now.moved(now.holdings, self._engine().grown(now.holdings, spec, k))
        return self

    def reselect(self, *, fresh: bool = False) -> Self:
        """Choose width, centres and λ again on the samples held now, as `fit` does.

        Afterwards no forgotten sample has any influence on the model.

        Parameters
        ----------
        fresh : bool
            Has no effect: the search always starts from scratch.

        Returns
        -------
        self
        """
        self._holding_all("reselect")
        super().reselect(fresh=fresh)
        return self

    # -- inside ---------------------------------------------------------------------------------

    @abstractmethod
    def _spec(self) -> BasisSpec:
        """Return the parameters as one frozen object; raise ValueError if one is invalid."""

    def _basis_spec(self) -> BasisSpec:
        """Return the parameters that `fit` read, with what was chosen for them."""
        spec = self._fitted().spec
        assert isinstance(spec, BasisSpec)
        return spec

    def _engine(self) -> BasisEngine:
        engine = self._serving().engine
        assert isinstance(engine, BasisEngine)
        return engine

    def _bases(self) -> tuple[FixedBasis, ...]:
        return self._engine().bases

    def _holds_all(self) -> bool:
        """Whether the model holds every sample that it has learned."""
        now = self._fitted()
        return now.engine.holds_all(now.holdings)

    def _holding_all(self, method: str) -> Fitted:
        """Return the fitted state; raise ValueError if some learned samples are not held."""
        now = self._fitted()
        if not self._holds_all():
            raise ValueError(
                f"{method} needs the samples, and the model holds {len(now.holdings)} of the "
                f"{self.n_rows_} that it has learned: those of Dask arrays and of "
                f"learn_rows are not held. Fit anew."
            )
        return now

    def _each(
        self, read: Callable[[FixedBasis], Any], several: Callable[[list[Any]], Any] = list
    ) -> Any:
        """A value of each basis: a single one for one basis, ``several`` for more."""
        found = [read(basis) for basis in self._bases()]
        return found[0] if len(found) == 1 else several(found)

    def _public(self, values: Array) -> Any:
        """Select and order the columns of the outputs as the public attributes show them."""
        found = values[:, self._engine().order()].astype(self._fitted().holdings.rows.dtype)
        return found[:, 0] if found.shape[1] == 1 else found
