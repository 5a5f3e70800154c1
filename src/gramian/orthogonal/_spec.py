"""The spec of orthogonal least squares: how bases are selected, and what was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, ClassVar, Self

import numpy as np

from gramian.core.arrays import Array, placed_like
from gramian.core.engines import (
    DenseSpec,
    Engine,
    Holdings,
    KernelSpec,
    Listener,
    Spec,
    State,
    Stored,
    check_choice,
    check_positive,
    is_number,
    map_side_by_side,
    validate_gamma,
)
from gramian.core.engines._spec import Callback, called_too
from gramian.core.equations import LS_SVM
from gramian.core.gram import Rebuild
from gramian.core.kernels import KERNELS, Kernel
from gramian.core.search import subsample
from gramian.core.search._order import fixed_seed, repeatable
from gramian.core.validation import check_index, check_number, check_sequence
from gramian.orthogonal._engine import BasisEngine
from gramian.orthogonal._fixed_basis import Centres, FixedBasis, target_columns
from gramian.orthogonal._forward import forward_select
from gramian.orthogonal._rules import RIDGES, ForwardRules
from gramian.orthogonal._state import BasisState
from gramian.orthogonal._trials import TRIED_ON, Trials

# gamma="cv" tries these multiples of the width that leave-one-out chooses for least squares on some
# samples, but no others than that width for centres drawn at random; of "scale", for kernels
# without a width, the last.
_NEIGHBOURS = 2.0 ** np.arange(-1, 2)
_FAR = 4.0 ** np.arange(-3, 4)
# Samples on which that is: more for a number for each feature, or where no trial corrects it.
_SEARCHED, _SEARCHED_WELL = 512, 1024


@dataclass(frozen=True, eq=False)
class BasisSpec(Spec[BasisState]):
    """The parameters of orthogonal least squares, and what was chosen for them.

    Parameters
    ----------
    widths : tuple of KernelSpec
        One, or one for each entry of a list of gammas; each centre uses the one that helps most.
    listed : bool
        Whether gamma is a list.
    rules : ForwardRules
        Rules of the selection, which always uses the orthogonal penalty.
    ridge : "cv", "loo", "gcv" or float
        λ of the weights, or how to find it.
    penalty : {"kernel", "orthogonal"}
    random_state : int, RandomState or None
    one_vs_rest : bool
        Whether each of more than two classes has a basis of its own.
    tuner : DenseSpec, optional
        Least squares on the Gram matrix of some samples, which chooses the kernel, the width and
        the metric; None where gamma is given.
    callback : callable, optional
        Is called with each setting that is tried, by the tuner as well.
    chosen_ridge : str or float
        λ that was chosen, or the rule by which each basis finds its own.
    chosen_on_data : tuple of str
    """

    widths: tuple[KernelSpec, ...]
    listed: bool
    rules: ForwardRules
    ridge: str | float
    penalty: str
    random_state: Any
    one_vs_rest: bool = False
    tuner: DenseSpec | None = None
    callback: Callback | None = None
    chosen_ridge: str | float = "cv"
    chosen_on_data: tuple[str, ...] = ()
    state_type: ClassVar[type[State]] = BasisState

    @classmethod
    def read(cls, model: Any, *, one_vs_rest: bool = False) -> BasisSpec:
        """Return the parameters of an estimator, checked."""
        for name in ("tol", "epsilon", "patience"):
            if not is_number(getattr(model, name)):
                raise ValueError(f"{name} must be a number >= 0, got {getattr(model, name)!r}.")
        check_positive("ridge", model.ridge, "cv", *RIDGES, zero=True)
        check_choice("penalty", model.penalty, ("kernel", "orthogonal"))
        if model.selection == "random" and model.penalty != "kernel":
            raise ValueError(
                f'selection="random" makes no columns orthogonal and needs penalty="kernel", got '
                f"penalty={model.penalty!r}."
            )
        names = ("max_basis", "selection", "stopping", "patience", "tol", "epsilon")
        given = {name: getattr(model, name) for name in (*names, "penalize_bias")}
        rules = ForwardRules(**given, ridge=_ridge_on_the_way(model))
        listed = isinstance(model.gamma, list | tuple)
        tuner, state = _tuner(model), fixed_seed(model.random_state)
        widths = _widths(model, listed) if tuner is None else (_searched(tuner.kernel),)
        return cls(
            widths,
            listed,
            rules,
            model.ridge,
            model.penalty,
            state,
            one_vs_rest,
            tuner,
            model.callback,
        )

    @property
    def device(self) -> Any:
        return self.widths[0].device

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """One kernel for each width."""
        return tuple(width.kernel for width in self.widths)

    def near(self) -> tuple[tuple[float, Kernel], ...]:
        return tuple((1.0, kernel) for kernel in self.kernels)

    @property
    def gamma(self) -> Any:
        """Width or widths; None for kernels without one."""
        found = [width.gamma if width.kernel.takes_gamma else None for width in self.widths]
        return found if self.listed else found[0]

    @property
    def drawn(self) -> bool:
        """Whether centres are drawn at random, whatever the targets are."""
        return self.rules.selection == "random"

    # -- choices --------------------------------------------------------------------------------

    def resolve(self, holdings: Holdings, start: Self | None = None) -> Self:
        """Choose kernel, width, metric and λ for these holdings; trials choose what is "cv"."""
        if self.tuner is None or not self.widths[0].kernel.takes_gamma:
            plain = self.fixed([width.with_gamma(width.width(holdings)) for width in self.widths])
            return replace(plain, chosen_ridge=plain.tuned_ridge(holdings))
        trials = Trials(self, holdings)
        tried = [self.fixed([width]) for width in self._candidates(self.tuner, holdings)]
        rule = self.ridge_rule(holdings)
        if len(tried) == 1 and rule != "cv":
            return replace(tried[0], chosen_ridge=rule)
        found = map_side_by_side(trials.run, tried, holdings)
        best = min(range(len(found)), key=lambda i: found[i][0])
        return replace(tried[best], chosen_ridge=found[best][1] if rule == "cv" else rule)

    def listening(self, listener: Listener) -> Self:
        tuner = None if self.tuner is None else self.tuner.listening(listener)
        callback = called_too(listener, self.widths[0].kernel.name, self.callback)
        return replace(self, tuner=tuner, callback=callback)

    def fixed(self, widths: Sequence[KernelSpec]) -> Self:
        """Return the spec with these kernels, which have their widths."""
        searched = ("ridge",) if isinstance(self.ridge, str) else ()
        metric = ("metric",) if self._has_factors else ()
        chosen = (*self.widths[0].chosen_on_data, *searched, *metric)
        return replace(self, widths=tuple(widths), chosen_on_data=chosen)

    def _candidates(self, tuner: DenseSpec, holdings: Holdings) -> list[KernelSpec]:
        """Return the kernels with their widths that trials compare."""
        first = self.widths[0]
        if not first.kernel.has_width:
            scale = replace(first, gamma="scale").width(holdings)
            return [first.with_gamma(scale * far) for far in _FAR]
        size = _SEARCHED_WELL if self.drawn or tuner.metric is not None else _SEARCHED
        some = holdings.take(subsample(tuner.problem(holdings), size))
        specs = tuner.with_locked_callback(Lock()).for_each_kernel()
        tuned = map_side_by_side(lambda spec: spec.resolve(some).kernel, specs, some)
        given = not isinstance(first.gamma, str)
        steps = [1.0] if self.drawn or given else _NEIGHBOURS.tolist()
        return [kernel.with_gamma(kernel.gamma * step) for kernel in tuned for step in steps]

    @property
    def _has_factors(self) -> bool:
        return self.tuner is not None and self.tuner.has_factors

    @property
    def _names(self) -> tuple[str, ...]:
        """Names of what files store of the choices on a kernel."""
        more = self.tuner is not None and (self.tuner.kernel.candidates or self.tuner.metric)
        return ("kernel", "gamma", "metric") if more else ("gamma",)

    def fitted_numbers(self, width: int) -> int:
        by_feature = self._has_factors or (not self.listed and np.ndim(self.gamma) > 0)
        return width if by_feature and self.chosen_on_data else len(self.chosen_on_data)

    # -- bases ----------------------------------------------------------------------------------

    def groups(self, holdings: Holdings) -> list[Array]:
        """Groups of outputs that share a basis; two classes always do, as their targets are ±y."""
        if holdings.classes is None:
            return [np.arange(holdings.y.reshape(len(holdings), -1).shape[1])]
        one_vs_rest = self.one_vs_rest and len(holdings.classes) > 2
        return list(holdings.classes[:, None]) if one_vs_rest else [holdings.classes]

    def ridge_rule(self, holdings: Holdings) -> str | float:
        """``ridge``, with "cv" replaced by "loo" if trials would use only a part of the samples.

        The bases of a subsample have fewer centres. What these cannot fit acts as noise, which
        requires a larger λ than all samples need. With centres that are drawn, leave-one-out
        ignores nothing, and needs no trials.
        """
        large = self.drawn or len(holdings) > TRIED_ON
        return "loo" if self.ridge == "cv" and large else self.ridge

    def tuned_ridge(self, holdings: Holdings) -> str | float:
        """λ found by trials if the rule is "cv"; else the rule itself."""
        rule = self.ridge_rule(holdings)
        return Trials(self, holdings).run(self)[1] if rule == "cv" else rule

    def bases(self, holdings: Holdings, ridge: str | float) -> tuple[FixedBasis, ...]:
        """Select a basis for each group of outputs."""
        groups = self.groups(holdings)
        return tuple(
            map_side_by_side(lambda some: self.select(holdings, some, ridge), groups, holdings)
        )

    def select(
        self, holdings: Holdings, outputs: Array, ridge: str | float, start: Centres | None = None
    ) -> FixedBasis:
        """Select a basis for these outputs on the held samples, starting with the centres of start.

        Computes only the columns of candidates.
        """
        X, weight, kernels = holdings.rows.samples(), holdings.weight, self.kernels
        Y = target_columns(holdings.y, outputs, holdings.classes is not None)
        rng = np.random.default_rng(repeatable(self.random_state).randint(2**31))
        if self.drawn:
            samples, which = self._draw(len(holdings), rng, start)
            centres = Centres(kernels, X[samples], which, samples, self.rules.epsilon)
            free = int(not self.rules.penalize_bias)
            return FixedBasis.from_centres(centres, outputs, free, X, Y, weight, ridge)
        found = forward_select(
            lambda samples, kernel: kernels[kernel](X[samples], X),
            placed_like(Y.astype(X.dtype), X),
            self.rules,
            n_kernels=len(kernels),
            weight=weight.astype(X.dtype),
            start=None if start is None else (start.samples, start.which),
            rng=rng,
        )
        points = X[found.samples]
        centres = Centres(kernels, points, found.kernels, found.samples, self.rules.epsilon)
        basis = FixedBasis.from_selection(found, centres, outputs, Y, weight)
        if self.penalty == "kernel":
            return basis.with_kernel_penalty(X, Y, weight, ridge)
        return basis if ridge == self.rules.ridge else basis.with_ridge(X, Y, weight, ridge)

    def _draw(self, n: int, rng: np.random.Generator, start: Centres | None) -> tuple[Array, Array]:
        """Samples at random after those of start, and their kernels, which take turns."""
        first = np.empty(0, dtype=np.intp) if start is None else start.samples
        order = rng.permutation(n)
        samples = np.concatenate([first, order[~np.isin(order, first)]])[: self.rules.max_basis]
        which = np.arange(len(samples)) % len(self.kernels)
        if start is not None:
            which[: len(first)] = start.which
        return samples, which

    # -- engines and files ----------------------------------------------------------------------

    def build(self, holdings: Holdings, history: tuple[Rebuild, ...] = ()) -> BasisEngine:
        """Select bases on these holdings and return their engine."""
        return BasisEngine(self, self.bases(holdings, self.chosen_ridge), holdings, history)

    def build_tuned_on(self, tuning: Holdings, holdings: Holdings) -> Engine:
        """Select bases on other holdings; these are learned on them."""
        return self.build(tuning).with_holdings(holdings)

    def chosen(self) -> dict[str, Any]:
        if self.listed:
            return {"gamma": self.gamma}
        values = self.widths[0].chosen()
        return {name: values[name] for name in self._names}

    def choices(self) -> dict[str, Any]:
        return {**self.chosen(), "chosen_ridge": self.chosen_ridge}

    def with_chosen(self, values: Mapping[str, Any]) -> Self:
        first = self.widths[0]
        given = [{"gamma": gamma} for gamma in values["gamma"]] if self.listed else [values]
        found = self.fixed([first.with_chosen({"metric": None, **each}) for each in given])
        return replace(found, chosen_ridge=values.get("chosen_ridge", self.chosen_ridge))

    def validate_chosen(self, values: Mapping[str, Any], stored: Stored) -> None:
        if self.listed:
            check_sequence(values["gamma"], "gamma_", len(self.widths))
            validate_gamma(values["gamma"], "gamma_", stored)
        else:
            first = self.widths[0]
            whole = {"kernel": first.kernel.name, "metric": None, **values}
            first.validate_chosen(whole, stored, metric=self._has_factors)
        if not isinstance(values.get("chosen_ridge", "loo"), str):
            check_number(values["chosen_ridge"], "the ridge without a fold", 0.0)

    def validate_state(self, values: Mapping[str, Any], stored: Stored) -> None:
        super().validate_state(values, stored)
        for basis in values["bases"]:
            check_index(basis["which"], "kernels of centres", (None,), 0, len(self.widths))

    def load(self, holdings: Holdings, state: BasisState) -> Engine:
        pairs = zip(state.bases, state.weights, strict=True)
        bases = tuple(FixedBasis.from_state(self.kernels, holdings, *pair) for pair in pairs)
        scale = None if state.calibration is None else float(state.calibration[0])
        return BasisEngine(self, bases, holdings, calibration=scale)


def _ridge_on_the_way(model: Any) -> str | float:
    """λ during the selection, which always uses the orthogonal penalty."""
    if model.penalty == "orthogonal" and model.ridge != "cv":
        result: str | float = model.ridge
        return result
    return "loo" if "loo" in (model.ridge, model.stopping) else "gcv"


def _tuner(model: Any) -> DenseSpec | None:
    """The spec that chooses kernel, width and metric; None where there is nothing to choose."""
    kernel = model.kernel if isinstance(model.kernel, str) else ""
    if kernel == "precomputed":
        raise ValueError(
            f'kernel="precomputed" is not for {type(model).__name__}, which computes the columns '
            f"of its centres only. Give a callable, or use another estimator."
        )
    searched = isinstance(model.gamma, str) and model.gamma == "cv"
    factors = is_number(model.gamma) and model.metric == "diagonal"
    if searched or (factors and kernel != "loo"):
        words = ("loo" if searched else model.gamma, model.degree, model.coef0, model.kernel_params)
        own = KernelSpec.read(model.kernel, *words, searches=("loo",), device=model.device)
        own.check_metric(model.metric)
        given = factors and is_number(model.ridge) and model.ridge > 0
        return DenseSpec(
            own,
            LS_SVM,
            model.ridge if given else "loo",
            metric=model.metric,
            criterion=model.criterion,
            callback=model.callback,
        )
    if kernel == "loo" or model.metric is not None:
        raise ValueError(
            f'kernel="loo" and metric choose widths: gamma must be "cv", or a number for '
            f'metric="diagonal" of one kernel, got {model.gamma!r} with kernel={model.kernel!r} '
            f"and metric={model.metric!r}."
        )
    return None


def _searched(kernel: KernelSpec) -> KernelSpec:
    """The kernel that the tuner chooses, until it has done so."""
    gamma = "cv" if isinstance(kernel.gamma, str) else kernel.gamma
    return replace(kernel, gamma=gamma, searches=("cv",))


def _widths(model: Any, listed: bool) -> tuple[KernelSpec, ...]:
    named = tuple(name for name, kernel in KERNELS.items() if kernel.takes_gamma)
    if listed and (len(model.gamma) == 0 or model.kernel not in named):
        raise ValueError(
            f"a list of gammas needs one width or more and a kernel with gamma {named}, got "
            f"gamma={model.gamma!r} and kernel={model.kernel!r}."
        )
    if listed and any(isinstance(gamma, str) for gamma in model.gamma):
        raise ValueError(f"gamma must be > 0 in every entry of a list, got {model.gamma!r}.")
    words = (model.degree, model.coef0, model.kernel_params)
    return tuple(
        KernelSpec.read(model.kernel, gamma, *words, searches=("cv",), device=model.device)
        for gamma in (model.gamma if listed else [model.gamma])
    )
