"""Settings of the machines on the Gram matrix: from parameters to a plan for the engine."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import issparse

from gramian.core.arrays import device_memory, side_by_side, to_host
from gramian.core.engines import PRIMAL, DensePlan, Holdings, PrimalPlan, Unbuilt, make_rows
from gramian.core.equations import Equations, feature_scales, sample_losses
from gramian.core.estimators._crossfit import (
    FOLDS,
    ChoiceWarning,
    clearly_lower,
    held_folds,
    out_of_fold,
    some_of,
    warn_of_width,
)
from gramian.core.estimators._estimator import learned
from gramian.core.estimators._parameters import (
    WIDTH_KERNELS,
    KernelSpec,
    check_choice,
    check_class_weight,
)
from gramian.core.gram import require_memory
from gramian.core.search import (
    DeviceProblem,
    LinearProblem,
    Problem,
    Selection,
    Trial,
    fixed_seed,
    select,
)

Result = TypeVar("Result")

SEARCHED_GAMMAS = ("loo", "loo-ard")
_TYPICAL = 400  # samples that are enough for a median distance


@dataclass(frozen=True, eq=False)
class DenseSpec:
    """The parameters of a machine on the Gram matrix, as `fit` read them.

    Parameters
    ----------
    kernel : KernelSettings
    machine : Machine
    ridge : float or "loo"
    C : float or "loo", optional
        For a machine whose ridge is 1/C.
    factor : str
        If ``sums`` is True, "primal" requires sums over features and "auto" allows them.
    kind : {"signs", "fisher"}
    class_weight : dict, "balanced" or None
    criterion, search, random_state, callback
        Passed to `gramian.core.search.select`.
    sums : bool
        Whether the machine can store sums in place of the Gram matrix of a linear kernel.
    metric : {"diagonal"} or None
        Whether features get factors, from the slopes of a machine without them.
    """

    kernel: KernelSpec
    equations: Equations
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
    chosen_on_data: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        strength = ("ridge" if self.C is None else "C",) if isinstance(self.ridge, str) else ()
        metric = () if self.metric is None else ("metric",)
        vars(self)["samples"] = self.kernel.samples
        vars(self)["random_state"] = fixed_seed(self.random_state)
        vars(self)["chosen_on_data"] = (*self.kernel.chosen_on_data, *strength, *metric)
        if self.class_weight is not None:
            check_class_weight(self.class_weight, self.kind)
        if self.factor == PRIMAL and self.kernel.kernel != "linear":
            raise ValueError(
                f'factor="{PRIMAL}" holds sums over the features of a linear kernel, got '
                f"kernel={self.kernel.kernel!r}. Leave factor at its default."
            )
        if self.metric is not None:
            self._check_metric()

    def _check_metric(self) -> None:
        check_choice("metric", self.metric, (None, "diagonal"))
        kernel, gamma = self.kernel.kernel, self.kernel.gamma
        if not self.kernel.base.has_width:
            raise ValueError(
                f"metric needs one of the kernels {WIDTH_KERNELS}, got kernel={kernel!r}."
            )
        if np.ndim(gamma) or (isinstance(gamma, str) and gamma == "loo-ard"):
            raise ValueError(
                "metric gives each feature its factor, so that gamma must be one number or "
                f'"loo", got {gamma!r}.'
            )

    def choose(self, holdings: Holdings, past: DensePlan | None) -> DensePlan:
        """Choose for these holdings what is to be chosen: kernel, width, ridge, metric."""
        gamma = self.kernel.resolve(holdings)
        if isinstance(gamma, str) or isinstance(self.ridge, str):
            plan = self.tune(holdings, past)
        else:
            plan = self._plan(gamma, self.ridge)
        return plan if self.metric is None else self.judge_metric(holdings, plan)

    def judge_metric(self, holdings: Holdings, plain: DensePlan) -> DensePlan:
        """Return the plan with a metric if that has clearly lower losses out of fold; else without.

        The factors are fitted to the labels, and with many features they can make a leave-one-out
        error as small as one likes. So both plans are chosen again without each of 5 folds and
        judged there, on 2,048 samples at most. A metric of ones stands for none.
        """
        if holdings.rows.width > len(holdings):
            warn_of_width("metric", holdings)
        some = some_of(holdings)
        own = self.beside(Lock())
        bare = replace(own, metric=None)

        def both(rest: Holdings) -> tuple[DensePlan, DensePlan]:
            unit = bare.choose(rest, plain)
            return unit, own.with_metric(rest, unit)

        if len(some) > 1:
            F = out_of_fold(both, some, held_folds(some, FOLDS, self.random_state))
            targets = plain.targets(some)
            without, with_metric = (sample_losses(values, targets) for values in F)
            if clearly_lower(with_metric, without, targets.weight):
                return self.with_metric(holdings, plain)
        warnings.warn(
            "the metric was dropped: on samples that it was not fitted to, the model is not "
            "clearly better with it than without. metric_ holds ones; leave metric=None.",
            ChoiceWarning,
            stacklevel=5,
        )
        ones = np.ones(holdings.rows.width)
        kernel = plain.kernel.with_scales(ones)
        return replace(plain, kernel=kernel, metric=ones, chosen_on_data=self.chosen_on_data)

    def recording(self, record_trial: Any) -> DenseSpec:
        """Return the same settings, which call ``hear(kernel, callback, trial)`` of every trial."""
        return replace(self, callback=partial(record_trial, self.kernel.kernel, self.callback))

    def beside(self, lock: Any) -> DenseSpec:
        """Return the same spec, to be used by several threads: callbacks come one at a time."""
        callback = self.callback
        if callback is None:
            return self

        def call(trial: Trial) -> None:
            with lock:
                callback(trial)

        return replace(self, callback=call)

    def tune(self, holdings: Holdings, past: DensePlan | None) -> DensePlan:
        """Choose the kernel, or its width and ridge, by leave-one-out and without a metric."""
        if self.kernel.candidates:
            named = [self._with_kernel(name) for name in self.kernel.candidates]
            tuned = each_beside(lambda spec: spec.tune(holdings, past), named, holdings)
            best = min(tuned, key=lambda plan: plan.selection.value)
            return replace(best, chosen_on_data=self.chosen_on_data)
        found = select(
            self._problem(holdings),
            gamma=self.kernel.resolve(holdings),
            ridge=self.ridge,
            criterion=self.criterion,
            search=self.search,
            start=_start(past),
            random_state=self.random_state,
            callback=self.callback,
        )
        return self._plan(found.gamma, found.ridge, found)

    def with_metric(self, holdings: Holdings, unit: DensePlan, engine: Any = None) -> DensePlan:
        """Take factors of the features from the slopes of a tuned machine, and tune it again.

        The slopes are those of a machine of as many samples as a search has at most. The search
        starts at the same ridge and the same width in units of the median distance. ``engine`` is
        that of the machine for these holdings, if there is one.
        """
        X, few = to_host(holdings.rows.samples()), slice(None, None, -(-len(holdings) // _TYPICAL))
        some, n = holdings, Problem.largest
        if len(holdings) > n:
            rest = np.delete(
                np.arange(len(holdings)), np.linspace(0, len(holdings) - 1, n).astype(int)
            )
            some, engine = holdings.without(rest), None
        require_memory(3 * len(some) ** 2 * 8, f"The metric of {len(some)} samples")
        _, Z = (engine or unit.engine(some)).state(some)["coefficients"]
        scales = feature_scales(unit.kernel, to_host(some.rows.samples()), Z, some.weight)
        moved = X.multiply(scales).tocsr() if issparse(X) else X * scales
        moved = moved.astype(X.dtype, copy=False)
        grown = unit.kernel.typical_gamma(moved[few]) / unit.kernel.typical_gamma(X[few])
        start = replace(unit, gamma=unit.gamma * grown)
        plain = replace(self._with_kernel(unit.kernel.name), metric=None)
        plan = plain.choose(replace(holdings, rows=make_rows(moved)), start)
        kernel = plan.kernel.with_scales(scales)
        return replace(plan, kernel=kernel, metric=scales, chosen_on_data=self.chosen_on_data)

    def restore(self, holdings: Holdings, public: Any, state: Any) -> tuple[DensePlan, Unbuilt]:
        """Return the plan and an engine stored in a model file; the engine is built on demand."""
        ridge = public["ridge_"] if self.C is None else 1.0 / public["C_"]
        named = self._with_kernel(public["kernel_"]) if self.kernel.candidates else self
        plan = named._plan(public["gamma_"], ridge, public["selection_"])
        if self.metric is not None:
            scales = public["metric_"]
            plan = replace(plan, kernel=plan.kernel.with_scales(scales), metric=scales)
        plan = replace(plan, chosen_on_data=self.chosen_on_data)
        kept = {"coefficients": tuple(state["coefficients"]), "weights": state.get("weights")}
        return plan, Unbuilt(plan, kept)

    def _plan(self, gamma: Any, ridge: float, found: Selection | None = None) -> DensePlan:
        kind = PrimalPlan if self.sums and self.kernel.kernel == "linear" else DensePlan
        return kind(
            self.equations,
            self.kernel.base if gamma is self.kernel.gamma else self.kernel.base.with_gamma(gamma),
            ridge,
            self.factor,
            self.kind,
            self.class_weight,
            gamma,
            found,
            self.chosen_on_data,
        )

    def _with_kernel(self, name: str) -> DenseSpec:
        return replace(self, kernel=replace(self.kernel, kernel=name))

    def _problem(self, holdings: Holdings) -> Problem:
        plan = self._plan(None, 1.0)
        there, targets = holdings.rows.samples(), plan.targets(holdings)
        X = to_host(there)
        if isinstance(plan, PrimalPlan) and plan.uses_primal(len(holdings), holdings.rows.width):
            return LinearProblem(self.equations, targets, X, plan.kernel)
        if device_memory(there) is None or len(X) <= Problem.largest:
            return Problem(self.equations, targets, X, plan.kernel)
        return DeviceProblem(self.equations, targets, X, plan.kernel, there)  # on a device


def each_beside(
    function: Callable[[DenseSpec], Result], specs: Sequence[DenseSpec], holdings: Holdings
) -> list[Result]:
    """``function(spec)`` for each spec, side by side; one after the other on a device."""
    if device_memory(holdings.rows.samples()) is not None:  # on a device
        return [function(spec) for spec in specs]
    lock = Lock()
    return side_by_side(function, [spec.beside(lock) for spec in specs])


def _start(past: DensePlan | None) -> tuple[Any, float] | None:
    """Hyper-parameters at which the search starts, or None without a width or a ridge."""
    if past is None or past.gamma is None or past.ridge == 0:
        return None
    return past.gamma, past.ridge


def shaped(now: Any, values: Any) -> Any:
    """Copy values (..., t) in their public shape, without the last axis for a single output."""
    one = values.shape[-1] == 1 and now.holdings.y.ndim == 1
    return (values[..., 0] if one else values).copy()


def saved(model: Any) -> tuple[Any, Any]:
    """Return one version of a model and the state that its engine saves."""
    with model._lock:
        now = model._fitted()
        now = now if isinstance(now.engine, Unbuilt) else model._serving()
        if "saved" not in now.cache:
            now.cache["saved"] = now.engine.state(now.holdings)
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
            weights = now.engine.feature_weights(now.holdings)
        return shaped(now, weights[1]).T


def _strength_c(model: Any) -> Any:
    """C as given, or one over the ridge that was chosen."""
    now = model._fitted()
    return now.spec.C if not isinstance(now.spec.C, str) else 1.0 / now.choice.ridge


def _kernel_name(model: Any) -> Any:
    """Name of the kernel in use, chosen or given, or the callable."""
    now = model._fitted()
    asked = now.spec.kernel
    return now.choice.kernel.name if asked.candidates else asked.kernel


kernel_name = property(_kernel_name)
metric = learned("metric", "Factors of the features, (n_features,); None without a metric.")
dual_coef, intercept, coef = property(_dual_coef), property(_intercept), property(_coef)
factor, strength_c = property(_factor), property(_strength_c)
