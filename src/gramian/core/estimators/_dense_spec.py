"""Settings of the machines on the Gram matrix: from parameters to a plan for the engine."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramian.core.arrays import device_memory, to_host
from gramian.core.engines import SUMS, GramPlan, Holdings, LinearPlan, Unbuilt, make_rows
from gramian.core.equations import Machine, feature_scales
from gramian.core.estimators._estimator import learned
from gramian.core.estimators._parameters import (
    RIVALS,
    KernelSettings,
    check_choice,
    check_class_weight,
)
from gramian.core.gram import require_memory
from gramian.core.search import DeviceProblem, LinearProblem, Problem, Selection, select

SEARCHED_GAMMAS = ("loo", "loo-ard")
_TYPICAL = 400  # samples that are enough for a median distance


@dataclass(frozen=True, eq=False)
class GramSettings:
    """The parameters of a machine on the Gram matrix, as `fit` read them.

    Parameters
    ----------
    kernel : KernelSettings
    machine : Machine
    ridge : float or "loo"
    C : float or "loo", optional
        For a machine whose ridge is 1/C.
    factor : str
        If ``sums`` is True, "woodbury" requires sums over features and "auto" allows them.
    kind : {"signs", "fisher"}
    class_weight : dict, "balanced" or None
    criterion, search, random_state, callback
        Passed to `gramian.core.search.select`.
    sums : bool
        Whether the machine can store sums in place of the Gram matrix of a linear kernel.
    metric : {"diagonal"} or None
        Whether features get factors, from the slopes of a machine without them.
    """

    kernel: KernelSettings
    machine: Machine
    ridge: Any
    C: Any = None
    factor: str = "auto"
    kind: str = "signs"
    class_weight: Any = None
    criterion: str | None = None
    search: str = "ladder"
    random_state: Any = None
    callback: Any = None
    sums: bool = False
    metric: str | None = None
    samples: Any = field(init=False)
    seen_by: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        strength = ("ridge" if self.C is None else "C",) if isinstance(self.ridge, str) else ()
        metric = () if self.metric is None else ("metric",)
        vars(self)["samples"] = self.kernel.samples
        vars(self)["seen_by"] = (*self.kernel.seen_by, *strength, *metric)
        if self.class_weight is not None:
            check_class_weight(self.class_weight, self.kind)
        if self.factor == SUMS and self.kernel.kernel != "linear":
            raise ValueError(
                f'factor="{SUMS}" holds sums over the features of a linear kernel, got '
                f"kernel={self.kernel.kernel!r}. Leave factor at its default."
            )
        if self.metric is not None:
            self._check_metric()

    def _check_metric(self) -> None:
        check_choice("metric", self.metric, (None, "diagonal"))
        kernel, gamma = self.kernel.kernel, self.kernel.gamma
        if not self.kernel.base.has_width:
            raise ValueError(f"metric needs one of the kernels {RIVALS}, got kernel={kernel!r}.")
        if np.ndim(gamma) or (isinstance(gamma, str) and gamma == "loo-ard"):
            raise ValueError(
                "metric gives each feature its factor, so that gamma must be one number or "
                f'"loo", got {gamma!r}.'
            )

    def choose(self, held: Holdings, past: GramPlan | None) -> GramPlan:
        """Choose for these holdings what is to be chosen: kernel, width, ridge, metric."""
        gamma = self.kernel.resolve(held)
        if isinstance(gamma, str) or isinstance(self.ridge, str):
            plan = self.tune(held, past)
        else:
            plan = self._plan(gamma, self.ridge)
        return plan if self.metric is None else self.stretch(held, plan)

    def heard(self, hear: Any) -> GramSettings:
        """Return the same settings, which call ``hear(kernel, callback, trial)`` of every trial."""
        return replace(self, callback=partial(hear, self.kernel.kernel, self.callback))

    def tune(self, held: Holdings, past: GramPlan | None) -> GramPlan:
        """Choose the kernel, or its width and ridge, by leave-one-out and without a metric."""
        if self.kernel.rivals:
            tuned = [self._with_kernel(name).tune(held, past) for name in self.kernel.rivals]
            best = min(tuned, key=lambda plan: plan.selection.value)
            return replace(best, seen_by=self.seen_by)
        found = select(
            self._problem(held),
            gamma=self.kernel.resolve(held),
            ridge=self.ridge,
            criterion=self.criterion,
            search=self.search,
            start=_start(past),
            random_state=self.random_state,
            callback=self.callback,
        )
        return self._plan(found.gamma, found.ridge, found)

    def stretch(self, held: Holdings, unit: GramPlan, engine: Any = None) -> GramPlan:
        """Take factors of the features from the slopes of a tuned machine, and tune it again.

        The slopes are those of a machine of as many samples as a search has at most. The search
        starts at the same ridge and the same width in units of the median distance. ``engine`` is
        that of the machine for these holdings, if there is one.
        """
        X, few = to_host(held.rows.samples()), slice(None, None, -(-len(held) // _TYPICAL))
        some, n = held, Problem.largest
        if len(held) > n:
            rest = np.delete(np.arange(len(held)), np.linspace(0, len(held) - 1, n).astype(int))
            some, engine = held.without(rest), None
        require_memory(3 * len(some) ** 2 * 8, f"The metric of {len(some)} samples")
        _, Z = (engine or unit.engine(some)).state(some)["coefficients"]
        scales = feature_scales(unit.kernel, to_host(some.rows.samples()), Z, some.weight)
        moved = X.multiply(scales).tocsr() if issparse(X) else X * scales
        moved = moved.astype(X.dtype, copy=False)
        grown = unit.kernel.typical_gamma(moved[few]) / unit.kernel.typical_gamma(X[few])
        start = replace(unit, gamma=unit.gamma * grown)
        plain = replace(self._with_kernel(unit.kernel.name), metric=None)
        plan = plain.choose(replace(held, rows=make_rows(moved)), start)
        kernel = plan.kernel.with_scales(scales)
        return replace(plan, kernel=kernel, metric=scales, seen_by=self.seen_by)

    def restore(self, held: Holdings, public: Any, state: Any) -> tuple[GramPlan, Unbuilt]:
        """Return the plan and an engine stored in a model file; the engine is built on demand."""
        ridge = public["ridge_"] if self.C is None else 1.0 / public["C_"]
        named = self._with_kernel(public["kernel_"]) if self.kernel.rivals else self
        plan = named._plan(public["gamma_"], ridge, public["selection_"])
        if self.metric is not None:
            scales = public["metric_"]
            plan = replace(plan, kernel=plan.kernel.with_scales(scales), metric=scales)
        plan = replace(plan, seen_by=self.seen_by)
        kept = {"coefficients": tuple(state["coefficients"]), "weights": state.get("weights")}
        return plan, Unbuilt(plan, kept)

    def _plan(self, gamma: Any, ridge: float, found: Selection | None = None) -> GramPlan:
        kind = LinearPlan if self.sums and self.kernel.kernel == "linear" else GramPlan
        return kind(
            self.machine,
            self.kernel.base if gamma is self.kernel.gamma else self.kernel.base.with_gamma(gamma),
            ridge,
            self.factor,
            self.kind,
            self.class_weight,
            gamma,
            found,
            self.seen_by,
        )

    def _with_kernel(self, name: str) -> GramSettings:
        return replace(self, kernel=replace(self.kernel, kernel=name))

    def _problem(self, held: Holdings) -> Problem:
        plan = self._plan(None, 1.0)
        there, targets = held.rows.samples(), plan.targets(held)
        X = to_host(there)
        if isinstance(plan, LinearPlan) and plan.sums_up(len(held), held.rows.width):
            return LinearProblem(self.machine, targets, X, plan.kernel)
        if device_memory(there) is None or len(X) <= Problem.largest:
            return Problem(self.machine, targets, X, plan.kernel)
        return DeviceProblem(self.machine, targets, X, plan.kernel, there)  # on a device


def _start(past: GramPlan | None) -> tuple[Any, float] | None:
    """Hyper-parameters at which the search starts, or None without a width or a ridge."""
    if past is None or past.gamma is None or past.ridge == 0:
        return None
    return past.gamma, past.ridge


def shaped(now: Any, values: Any) -> Any:
    """Copy values (..., t) in their public shape, without the last axis for a single output."""
    one = values.shape[-1] == 1 and now.held.y.ndim == 1
    return (values[..., 0] if one else values).copy()


def saved(model: Any) -> tuple[Any, Any]:
    """Return one version of a model and the state that its engine saves."""
    with model._lock:
        now = model._fitted()
        now = now if isinstance(now.engine, Unbuilt) else model._serving()
        if "saved" not in now.cache:
            now.cache["saved"] = now.engine.state(now.held)
        return now, now.cache["saved"]


def _dual_coef(model: Any) -> Any:
    """Coefficients of the held samples, of shape (n_samples,) or (n_samples, n_outputs)."""
    now, state = saved(model)
    return shaped(now, state["coefficients"][1])


def _intercept(model: Any) -> Any:
    """Intercept, a number or an array of shape (n_outputs,)."""
    now, state = saved(model)
    return shaped(now, state["coefficients"][0])


def _factor(model: Any) -> str:
    """Name of the factor in use: "inverse", "cholesky", "qr", …, or "svd" at ridge 0."""
    return model._serving().engine.factor


def _coef(model: Any) -> Any:
    """Weights of the features, (n_features,) or (n_outputs, n_features); linear kernel only."""
    if model.kernel != "linear":
        raise AttributeError(f"coef_ is there for the linear kernel, not for {model.kernel!r}.")
    with model._lock:
        now, state = saved(model)
        weights = state.get("weights")
        if weights is None:
            now = model._serving()
            weights = now.engine.feature_weights(now.held)
        return shaped(now, weights[1]).T


def _strength_c(model: Any) -> Any:
    """C as given, or one over the ridge that was chosen."""
    now = model._fitted()
    return now.settings.C if not isinstance(now.settings.C, str) else 1.0 / now.choice.ridge


def _kernel_name(model: Any) -> Any:
    """Name of the kernel in use, chosen or given, or the callable."""
    now = model._fitted()
    asked = now.settings.kernel
    return now.choice.kernel.name if asked.rivals else asked.kernel


kernel_name = property(_kernel_name)
metric = learned("metric", "Factors of the features, (n_features,); None without a metric.")
dual_coef, intercept, coef = property(_dual_coef), property(_intercept), property(_coef)
factor, strength_c = property(_factor), property(_strength_c)
