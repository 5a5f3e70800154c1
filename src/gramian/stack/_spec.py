"""Settings of a stack: from parameters to plans of its parts, and their weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np

from gramian.core.arrays import device_memory, side_by_side
from gramian.core.engines import DensePlan, Holdings, Unbuilt
from gramian.core.equations import LS_SVM, ClassTargets
from gramian.core.estimators import DenseSpec, KernelSpec, check_positive
from gramian.core.estimators._dense_spec import SEARCHED_GAMMAS
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
        """Choose each part's hyper-parameters, then the weights, all by leave-one-out.

        Parts that differ by their metric alone share the search without it, and the slopes of a
        part without one are those of its engine. Others are tuned side by side.
        """
        require_stack(len(self.parts), holdings)
        alike: dict[Any, list[int]] = {}
        for i, part in enumerate(self.parts):
            key = (part.kernel.kernel, str(part.kernel.gamma), str(part.C))
            alike.setdefault(key, []).append(i)
        known = past is not None and len(past.parts) == len(self.parts)
        before = past.parts if past is not None and known else (None,) * len(self.parts)
        lock = Lock()

        def tune(numbers: list[int]) -> list[tuple[DensePlan, Any]]:
            parts = [self.parts[i].beside(lock) for i in numbers]
            return _tuned(parts, holdings, before[numbers[0]])

        on_host = device_memory(holdings.rows.samples()) is None
        groups = list(alike.values())
        tuned = side_by_side(tune, groups) if on_host else [tune(numbers) for numbers in groups]
        found: dict[int, tuple[DensePlan, Any]] = {}
        for numbers, pairs in zip(groups, tuned, strict=True):
            found.update(zip(numbers, pairs, strict=True))
        plans, engines = zip(*(found[i] for i in range(len(self.parts))), strict=True)
        weights = self._weighted(plans[0].targets(holdings), list(engines), holdings)
        return replace(self._plan(plans, *weights), ready=list(engines))

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
        return StackPlan(parts, weights, offset, chosen_on_data)

    def _weighted(self, targets: Any, engines: list[Any], holdings: Holdings) -> tuple[Any, Any]:
        """Weights and offset, given or fitted to the left-out values of the parts."""
        if not isinstance(self.weights, str):
            return self.weights, np.zeros(
                1 if holdings.classes is not None else len(targets.own[0])
            )
        if len(holdings) < 2:
            raise ValueError(
                "choosing weights by leave-one-out needs at least 2 samples, got 1 sample. Give "
                "`weights` as numbers."
            )
        F = np.stack([engine.loo(holdings) for engine in engines])
        if isinstance(targets, ClassTargets):
            return class_weights(F, targets), np.zeros(1)
        return response_weights(F, targets.columns, holdings.weight)


def _tuned(
    parts: list[DenseSpec], holdings: Holdings, before: DensePlan | None
) -> list[tuple[DensePlan, Any]]:
    """Plans and engines of parts that differ by their metric alone."""
    unit = replace(parts[0], metric=None).choose(holdings, before)
    built, found = None, []
    for part in parts:
        plan = unit if part.metric is None else part.with_metric(holdings, unit, built)
        engine = plan.engine(holdings)
        built = engine if part.metric is None else built
        found.append((plan, engine))
    return found


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
