"""The parameters of the orthogonal least squares machines, checked and chosen."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from gramian.arrays import Array
from gramian.estimators.live._base import LiveEstimator
from gramian.estimators.live._parameters import default_gamma, is_number
from gramian.estimators.orthogonal._basis import FixedBasis
from gramian.estimators.orthogonal._trials import TRIED_ON, Trials, by_error
from gramian.kernels import Kernel, make_kernel
from gramian.machines._forward import ForwardRules, forward_select
from gramian.machines._ridges import RIDGES

GAMMAS = ("cv", "scale", "auto")
PENALTIES = ("kernel", "orthogonal")
_RIDGES = ("cv", *RIDGES)
_WITH_GAMMA = ("rbf", "laplacian", "poly")
# gamma="cv" tries these multiples of "scale", then the neighbours of the best.
_WIDTHS = 4.0 ** np.arange(-3, 4)
_NEIGHBOURS = np.array([0.5, 2.0])


class OrthogonalSettings(LiveEstimator):
    """What the orthogonal least squares machines make of their parameters."""

    @abstractmethod
    def _groups(self, y: Array) -> list[Array]:
        """Outputs that share a basis, for each basis."""

    @abstractmethod
    def _targets(self, y: Array, outputs: Array) -> Array:
        """Targets of these outputs, of shape (n, t)."""

    # -- kernels --------------------------------------------------------------------------------

    def _make_kernels(self, gamma: Any, n_features: int | None = None) -> tuple[Kernel, ...]:
        widths = gamma if isinstance(gamma, list) else [1.0 if gamma is None else gamma]
        for width in widths:
            if n_features is not None and np.ndim(width) and np.shape(width) != (n_features,):
                raise ValueError(
                    f"gamma must be one number, one per feature ({n_features}) as an array, or a "
                    f"list of such; got {width!r}."
                )
        make = partial(
            make_kernel,
            self.kernel,
            degree=self.degree,
            coef0=self.coef0,
            params=self.kernel_params,
        )
        return tuple(make(gamma=width) for width in widths)

    # -- tuning ---------------------------------------------------------------------------------

    def _tune(self, X: Any, y: Array, weight: Array) -> tuple[Any, str | float]:
        """Width (or widths, or None for kernels without one), and λ or the rule for it."""
        gamma, rule = self._first_gamma(X, weight), self._ridge_rule(len(y))
        searched = isinstance(self.gamma, str) and self.gamma == "cv" and gamma is not None
        if not searched:
            return gamma, self._tune_ridge(gamma, X, y, weight)
        trials = Trials(self, X, y, weight)
        coarse = min((trials.run(width) for width in gamma * _WIDTHS), key=by_error)
        fine = [trials.run(coarse.gamma * factor) for factor in _NEIGHBOURS]
        best = min([coarse, *fine], key=by_error)
        return float(best.gamma), best.ridge if rule == "cv" else rule

    def _tune_ridge(self, gamma: Any, X: Any, y: Array, weight: Array) -> str | float:
        """λ for this width, or the rule for it."""
        rule = self._ridge_rule(len(y))
        return Trials(self, X, y, weight).run(gamma).ridge if rule == "cv" else rule

    def _ridge_rule(self, n: int) -> str | float:
        """``ridge``, but leave-one-out for ``"cv"`` where only a part of n samples would be tried.

        Parts of a subsample have few centres: what these cannot fit is noise to them, and calls
        for more λ than all samples need.
        """
        return "loo" if self.ridge == "cv" and n > TRIED_ON else self.ridge

    def _first_gamma(self, X: Any, weight: Array) -> Any:
        """What was asked for; the width that a search starts from."""
        if self.kernel not in _WITH_GAMMA:
            return None
        if isinstance(self.gamma, list | tuple):
            return list(self.gamma)
        if not isinstance(self.gamma, str):
            return self.gamma
        return default_gamma("scale" if self.gamma == "cv" else self.gamma, X, weight)

    # -- selection ------------------------------------------------------------------------------

    def _select(
        self,
        kernels: tuple[Kernel, ...],
        X: Any,
        targets: Array,
        weight: Array,
        rules: ForwardRules,
        ridge: str | float,
        start: tuple[Array, Array] | None = None,
    ) -> FixedBasis:
        """Choose centres among the samples X; only columns of candidates are computed."""
        found = forward_select(
            lambda samples, kernel: kernels[kernel](X[samples], X),
            targets.astype(X.dtype),
            rules,
            n_kernels=len(kernels),
            weight=weight.astype(X.dtype),
            start=start,
            rng=np.random.default_rng(self._random().randint(2**31)),
        )
        basis = FixedBasis.from_selection(
            found, kernels, X, targets=targets, weight=weight, epsilon=rules.epsilon
        )
        if self.penalty == "kernel":
            return basis.with_kernel_penalty(X, targets, weight, ridge)
        return basis if ridge == rules.ridge else basis.with_ridge(X, targets, weight, ridge)

    def _rules(self, **changes: Any) -> ForwardRules:
        names = ("max_basis", "selection", "stopping", "patience", "tol", "epsilon")
        given = {name: getattr(self, name) for name in (*names, "penalize_bias")}
        return ForwardRules(**{**given, "ridge": self._ridge_on_the_way(), **changes})

    def _ridge_on_the_way(self) -> str | float:
        """λ of the selection, whose penalty is the orthogonal one whatever that of the weights."""
        if self.penalty == "orthogonal" and self.ridge != "cv":
            return self.ridge
        return "loo" if "loo" in (self.ridge, self.stopping) else "gcv"

    def _random(self) -> np.random.RandomState:
        return check_random_state(self.random_state)

    # -- validation -----------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        for name in ("tol", "epsilon", "patience"):
            if not is_number(getattr(self, name)):
                raise ValueError(f"{name} must be a number >= 0, got {getattr(self, name)!r}.")
        number = is_number(self.ridge) and 0 <= self.ridge < np.inf
        if not (number or (isinstance(self.ridge, str) and self.ridge in _RIDGES)):
            raise ValueError(
                f"ridge must be >= 0 and finite, or one of {_RIDGES}, got {self.ridge!r}."
            )
        if self.penalty not in PENALTIES:
            raise ValueError(f"penalty must be one of {PENALTIES}, got {self.penalty!r}.")
        self._rules()
        self._check_kernel()

    def _check_kernel(self) -> None:
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError(
                f'kernel="precomputed" is not for {type(self).__name__}, which computes the '
                f"columns of its centres only. Give a callable, or use another machine."
            )
        several = isinstance(self.gamma, list | tuple)
        if several and (len(self.gamma) == 0 or self.kernel not in _WITH_GAMMA):
            raise ValueError(
                f"a list of gammas needs one width or more and a kernel with gamma {_WITH_GAMMA}, "
                f"got gamma={self.gamma!r} and kernel={self.kernel!r}."
            )
        for gamma in self.gamma if several else [self.gamma]:
            named = isinstance(gamma, str)
            if gamma is None or (named and (several or gamma not in GAMMAS)):
                raise ValueError(
                    f"gamma must be > 0, one of {GAMMAS}, or a list of numbers > 0, got "
                    f"{self.gamma!r}."
                )
            self._make_kernels(1.0 if named else gamma)
