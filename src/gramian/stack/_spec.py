"""Settings of a stack: from parameters to plans of its parts, and their weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines import DensePlan, Holdings, Unbuilt
from gramian.core.engines._removed import held_queries
from gramian.core.equations import LS_SVM, ClassTargets, Targets
from gramian.core.estimators import DenseSpec, KernelSpec, check_positive
from gramian.core.estimators._crossfit import (
    FOLDS,
    TUNED_ON,
    FoldChoices,
    held_folds,
    some_of,
    spread_folds,
)
from gramian.core.estimators._dense_spec import SEARCHED_GAMMAS
from gramian.core.search._result import one_width
from gramian.stack._engine import StackPlan, require_stack
from gramian.stack._weights import class_weights, response_weights

CLASS_KERNELS = ("rbf", "laplacian", "laplacian+diagonal", "exponential+diagonal")
NUMBER_KERNELS = ("rbf+ard", "laplacian", "exponential+diagonal")
"""The parts of a stack by default: smooth and rough, with all features alike or by their worth."""
LEARNED = ("kernel", "gamma", "C", "metric", "selection")
"""What a stack tells of each part."""


@dataclass(frozen=True, eq=False)
class StackSpec:
    """The parameters of a stack, as `fit` read them.

    Parameters
    ----------
    parts : tuple of GramSettings
    weights : ndarray of shape (S,) or "loo"
    """

    parts: tuple[DenseSpec, ...]
    weights: Any

    @property
    def samples(self) -> Any:
        """How samples are read, and where they are held."""
        return self.parts[0].samples

    def choose(self, holdings: Holdings, past: StackPlan | None) -> StackPlan:
        """Choose each part's hyper-parameters by leave-one-out, then the weights out of fold.

        The weights are fitted to outputs of the parts at samples that were not there when the
        parts were tuned: 5 times without a fifth of the samples.
        """
        require_stack(len(self.parts), holdings)
        known = past is not None and len(past.parts) == len(self.parts)
        keys = [_key(part) for part in self.parts]
        starts = dict(zip(keys, past.parts, strict=True)) if past is not None and known else {}
        plans, engines, tuned = self._tuned(holdings, starts)
        if not isinstance(self.weights, str):
            one = holdings.classes is not None or holdings.y.ndim == 1
            zero = np.zeros(1 if one else holdings.y.shape[1])
            return replace(self._plan(tuple(plans), self.weights, zero), ready=engines)
        if len(holdings) < 2:
            raise ValueError(
                "choosing weights by leave-one-out needs at least 2 samples, got 1 sample. Give "
                "`weights` as numbers."
            )
        return replace(self._crossfit(holdings, tuple(plans), tuned), ready=engines)

    def _crossfit(
        self, holdings: Holdings, plans: tuple[DensePlan, ...], tuned: dict[Any, DensePlan]
    ) -> StackPlan:
        """The plan with weights from outputs out of fold, and one plan without each fold."""
        some, starts = some_of(holdings), {key: _one_width(plan) for key, plan in tuned.items()}
        fold = held_folds(some, FOLDS, self.parts[0].random_state)
        silent = replace(self, parts=tuple(replace(part, callback=None) for part in self.parts))
        parts, F = {}, None
        for k in np.unique(fold):
            left = np.flatnonzero(fold == k)
            rest, queries = some.without(left), held_queries(some, left)
            few = some_of(rest, TUNED_ON)
            parts[k], engines, _ = silent._tuned(few, starts)
            if few is not rest:
                engines = [plan.engine(rest) for plan in parts[k]]
            outputs = [np.asarray(e.predictor(rest).outputs(queries)) for e in engines]
            if F is None:
                F = np.empty((len(plans), len(some), outputs[0].shape[1]))
            F[:, left] = outputs
        assert F is not None
        targets = plans[0].targets(some)
        whole = self._plan(plans, *self._weighted(F, targets))
        apart = []
        for k, tuned_without in parts.items():
            stay = np.flatnonzero(fold != k)
            weighted = self._weighted(F[:, stay], targets.take(stay))
            apart.append(self._plan(tuple(tuned_without), *weighted))
        return replace(whole, folds=FoldChoices(tuple(apart), spread_folds(fold, some, holdings)))

    def _tuned(
        self, holdings: Holdings, starts: Mapping[Any, DensePlan]
    ) -> tuple[list[DensePlan], list[Any], dict[Any, DensePlan]]:
        """The tuned parts, their engines, and what was tuned without a metric.

        Parts that differ by their metric alone share the search without it, and the slopes of a
        part without one are those of its engine.
        """
        tuned: dict[Any, DensePlan] = {}
        built: dict[Any, Any] = {}
        plans: list[DensePlan] = []
        engines: list[Any] = []
        for part in self.parts:
            key = _key(part)
            if key not in tuned:
                tuned[key] = replace(part, metric=None).choose(holdings, starts.get(key))
            plan = tuned[key]
            if part.metric is not None:
                plan = part.with_metric(holdings, plan, built.get(key))
            plans.append(plan)
            engines.append(plan.engine(holdings))
            if part.metric is None:
                built[key] = engines[-1]
        return plans, engines, tuned

    def recording(self, record_trial: Any) -> StackSpec:
        """Return the same settings, which call ``hear(kernel, callback, trial)`` of every trial."""
        return replace(self, parts=tuple(part.recording(record_trial) for part in self.parts))

    def restore(self, holdings: Holdings, public: Any, state: Any) -> tuple[StackPlan, Unbuilt]:
        """Return the plan and an engine stored in a model file; the engine is built on demand."""
        told = [{f"{name}_": part[name] for name in LEARNED} for part in public["parts_"]]
        parts = zip(self.parts, told, state["parts"], strict=True)
        plans = tuple(part.restore(holdings, *others)[0] for part, *others in parts)
        plan = self._plan(plans, public["weights_"], public["offset_"])
        return plan, Unbuilt(plan, {"parts": state["parts"]})

    def _plan(self, parts: tuple[DensePlan, ...], weights: Any, offset: Any) -> StackPlan:
        chosen = dict.fromkeys(name for part in self.parts for name in part.chosen_on_data)
        chosen_on_data = (*chosen, *(("weights",) if isinstance(self.weights, str) else ()))
        scale = 1.0 if isinstance(self.weights, str) else None
        return StackPlan(parts, weights, offset, chosen_on_data, scale)

    def _weighted(self, F: Array, targets: Targets) -> tuple[Array, Array]:
        """Weights and offset, fitted to outputs (S, n, t) of the parts out of fold."""
        if isinstance(targets, ClassTargets):
            return class_weights(F, targets, self._plain), np.zeros(1)
        return response_weights(F, targets.columns, targets.weight)

    @property
    def _plain(self) -> Array:
        """Which parts have one width and no metric: nothing else of them is fitted to labels."""
        return np.array([part.metric is None and not part.kernel.by_feature for part in self.parts])


def _key(part: DenseSpec) -> tuple[Any, ...]:
    """What parts have in common that differ by their metric alone."""
    return part.kernel.kernel, str(part.kernel.gamma), str(part.C)


def _one_width(plan: DensePlan) -> DensePlan:
    """The plan with one width in place of one for each feature, which would tell of all labels."""
    return replace(plan, gamma=one_width(plan.gamma)) if np.ndim(plan.gamma) else plan


def stack_spec(model: Any) -> StackSpec:
    """Read and check the parameters of a stack."""
    kernel = model.kernel
    names = tuple(kernel) if isinstance(kernel, list | tuple) else (kernel,)
    if not names:
        raise ValueError("kernel must have at least one name, got none.")
    gammas, strengths = _each("gamma", model.gamma, names), _each("C", model.C, names)
    parts = tuple(_part(model, *words) for words in zip(names, gammas, strengths, strict=True))
    return StackSpec(parts, _check_weights(model.weights, names))


def learned_parts(model: Any) -> list[dict[str, Any]]:
    """Kernel, gamma, C, metric and searched path of each part, as a list of dicts."""
    now = model._fitted()
    pairs = zip(now.spec.parts, now.choice.parts, strict=True)
    found = []
    for spec, plan in pairs:
        C = 1.0 / plan.ridge if isinstance(spec.C, str) else spec.C
        values = (plan.kernel.name, plan.gamma, C, plan.metric, plan.selection)
        found.append(dict(zip(LEARNED, values, strict=True)))
    return found


def _part(model: Any, kernel: Any, gamma: Any, C: Any) -> DenseSpec:
    """The settings of the part "kernel", "kernel+diagonal" or "kernel+ard", or of a callable."""
    name, plus, more = kernel, "", ""
    if isinstance(name, str):
        kernel, plus, more = name.partition("+")
    if kernel == "precomputed" or (plus and more not in ("diagonal", "ard")):
        raise ValueError(
            f'the parts of a stack are kernels of samples, as "rbf", with a metric "rbf+diagonal" '
            f'or a width for each feature "rbf+ard"; got {name!r}.'
        )
    if more == "ard" and isinstance(gamma, str) and gamma == "loo":
        gamma = "loo-ard"
    C = check_positive("C", C, "loo")
    others = (model.degree, model.coef0, model.kernel_params)
    return DenseSpec(
        KernelSpec(kernel, gamma, *others, words=SEARCHED_GAMMAS, device=model.device),
        LS_SVM,
        C if isinstance(C, str) else 1.0 / C,
        C=C,
        criterion=model.criterion,
        random_state=model.random_state,
        callback=model.callback,
        metric="diagonal" if more == "diagonal" else None,
    )


def _each(name: str, value: Any, parts: tuple[Any, ...]) -> list[Any]:
    """The value of each part: one for all, or a list with one for each."""
    if not isinstance(value, list | tuple):
        return [value] * len(parts)
    if len(value) != len(parts):
        raise ValueError(
            f"{name} must be one value or a list of {len(parts)}, one a part; got {value!r}."
        )
    return list(value)


def _check_weights(weights: Any, parts: tuple[Any, ...]) -> Any:
    if isinstance(weights, str) and weights == "loo":
        return weights
    found = [check_positive("weights", a, zero=True) for a in _each("weights", weights, parts)]
    if not any(found):
        raise ValueError("weights must have a number > 0, got zeros only.")
    return np.array(found, dtype=float)
