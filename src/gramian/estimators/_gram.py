"""Settings of the machines on the Gram matrix: from parameters to a plan for the engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gramian.arrays import to_host
from gramian.engines import SUMS, GramPlan, Holdings, LinearPlan, Unbuilt
from gramian.estimators._parameters import KernelSettings, check_class_weight
from gramian.machines import Machine
from gramian.selection import LinearProblem, Problem, Selection, select

SEARCHED_GAMMAS = ("loo", "loo-ard")


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
        Passed to `gramian.selection.select`.
    sums : bool
        Whether the machine can store sums in place of the Gram matrix of a linear kernel.
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
    samples: Any = field(init=False)

    def __post_init__(self) -> None:
        vars(self)["samples"] = self.kernel.samples
        if self.class_weight is not None:
            check_class_weight(self.class_weight, self.kind)
        if self.factor == SUMS and self.kernel.kernel != "linear":
            raise ValueError(
                f'factor="{SUMS}" holds sums over the features of a linear kernel, got '
                f"kernel={self.kernel.kernel!r}. Leave factor at its default."
            )

    def choose(self, held: Holdings, past: GramPlan | None) -> GramPlan:
        """Choose width and ridge for these holdings; leave-one-out chooses those that are "loo"."""
        gamma = self.kernel.resolve(held)
        if not isinstance(gamma, str) and not isinstance(self.ridge, str):
            return self._plan(gamma, self.ridge)
        found = select(
            self._problem(held),
            gamma=gamma,
            ridge=self.ridge,
            criterion=self.criterion,
            search=self.search,
            start=_start(past),
            random_state=self.random_state,
            callback=self.callback,
        )
        return self._plan(found.gamma, found.ridge, found)

    def restore(self, held: Holdings, public: Any, state: Any) -> tuple[GramPlan, Unbuilt]:
        """Return the plan and an engine stored in a model file; the engine is built on demand."""
        ridge = public["ridge_"] if self.C is None else 1.0 / public["C_"]
        plan = self._plan(public["gamma_"], ridge, public["selection_"])
        kept = {"coefficients": tuple(state["coefficients"]), "weights": state.get("weights")}
        return plan, Unbuilt(plan, kept)

    def _plan(self, gamma: Any, ridge: float, found: Selection | None = None) -> GramPlan:
        searched = ("ridge" if self.C is None else "C",) if isinstance(self.ridge, str) else ()
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
            (*self.kernel.seen_by, *searched),
        )

    def _problem(self, held: Holdings) -> Problem:
        plan = self._plan(None, 1.0)
        X, targets = to_host(held.rows.samples()), plan.targets(held)
        if isinstance(plan, LinearPlan) and plan.sums_up(len(held), held.rows.width):
            return LinearProblem(self.machine, targets, X, plan.kernel)
        return Problem(self.machine, targets, X, plan.kernel)


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


dual_coef, intercept, coef = property(_dual_coef), property(_intercept), property(_coef)
factor, strength_c = property(_factor), property(_strength_c)
