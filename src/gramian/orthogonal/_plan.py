"""The plan by which bases are selected, and trials that choose widths and λ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.core.arrays import Array, placed_like, to_host
from gramian.core.engines import Holdings, make_rows
from gramian.core.kernels import Kernel
from gramian.core.search import repeatable
from gramian.orthogonal._fixed_basis import Centres, FixedBasis
from gramian.orthogonal._forward import ForwardRules, forward_select
from gramian.orthogonal._normal_equations import basis_features
from gramian.orthogonal._ridge_path import Axes, least

# Limits of a trial: number of centres and of samples; then the numbers of cross-validation folds.
TRIED_WITH, TRIED_ON = 200, 2_000
_PARTS, _FEW_PARTS, _FEW = 5, 2, 300


@dataclass(frozen=True, eq=False)
class BasisPlan:
    """The settings by which bases are selected.

    Parameters
    ----------
    kernels : tuple of Kernel
        Each centre uses the one that helps most.
    rules : ForwardRules
        Rules of the selection, which always uses the orthogonal penalty.
    ridge : "cv", "loo", "gcv" or float
        λ of the weights, or how to find it.
    penalty : {"kernel", "orthogonal"}
    random_state : int, RandomState or None
    apart : bool
        Whether each of more than two classes has a basis of its own.
    """

    kernels: tuple[Kernel, ...]
    rules: ForwardRules
    ridge: str | float
    penalty: str
    random_state: Any
    apart: bool = False

    def groups(self, holdings: Holdings) -> list[Array]:
        """Groups of outputs that share a basis; two classes always do, as their targets are ±y."""
        if holdings.classes is None:
            return [np.arange(holdings.y.reshape(len(holdings), -1).shape[1])]
        apart = self.apart and len(holdings.classes) > 2
        return list(holdings.classes[:, None]) if apart else [holdings.classes]

    def ridge_rule(self, holdings: Holdings) -> str | float:
        """``ridge``, with "cv" replaced by "loo" if trials would use only a part of the samples.

        The bases of a subsample have fewer centres. What these cannot fit acts as noise, which
        requires a larger λ than all samples need.
        """
        return "loo" if self.ridge == "cv" and len(holdings) > TRIED_ON else self.ridge

    def tuned_ridge(self, holdings: Holdings) -> str | float:
        """λ found by trials if the rule is "cv"; else the rule itself."""
        rule = self.ridge_rule(holdings)
        return Trials(self, holdings).run(self.kernels)[1] if rule == "cv" else rule

    def bases(self, holdings: Holdings, ridge: str | float) -> tuple[FixedBasis, ...]:
        """Select a basis for each group of outputs."""
        return tuple(self.select(holdings, group, ridge) for group in self.groups(holdings))

    def select(
        self, holdings: Holdings, outputs: Array, ridge: str | float, start: Centres | None = None
    ) -> FixedBasis:
        """Select a basis for these outputs on the held samples, starting with the centres of start.

        Computes only the columns of candidates.
        """
        X, weight, kernels = holdings.rows.samples(), holdings.weight, self.kernels
        Y = target_columns(holdings.y, outputs, holdings.classes is not None)
        found = forward_select(
            lambda samples, kernel: kernels[kernel](X[samples], X),
            placed_like(Y.astype(X.dtype), X),
            self.rules,
            n_kernels=len(kernels),
            weight=weight.astype(X.dtype),
            start=None if start is None else (start.samples, start.which),
            rng=np.random.default_rng(repeatable(self.random_state).randint(2**31)),
        )
        points = X[found.samples]
        centres = Centres(kernels, points, found.kernels, found.samples, self.rules.epsilon)
        basis = FixedBasis.of(found, centres, outputs, Y, weight)
        if self.penalty == "kernel":
            return basis.with_kernel_penalty(X, Y, weight, ridge)
        return basis if ridge == self.rules.ridge else basis.with_ridge(X, Y, weight, ridge)


def target_columns(y: Array, outputs: Array, classified: bool) -> Array:
    """Targets of these outputs, of shape (n, t): ±1 for classes, or columns of numbers."""
    if classified:
        return np.where(y.reshape(-1, 1) == outputs, 1.0, -1.0)
    return (y[:, None] if y.ndim == 1 else y)[:, outputs].astype(float, copy=False)


class Trials:
    """Tries widths and λ on parts of the samples that the selection does not see.

    Closed forms are not good enough: they ignore the choice of centres, and a narrower kernel
    offers more to choose from. On 20 draws of the noisy sinc, the width with the smallest
    leave-one-out error has a test error of 0.095, the width that trials choose 0.07.
    """

    def __init__(self, plan: BasisPlan, holdings: Holdings) -> None:
        if len(holdings) < 2:
            raise ValueError(
                f'"cv" leaves out samples and needs two or more, got n_samples={len(holdings)}. '
                f"Give numbers as gamma and ridge."
            )
        limit = min(plan.rules.max_basis or TRIED_WITH, TRIED_WITH)
        self._plan = replace(plan, rules=replace(plan.rules, max_basis=limit))
        self._held, self._outputs = holdings, np.concatenate(plan.groups(holdings))
        self._some = repeatable(plan.random_state).permutation(len(holdings))[:TRIED_ON]
        n_parts = _FEW_PARTS if len(self._some) > _FEW else _PARTS
        self._parts = np.array_split(self._some, min(n_parts, len(self._some)))

    def run(self, kernels: tuple[Kernel, ...]) -> tuple[float, float]:
        """Return the error with these kernels, summed over the parts, and the best λ for them."""
        plan, holdings = replace(self._plan, kernels=kernels), self._held
        ridges, errors = np.empty(0), np.zeros(1)
        for part in self._parts:
            rest = _part(holdings, np.setdiff1d(self._some, part))
            basis = plan.select(rest, self._outputs, "gcv" if plan.ridge == "cv" else plan.ridge)
            axes = Axes.of(basis.live.sums, basis.live.free)
            if plan.ridge != "cv":
                ridges = np.array([basis.live.ridge])
            elif len(ridges) == 0:
                ridges = axes.ridges
            rows = to_host(basis.centres.rows(holdings.rows.take(part)))
            features = basis_features(basis.live.U, rows)
            Y = target_columns(holdings.y[part], self._outputs, holdings.classes is not None)
            found = np.square(axes.outputs(features, ridges) - Y).sum(axis=2)
            errors = errors + found @ holdings.weight[part]
        return float(errors.min()), least(ridges, errors, plan.rules.tol)


def _part(holdings: Holdings, positions: Array) -> Holdings:
    """Return the holdings of some of the samples."""
    parts = (getattr(holdings, name)[positions] for name in ("y", "weight", "ids"))
    y, weight, ids = parts
    return replace(
        holdings, rows=make_rows(holdings.rows.take(positions)), y=y, weight=weight, ids=ids
    )
