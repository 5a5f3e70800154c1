"""How bases are chosen: the settings of orthogonal least squares, and trials of widths and λ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from gramian.arrays import Array
from gramian.engines._holdings import Holdings
from gramian.engines.orthogonal._basis import Centres, FixedBasis
from gramian.kernels import Kernel
from gramian.machines import Axes, ForwardRules, basis_features, forward_select, least

# Trials are made with so many centres at most, on so many samples, in parts each left out once.
TRIED_WITH, TRIED_ON = 200, 2_000
_PARTS, _FEW_PARTS, _FEW = 5, 2, 500


@dataclass(frozen=True, eq=False)
class BasisPlan:
    """All that bases are chosen with, besides the samples.

    Parameters
    ----------
    kernels : tuple of Kernel
        Each centre takes the one that helps most.
    rules : ForwardRules
        Of the selection, whose penalty is the orthogonal one whatever that of the weights.
    ridge : "cv", "loo", "gcv" or float
        λ of the weights, or how it is found.
    penalty : {"kernel", "orthogonal"}
    apart : bool
        Whether each of more than two classes has a basis of its own.
    random_state : int, RandomState or None
    """

    kernels: tuple[Kernel, ...]
    rules: ForwardRules
    ridge: str | float
    penalty: str = "kernel"
    apart: bool = False
    random_state: Any = 0

    def random(self) -> np.random.RandomState:
        """The source of random numbers of one choice."""
        return check_random_state(self.random_state)

    def groups(self, held: Holdings) -> list[Array]:
        """Outputs that share a basis. Two classes do in any case: their targets differ in sign."""
        if held.classes is None:
            return [np.arange(held.y.reshape(len(held), -1).shape[1])]
        apart = self.apart and len(held.classes) > 2
        return list(held.classes[:, None]) if apart else [held.classes]

    def ridge_rule(self, held: Holdings) -> str | float:
        """``ridge``, but "loo" for "cv" where trials would see only a part of the samples.

        Parts of a subsample have few centres: what these cannot fit is noise to them, and calls for
        more λ than all samples need.
        """
        return "loo" if self.ridge == "cv" and len(held) > TRIED_ON else self.ridge

    def tuned_ridge(self, held: Holdings) -> str | float:
        """λ, by trials where the rule is "cv"; or the rule for it."""
        rule = self.ridge_rule(held)
        return Trials(self, held).run(self.kernels).ridge if rule == "cv" else rule

    def select(
        self,
        held: Holdings,
        outputs: Array,
        ridge: str | float,
        start: Centres | None = None,
        max_basis: int | None = None,
    ) -> FixedBasis:
        """A basis for these outputs on the samples held.

        With ``start`` it begins with these centres, and goes on to ``max_basis`` of them.
        """
        Y = target_columns(held.y, outputs, held.classes is not None)
        rules = self.rules if start is None else replace(self.rules, max_basis=max_basis)
        return self.select_on(held.rows.samples(), Y, held.weight, outputs, rules, ridge, start)

    def select_on(
        self,
        X: Any,
        Y: Array,
        weight: Array,
        outputs: Array,
        rules: ForwardRules,
        ridge: str | float,
        start: Centres | None = None,
    ) -> FixedBasis:
        """The same on samples X with targets Y; only columns of candidates are computed."""
        kernels = self.kernels
        found = forward_select(
            lambda samples, kernel: kernels[kernel](X[samples], X),
            Y.astype(X.dtype),
            rules,
            n_kernels=len(kernels),
            weight=weight.astype(X.dtype),
            start=None if start is None else (start.samples, start.which),
            rng=np.random.default_rng(self.random().randint(2**31)),
        )
        points = X[found.samples]
        centres = Centres(kernels, points, found.kernels, found.samples, rules.epsilon)
        basis = FixedBasis.of(found, centres, outputs, Y, weight)
        if self.penalty == "kernel":
            return basis.with_kernel_penalty(X, Y, weight, ridge)
        return basis if ridge == rules.ridge else basis.with_ridge(X, Y, weight, ridge)


def target_columns(y: Array, outputs: Array, classified: bool) -> Array:
    """Targets of these outputs, of shape (n, t): ±1 of classes, or columns of numbers."""
    if classified:
        return np.where(y.reshape(-1, 1) == outputs, 1.0, -1.0)
    return y.reshape(len(y), -1)[:, outputs].astype(float, copy=False)


class Trial(NamedTuple):
    """What some kernels brought on samples held out, with the best λ for them."""

    error: float
    ridge: float


class Trials:
    """Widths and λ tried on parts of the samples that the selection does not see.

    The closed forms do not do: they know of the weights but not of the choice of centres, and the
    narrower the kernel, the more there is to choose from. On 20 draws of the noisy sinc the width
    of least leave-one-out error has a test error of 0.095, that of least error on parts 0.07.
    """

    def __init__(self, plan: BasisPlan, held: Holdings) -> None:
        if len(held) < 2:
            raise ValueError(
                f'"cv" leaves out samples and needs two or more, got n_samples={len(held)}. '
                f"Give numbers as gamma and ridge."
            )
        self._plan, self._outputs = plan, np.concatenate(plan.groups(held))
        Y = target_columns(held.y, self._outputs, held.classes is not None)
        self._samples = held.rows.samples(), Y, held.weight
        self._some = plan.random().permutation(len(held))[:TRIED_ON]
        n_parts = _FEW_PARTS if len(self._some) > _FEW else _PARTS
        self._parts = np.array_split(self._some, min(n_parts, len(self._some)))
        limit = min(plan.rules.max_basis or TRIED_WITH, TRIED_WITH)
        self._rules = replace(plan.rules, max_basis=limit)

    def run(self, kernels: tuple[Kernel, ...]) -> Trial:
        """The error with these kernels and the λ that is best for them, over the parts."""
        plan = replace(self._plan, kernels=kernels)
        ridges, errors = np.empty(0), np.zeros(1)
        for part in self._parts:
            X, Y, weight = (values[np.setdiff1d(self._some, part)] for values in self._samples)
            rule = "gcv" if plan.ridge == "cv" else plan.ridge
            basis = plan.select_on(X, Y, weight, self._outputs, self._rules, rule)
            axes = Axes.of(basis.live.sums, basis.live.free)
            if plan.ridge != "cv":
                ridges = np.array([basis.live.ridge])
            elif len(ridges) == 0:
                ridges = axes.ridges
            X, Y, weight = (values[part] for values in self._samples)
            found = axes.outputs(basis_features(basis.live.U, basis.centres.rows(X)), ridges)
            errors = errors + np.square(found - Y).sum(axis=2) @ weight
        return Trial(float(errors.min()), least(ridges, errors, self._rules.tol))
