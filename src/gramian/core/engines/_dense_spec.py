"""The spec of the families on the Gram matrix: targets and weights, choices, and engines."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.sparse import issparse

from gramian.core.arrays import Array, device_memory, to_host
from gramian.core.engines._balanced import balanced_factors
from gramian.core.engines._crossfit import (
    FOLDS,
    ChoiceWarning,
    clearly_lower,
    held_folds,
    out_of_fold,
    some_of,
    warn_of_width,
)
from gramian.core.engines._deferred import DeferredEngine
from gramian.core.engines._dense import DenseEngine, DenseState
from gramian.core.engines._engine import Engine, Predictor
from gramian.core.engines._holdings import Holdings
from gramian.core.engines._kernel_spec import KernelSpec
from gramian.core.engines._minimum_norm import MinimumNormEngine
from gramian.core.engines._parameters import check_class_weight
from gramian.core.engines._primal import PRIMAL, LinearDenseEngine, PrimalEngine, PrimalPredictor
from gramian.core.engines._rows import make_rows
from gramian.core.engines._side_by_side import map_side_by_side
from gramian.core.engines._spec import Callback, Listener, Spec, called_too
from gramian.core.engines._state import State, Stored
from gramian.core.engines._validate_chosen import validate_selection
from gramian.core.equations import (
    ClassTargets,
    Equations,
    Responses,
    Targets,
    feature_scales,
    sample_losses,
)
from gramian.core.gram import Rebuild
from gramian.core.gram._memory import require_memory
from gramian.core.kernels import Kernel, Linear
from gramian.core.kernels._expansion import KernelExpansion
from gramian.core.search import Problem, Selection, Trial, select
from gramian.core.search._order import fixed_seed
from gramian.core.search._problem import DeviceProblem, LinearProblem
from gramian.core.validation import check_number

_TYPICAL = 400  # samples that are enough for a median distance
ClassWeight = Mapping[Any, float] | str | None


@dataclass(frozen=True, eq=False)
class DenseSpec(Spec[DenseState]):
    """The parameters of an estimator on the Gram matrix.

    Parameters
    ----------
    kernel : KernelSpec
    equations : Equations
    ridge : float or "loo"
    C : float or "loo", optional
        For an estimator whose ridge is 1/C.
    factor : {"auto", "inverse", "single", "cholesky", "qr", "primal"}
    kind_of_targets : {"signs", "fisher"}
        Targets of a classifier: ±1 or Fisher's.
    class_weight : dict, "balanced" or None
        Multiplies the weights of a classifier's samples.
    criterion, search, random_state, callback
        Passed to `gramian.core.search.select`.
    primal : bool
        Whether sums over features may take the place of the Gram matrix of a linear kernel.
    metric : {"diagonal", "ard"} or None
        How features get weights: factors from the slopes of a model without them, or widths of
        their own, searched by leave-one-out.
    selection : Selection or None
        The searched path, or None if nothing was searched.
    chosen_on_data : tuple of str
    """

    kernel: KernelSpec
    equations: Equations
    ridge: float | Literal["loo"]
    C: float | Literal["loo"] | None = None
    factor: str = "auto"
    kind_of_targets: str = "signs"
    class_weight: ClassWeight = None
    criterion: str | None = None
    search: str = "ladder"
    random_state: Any = None
    callback: Callback | None = None
    primal: bool = False
    metric: str | None = None
    selection: Selection | None = None
    chosen_on_data: tuple[str, ...] = ()
    state_type: ClassVar[type[State]] = DenseState

    def __post_init__(self) -> None:
        vars(self)["random_state"] = fixed_seed(self.random_state)
        if self.class_weight is not None:
            check_class_weight(self.class_weight, self.kind_of_targets)
        if self.factor == PRIMAL and not isinstance(self.kernel.kernel, Linear):
            raise ValueError(
                f'factor="{PRIMAL}" holds sums over the features of a linear kernel, got '
                f"kernel={self.kernel.kernel.name!r}. Leave factor at its default."
            )

    @property
    def has_factors(self) -> bool:
        """Whether features have factors, from the slopes of a model without them."""
        return self.metric == "diagonal"

    @property
    def precomputed(self) -> bool:
        return self.kernel.precomputed

    @property
    def device(self) -> Any:
        return self.kernel.device

    @property
    def gamma(self) -> Any:
        """The width, or how it is to be found; None for kernels without one."""
        return self.kernel.gamma if self.kernel.kernel.takes_gamma else None

    @property
    def predicts_with(self) -> Kernel:
        """The kernel that predicts."""
        return self.kernel.kernel

    def near(self) -> tuple[tuple[float, Kernel], ...]:
        return ((1.0, self.predicts_with),)

    @property
    def shift(self) -> float:
        """The ridge, once it is a number."""
        assert not isinstance(self.ridge, str)
        return self.ridge

    # -- targets and weights --------------------------------------------------------------------

    def targets(self, holdings: Holdings) -> Targets:
        """Return the targets of the held samples, with sample weights times class weights."""
        weight = holdings.weight if self.class_weight is None else self.weights(holdings)
        if holdings.classes is None:
            return Responses(holdings.y.reshape(len(holdings), -1), weight, holdings.codes)
        kind, codes = self.kind_of_targets, holdings.codes
        return ClassTargets(holdings.labels, len(holdings.classes), kind, weight, codes)

    def weights(self, holdings: Holdings) -> Array:
        """Sample weights times class weights."""
        factors = self.class_factors(holdings)
        return holdings.weight if factors is None else holdings.weight * factors[holdings.labels]

    def class_factors(self, holdings: Holdings) -> Array | None:
        """The class weights (n_classes,), or None if there are none."""
        if self.class_weight is None:
            return None
        assert holdings.classes is not None
        if isinstance(self.class_weight, str):
            return balanced_factors(holdings.labels, holdings.weight, len(holdings.classes))
        labels = holdings.classes.tolist()
        return np.array([self.class_weight.get(label, 1.0) for label in labels])

    # -- choices --------------------------------------------------------------------------------

    def resolve(self, holdings: Holdings, start: Self | None = None) -> Self:
        """Choose for these holdings what is to be chosen: kernel, width, ridge, metric."""
        plain = self.without_factors(holdings, start)
        return self.judge_factors(holdings, plain) if self.has_factors else plain

    def without_factors(self, holdings: Holdings, start: Self | None = None) -> Self:
        """Choose kernel, width and ridge, without factors of the features."""
        gamma = self.kernel.width(holdings)
        if isinstance(gamma, str) or isinstance(self.ridge, str):
            return self.tune(holdings, start)
        return self.fixed(gamma, self.ridge)

    def judge_factors(self, holdings: Holdings, plain: Self) -> Self:
        """Return the spec with factors if that has clearly lower losses out of fold; else without.

        The factors are fitted to the labels, and with many features they can make a leave-one-out
        error as small as one likes. So both specs are resolved again without each of 5 folds and
        judged there, on 2,048 samples at most. Factors of one stand for none.
        """
        if holdings.rows.width > len(holdings):
            warn_of_width("metric", holdings)
        some, spec = some_of(holdings), self.with_locked_callback(Lock())

        def both(rest: Holdings) -> tuple[Self, Self]:
            unit = spec.without_factors(rest, plain)
            return unit, spec.with_factors(rest, unit)

        if len(some) > 1:
            F = out_of_fold(both, some, held_folds(some, FOLDS, self.random_state))
            targets = plain.targets(some)
            without, with_factors = (sample_losses(values, targets) for values in F)
            if clearly_lower(with_factors, without, targets.weight):
                return self.with_factors(holdings, plain)
        warnings.warn(
            "the metric was dropped: on samples that it was not fitted to, the model is not "
            "clearly better with it than without. metric_ holds ones; leave metric=None.",
            ChoiceWarning,
            stacklevel=5,
        )
        kernel = plain.kernel.with_factors(np.ones(holdings.rows.width))
        return replace(plain, kernel=kernel, chosen_on_data=self.to_choose())

    def tune(self, holdings: Holdings, start: Self | None) -> Self:
        """Choose the kernel, or its width and ridge, by leave-one-out, without factors."""
        holdings.require_groups()
        if self.kernel.candidates:
            specs = self.with_locked_callback(Lock()).for_each_kernel()
            tuned = map_side_by_side(lambda spec: spec.tune(holdings, start), specs, holdings)
            best = min(tuned, key=lambda spec: spec.found.value)
            return replace(best, chosen_on_data=self.to_choose())
        gamma = self.kernel.width(holdings)
        named = gamma is None or isinstance(gamma, str)
        given = self if named else replace(self, kernel=self.kernel.with_gamma(gamma))
        found = select(
            given.problem(holdings),
            gamma=gamma,
            ridge=self.ridge,
            criterion=self.criterion,
            search=self.search,
            by_feature=self.metric == "ard",
            start=None if start is None else start.starting_point(),
            random_state=self.random_state,
            callback=self.callback,
        )
        return self.fixed(found.gamma, found.ridge, found)

    def for_each_kernel(self) -> list[Self]:
        """Return the spec with each of the kernels to choose from; itself if one is given."""
        names = self.kernel.candidates
        return [replace(self, kernel=self.kernel.with_kernel(name)) for name in names] or [self]

    def with_factors(self, holdings: Holdings, unit: Self, engine: Engine | None = None) -> Self:
        """Take factors of the features from the slopes of a tuned model, and tune it again.

        The slopes are those of a model of as many samples as a search has at most. The search
        starts at the same ridge and the same width in units of the median distance. ``engine`` is
        that of ``unit`` for these holdings, if there is one.
        """
        X = to_host(holdings.rows.samples())
        few = slice(None, None, -(-len(holdings) // _TYPICAL))
        some = some_of(holdings)
        require_memory(3 * len(some) ** 2 * 8, f"The metric of {len(some)} samples")
        if engine is None or some is not holdings:
            engine = unit.build(some)
        state = engine.state(some)
        assert isinstance(state, DenseState)
        kernel, Z = unit.kernel.kernel, state.coefficients[1]
        scales = feature_scales(kernel, to_host(some.rows.samples()), Z, some.weight)
        moved = X.multiply(scales).tocsr() if issparse(X) else X * scales
        moved = moved.astype(X.dtype, copy=False)
        grown = kernel.typical_gamma(moved[few]) / kernel.typical_gamma(X[few])
        start = replace(unit, kernel=unit.kernel.with_gamma(unit.gamma * grown))
        named = self.kernel.with_kernel(kernel.name) if self.kernel.candidates else self.kernel
        rows = replace(holdings, rows=make_rows(moved), version=object())
        tuned = replace(self, kernel=named).without_factors(rows, start)
        kernel_spec = tuned.kernel.with_factors(scales)
        return replace(tuned, kernel=kernel_spec, chosen_on_data=self.to_choose())

    def fixed(self, gamma: Any, ridge: float, found: Selection | None = None) -> Self:
        """Return the spec with this width and ridge."""
        C = 1.0 / ridge if isinstance(self.C, str) else self.C
        return replace(
            self,
            kernel=self.kernel.with_gamma(gamma),
            ridge=ridge,
            C=C,
            selection=found,
            chosen_on_data=self.to_choose(),
        )

    def to_choose(self) -> tuple[str, ...]:
        """Names of what is to be chosen on samples."""
        ridge = ("ridge" if self.C is None else "C",) if isinstance(self.ridge, str) else ()
        metric = ("metric",) if self.has_factors else ()
        return (*self.kernel.chosen_on_data, *ridge, *metric) or self.chosen_on_data

    def fitted_numbers(self, width: int) -> int:
        by_feature = self.has_factors or np.ndim(self.gamma) > 0
        return width if by_feature and self.chosen_on_data else len(self.chosen_on_data)

    @property
    def found(self) -> Selection:
        """What the search found."""
        assert self.selection is not None
        return self.selection

    def starting_point(self) -> tuple[Any, float] | None:
        """Where another search starts, or None without a width or a ridge."""
        return None if self.gamma is None or self.shift == 0 else (self.gamma, self.shift)

    def problem(self, holdings: Holdings) -> Problem:
        """What a search is to tune."""
        there, targets = holdings.rows.samples(), self.targets(holdings)
        X, kernel = to_host(there), self.predicts_with
        if self.uses_primal(len(holdings), holdings.rows.width):
            return LinearProblem(self.equations, targets, X, kernel)
        if device_memory(there) is None or len(X) <= Problem.largest:
            return Problem(self.equations, targets, X, kernel)
        return DeviceProblem(self.equations, targets, X, kernel, there)  # on a device

    def with_locked_callback(self, lock: Any) -> Self:
        """Return the same spec for use by several threads: callbacks come one at a time."""
        callback = self.callback
        if callback is None:
            return self

        def call(trial: Trial) -> None:
            with lock:
                callback(trial)

        return replace(self, callback=call)

    def listening(self, listener: Listener) -> Self:
        name = self.kernel.kernel.name
        return replace(self, callback=called_too(listener, name, self.callback))

    # -- engines --------------------------------------------------------------------------------

    def uses_primal(self, n: int, d: int) -> bool:
        """Whether to hold sums for n samples of d features; "auto" does so for n > 2 (d + 1)."""
        linear = self.primal and isinstance(self.kernel.kernel, Linear)
        return linear and (self.factor == PRIMAL or (self.factor == "auto" and n > 2 * (d + 1)))

    def build(self, holdings: Holdings, history: tuple[Rebuild, ...] = ()) -> Engine:
        if self.ridge == 0:
            size = 3 * len(holdings) ** 2 * holdings.rows.dtype.itemsize
            require_memory(size, f"Decomposing the Gram matrix of {len(holdings)} samples")
            return MinimumNormEngine(self, holdings, history)
        if self.uses_primal(len(holdings), holdings.rows.width):
            return PrimalEngine(self, holdings, history)
        linear = self.primal and isinstance(self.kernel.kernel, Linear)
        return (LinearDenseEngine if linear else DenseEngine)(self, holdings, history)

    def predictor(self, holdings: Holdings, state: DenseState) -> Predictor:
        """Return the predictor of ``f(x) = k(x, held) Z + b``, or of ``x·W + b``."""
        if state.weights is not None:
            return PrimalPredictor(*state.weights)
        intercept, Z = state.coefficients
        samples = holdings.rows.samples(lend=True)
        return KernelExpansion(self.predicts_with, samples, Z, intercept)

    # -- files ----------------------------------------------------------------------------------

    def chosen(self) -> dict[str, Any]:
        strength = {"ridge": self.ridge} if self.C is None else {"C": self.C}
        return {**self.kernel.chosen(), **strength, "selection": self.selection}

    def with_chosen(self, values: Mapping[str, Any]) -> Self:
        ridge = values["ridge"] if self.C is None else 1.0 / values["C"]
        C = None if self.C is None else values["C"]
        return replace(
            self,
            kernel=self.kernel.with_chosen(values),
            ridge=ridge,
            C=C,
            selection=values["selection"],
            chosen_on_data=self.to_choose(),
        )

    def validate_chosen(self, values: Mapping[str, Any], stored: Stored) -> None:
        self.kernel.validate_chosen(values, stored, metric=self.has_factors)
        if self.C is None:
            check_number(values["ridge"], "ridge_", 0.0)
        else:
            check_number(values["C"], "C_", 0.0, above=True)
        validate_selection(values["selection"])

    def load(self, holdings: Holdings, state: DenseState) -> Engine:
        return DeferredEngine(self, kept=state)
