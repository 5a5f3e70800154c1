"""Settings of the machines on the Gram matrix: what is read at fit, chosen, and built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.utils import check_random_state

from gramian.engines import SUMS, GramPlan, Holdings, LinearPlan, Unbuilt, noted
from gramian.estimators._parameters import KernelSettings
from gramian.machines import Machine
from gramian.selection import LinearProblem, Problem, Selection, select, subsample

SEARCHED_GAMMAS = ("loo", "loo-ard")
# Samples on which the ridge of a linear kernel is searched; more of them would not change it.
_SEARCHED = 20_000


@dataclass(frozen=True, eq=False)
class GramChoice:
    """Hyper-parameters of a machine on the Gram matrix.

    Attributes
    ----------
    gamma : float, ndarray or None
    ridge : float
    selection : Selection or None
        The searched path, where something was searched.
    plan : GramPlan
        What an engine is built with.
    seen_by : tuple of str
        Which of these were chosen on samples.
    """

    gamma: Any
    ridge: float
    selection: Selection | None
    plan: GramPlan
    seen_by: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class GramSettings:
    """The parameters of a machine on the Gram matrix, as `fit` read them.

    Parameters
    ----------
    kernel : KernelSettings
    machine : Machine
    ridge : float or "loo"
    C : float or "loo", optional
        Of a machine whose ridge is given by one over it.
    factor : str
        "woodbury" asks for sums over features, and "auto" allows them, where ``sums`` is True.
    kind : {"signs", "fisher"}
    class_weight : dict, "balanced" or None
    criterion, search, random_state, callback
        Of `gramian.selection.select`.
    sums : bool
        Whether the machine can hold sums in place of the matrix of a linear kernel.
    """

    kernel: KernelSettings
    machine: Machine
    ridge: Any
    C: Any = None
    factor: str = "auto"
    kind: str = "signs"
    class_weight: Any = None
    criterion: str | None = None
    search: str = "path"
    random_state: Any = None
    callback: Any = None
    sums: bool = False

    def __post_init__(self) -> None:
        if self.factor == SUMS and self.kernel.kernel != "linear":
            raise ValueError(
                f'factor="{SUMS}" holds sums over the features of a linear kernel, got '
                f"kernel={self.kernel.kernel!r}. Leave factor at its default."
            )

    @property
    def samples(self) -> Any:
        """How samples come."""
        return self.kernel.samples

    def choose(self, held: Holdings, past: GramChoice | None) -> GramChoice:
        """Width and ridge for these holdings, by leave-one-out those that are "loo"."""
        gamma, ridge, found = self.kernel.resolve(held), self.ridge, None
        if isinstance(gamma, str) or isinstance(ridge, str):
            found = select(
                self._problem(held),
                gamma=gamma,
                ridge=ridge,
                criterion=self.criterion,
                search=self.search,
                start=_start(past),
                random_state=self.random_state,
                callback=self.callback,
            )
            gamma, ridge = found.gamma, found.ridge
        return self._chosen(gamma, ridge, found)

    def build(self, held: Holdings, choice: GramChoice, past=(), reason=None) -> Any:
        """An engine for these holdings."""
        return noted(choice.plan.engine(held, past), reason, len(held))

    def restore(self, held: Holdings, public: Any, state: Any) -> tuple[GramChoice, Unbuilt]:
        """Choice and engine of a model file; the engine is built when it is first needed."""
        ridge = public["ridge_"] if self.C is None else 1.0 / public["C_"]
        choice = self._chosen(public["gamma_"], ridge, public["selection_"])
        saved = {"coefficients": tuple(state["coefficients"]), "weights": state.get("weights")}
        return choice, Unbuilt(choice.plan, saved)

    def _chosen(self, gamma: Any, ridge: float, found: Selection | None) -> GramChoice:
        kernel = self.kernel.make(gamma)
        plan = LinearPlan if self.sums and self.kernel.kernel == "linear" else GramPlan
        searched = ("ridge" if self.C is None else "C",) if isinstance(self.ridge, str) else ()
        return GramChoice(
            gamma,
            ridge,
            found,
            plan(self.machine, kernel, ridge, self.factor, self.kind, self.class_weight),
            (*self.kernel.seen_by, *searched),
        )

    def _problem(self, held: Holdings) -> Problem:
        plan = self._chosen(None, 1.0, None).plan
        X, targets = held.rows.samples(), plan.targets(held)
        if isinstance(plan, LinearPlan) and plan.sums_up(len(held), held.rows.width):
            problem = LinearProblem(self.machine, targets, X, plan.kernel)
            return subsample(problem, _SEARCHED, check_random_state(self.random_state))
        return Problem(self.machine, targets, X, plan.kernel)


def _start(past: GramChoice | None) -> tuple[Any, float] | None:
    """The present hyper-parameters, unless there is no width or no ridge to start from."""
    if past is None or past.gamma is None or past.ridge == 0:
        return None
    return past.gamma, past.ridge


def shaped(values: Any) -> Any:
    """Values of the outputs (..., t) as a caller sees them: one output stands for itself."""
    return (values[..., 0] if values.shape[-1] == 1 else values).copy()


def coefficients(model: Any) -> Any:
    """Intercepts (t,) and coefficients (n, t) of the present version."""

    def read(now):
        saved = now.engine.state(now.held)
        return saved["coefficients"]

    with model._lock:
        now = model._fitted()
        if isinstance(now.engine, Unbuilt):
            return read(now)
        return model._derived("coefficients", read)


def dual_coef(model: Any) -> Any:
    """Coefficients of the held samples, of shape (n_samples,) or (n_samples, n_outputs)."""
    return shaped(coefficients(model)[1])


def intercept(model: Any) -> Any:
    """Intercept, a number or an array of shape (n_outputs,)."""
    return shaped(coefficients(model)[0])


def factor(model: Any) -> str:
    """Name of the factor in use: "inverse", "cholesky", "qr", …, or "svd" at ridge 0."""
    return model._serving().engine.factor


def coef(model: Any) -> Any:
    """Weights of the features, (n_features,) or (n_outputs, n_features); linear kernel only."""
    if model.kernel != "linear":
        raise AttributeError(f"coef_ is there for the linear kernel, not for {model.kernel!r}.")
    weights = model._derived("weights", lambda now: now.engine.feature_weights(now.held))
    return shaped(weights[1]).T.copy()


def strength_c(model: Any) -> Any:
    """C as given, or one over the ridge that was chosen."""
    now = model._fitted()
    return now.settings.C if not isinstance(now.settings.C, str) else 1.0 / now.choice.ridge
