"""The spec of a stack: its parts, and their weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any, ClassVar, Literal, Self

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines import (
    WIDTH_KERNELS,
    DeferredEngine,
    DenseSpec,
    Engine,
    Holdings,
    KernelSpec,
    Listener,
    Predictor,
    Spec,
    State,
    Stored,
    check_positive,
    map_side_by_side,
)
from gramian.core.engines._crossfit import FoldChoices, spread_folds
from gramian.core.equations import LS_SVM, ClassTargets, Targets
from gramian.core.gram import Rebuild
from gramian.core.kernels import Kernel
from gramian.core.progress import counted
from gramian.core.validation import check_array, check_keys, check_sequence, refuse
from gramian.stack._engine import StackEngine, StackPredictor, StackState, require_stack
from gramian.stack._folds import Folds, WithoutFold, fold_start
from gramian.stack._thresholds import ThresholdSpec
from gramian.stack._weights import class_weights, response_weights

CLASS_KERNELS = ("rbf", "laplacian", "laplacian+diagonal", "exponential+diagonal")
NUMBER_KERNELS = ("rbf+ard", "laplacian", "exponential+diagonal")
"""The parts of a stack by default: smooth and rough, with all features alike or by their worth."""


@dataclass(frozen=True, eq=False)
class StackSpec(Spec[StackState]):
    """The parameters of a stack, and what was chosen for them.

    Parameters
    ----------
    parts : tuple of DenseSpec
    weights : ndarray of shape (S,) or "loo"
        Of the outputs of the parts, ≥ 0.
    offset : ndarray of shape (t,) or float
        Added to the weighted sum.
    chosen_on_data : tuple of str
    ready : list of Engine
        Engines of the parts that the choice has built, for the first call of `build`.
    scale : float, optional
        That of the probabilities of a classifier: 1 where the weights were fitted to have it.
    folds : FoldChoices, optional
        What was chosen without each fold of the samples, where the weights were chosen.
    """

    parts: tuple[DenseSpec, ...]
    weights: Array | Literal["loo"]
    offset: Any = 0.0
    chosen_on_data: tuple[str, ...] = ()
    ready: list[Engine] = field(default_factory=list)
    scale: float | None = None
    folds: FoldChoices | None = None
    state_type: ClassVar[type[State]] = StackState

    @property
    def device(self) -> Any:
        return self.parts[0].device

    @property
    def shares(self) -> Array:
        """The weights, once they are numbers."""
        assert not isinstance(self.weights, str)
        return self.weights

    def near(self) -> tuple[tuple[float, Kernel], ...]:
        """The kernels of the parts with their weights; alike, if none has any."""
        shares = self.shares if self.shares.any() else np.ones(len(self.parts))
        kernels = [part.predicts_with for part in self.parts]
        return tuple(zip(shares.tolist(), kernels, strict=True))

    def resolve(self, holdings: Holdings, start: Self | None = None) -> Self:
        """Choose each part's hyper-parameters by leave-one-out, then the weights out of fold.

        The weights are fitted to outputs of the parts at samples that were not there when the
        parts were tuned: 5 times without a fifth of the samples.
        """
        require_stack(len(self.parts), holdings)
        starts: dict[Any, DenseSpec] = {}
        if start is not None and len(start.parts) == len(self.parts):
            for part, before in zip(self.parts, start.parts, strict=True):
                starts.setdefault(_key(part), before)
        folds = self._folds(holdings) if isinstance(self.weights, str) else None
        pairs, without = self._tuned(holdings, starts, folds)
        parts, engines = map(list, zip(*pairs, strict=True))
        if folds is not None:
            found = self._crossfit(holdings, tuple(parts), folds, without)
        else:
            targets = parts[0].targets(holdings)
            t = 1 if isinstance(targets, ClassTargets) else targets.columns.shape[1]
            found = self._with(tuple(parts), self.shares, np.zeros(t))
        return replace(found, ready=engines)

    def _folds(self, holdings: Holdings) -> Folds:
        if len(holdings) < 2:
            raise ValueError(
                "choosing weights by leave-one-out needs at least 2 samples, got 1 sample. Give "
                "`weights` as numbers."
            )
        return Folds(holdings, self.parts[0].random_state)

    def _tuned(
        self, holdings: Holdings, starts: Mapping[Any, DenseSpec], folds: Folds | None
    ) -> tuple[list[tuple[DenseSpec, Engine]], list[WithoutFold]]:
        """The tuned parts with their engines, and all parts without each fold.

        Parts that differ by their metric alone share the search without it, and the slopes of a
        part without one are those of its engine. Others are tuned side by side, and each of them
        without the folds as soon as it is tuned, from where the search with all samples ended.
        """
        alike: dict[Any, list[int]] = {}
        for i, part in enumerate(self.parts):
            alike.setdefault(_key(part), []).append(i)
        lock, count = Lock(), len(alike) * (0 if folds is None else len(folds.numbers))
        call = counted(_call, count, "folds of parts")

        def tune(numbers: list[int]) -> tuple[list[tuple[DenseSpec, Engine]], list[WithoutFold]]:
            specs = [self.parts[i] for i in numbers]
            first = [spec.with_locked_callback(lock) for spec in specs]
            plain, found = _tuned(first, holdings, starts.get(_key(specs[0])))
            if folds is None:
                return found, []
            silent, before = [replace(spec, callback=None) for spec in specs], fold_start(plain)

            def retune(few: Holdings) -> list[tuple[DenseSpec, Engine]]:
                return _tuned(silent, few, before)[1]

            work = [partial(folds.without, k, retune) for k in folds.numbers]
            return found, map_side_by_side(call, work, folds.samples)

        sets = list(alike.values())
        found = map_side_by_side(tune, sets, holdings)
        order = np.argsort(np.concatenate(sets))
        parts = [pair for tuned, _ in found for pair in tuned]
        each = [_joined(some, order) for some in zip(*(each for _, each in found), strict=True)]
        return [parts[i] for i in order], each

    def _crossfit(
        self,
        holdings: Holdings,
        parts: tuple[DenseSpec, ...],
        folds: Folds,
        without: list[WithoutFold],
    ) -> Self:
        """The spec with weights from outputs out of fold, and one spec without each fold."""
        fold, samples = folds.fold, folds.samples
        F = np.empty((len(parts), len(samples), without[0].outputs.shape[2]))
        for k, found in enumerate(without):
            F[:, fold == k] = found.outputs
        targets = parts[0].targets(samples)
        each, judged = [], np.empty(F.shape[1:])
        for k, found in enumerate(without):
            known = F.copy()
            for j, other in enumerate(without):
                if k in other.without_two:
                    known[:, fold == j] = other.without_two[k]
            stay = np.flatnonzero(fold != k)
            weighted = self._weighted(known[:, stay], targets.take(stay))
            spec = self._with(tuple(found.specs), *weighted)
            each.append(spec)
            judged[fold == k] = np.tensordot(spec.shares, F[:, fold == k], 1) + spec.offset
        choices = FoldChoices(
            tuple(each),
            spread_folds(fold, samples, holdings),
            judged if samples is holdings else None,
        )
        return replace(self._with(parts, *self._weighted(F, targets)), folds=choices)

    def _with(self, parts: tuple[DenseSpec, ...], weights: Array, offset: Array) -> Self:
        """The resolved spec with these parts and weights."""
        return replace(
            self,
            parts=parts,
            weights=weights,
            offset=offset,
            scale=self._scale,
            chosen_on_data=self._to_choose(),
            ready=[],
        )

    @property
    def _scale(self) -> float | None:
        """That of probabilities: weights that are chosen have it."""
        return 1.0 if isinstance(self.weights, str) else None

    def _to_choose(self) -> tuple[str, ...]:
        """Names of what is to be chosen on samples."""
        names = dict.fromkeys(name for part in self.parts for name in part.to_choose())
        return (*names, *(("weights",) if isinstance(self.weights, str) else ()))

    def _weighted(self, F: Array, targets: Targets) -> tuple[Array, Array]:
        """Weights and offset, fitted to outputs (S, n, t) of the parts out of fold."""
        if isinstance(targets, ClassTargets):
            plain = [part.metric is None for part in self.parts]
            return class_weights(F, targets, np.array(plain)), np.zeros(1)
        return response_weights(F, targets.columns, targets.weight)

    def unseen(self) -> Self:
        return replace(super().unseen(), folds=None)  # they are those of other samples

    def fitted_numbers(self, width: int) -> int:
        return sum(part.fitted_numbers(width) for part in self.parts) + len(self.parts)

    def listening(self, listener: Listener) -> Self:
        return replace(self, parts=tuple(part.listening(listener) for part in self.parts))

    def describe(self) -> str:
        return "; ".join(part.describe() for part in self.parts)

    # -- engines --------------------------------------------------------------------------------

    def build(self, holdings: Holdings, history: tuple[Rebuild, ...] = ()) -> Engine:
        """Return an engine for these holdings: of the parts that are ready, or from scratch."""
        parts = tuple(self.ready)
        self.ready.clear()  # an engine changes with its samples, so that one model alone has it
        if not parts or any(part.serves is not holdings.version for part in parts):
            require_stack(len(self.parts), holdings)
            parts = tuple(map_side_by_side(lambda part: part.build(holdings), self.parts, holdings))
        return StackEngine(self, parts, history)

    def predictor(self, holdings: Holdings, state: StackState) -> Predictor:
        pairs = zip(self.parts, state.parts, strict=True)
        return self.combined(tuple(part.predictor(holdings, kept) for part, kept in pairs))

    def combined(self, predictors: tuple[Predictor, ...]) -> StackPredictor:
        """Return the predictor that adds up these; a part of weight 0 is left out."""
        weights = self.shares
        used = np.flatnonzero(weights) if weights.any() else np.array([0])
        return StackPredictor(tuple(predictors[s] for s in used), weights[used], self.offset)

    # -- files ----------------------------------------------------------------------------------

    def chosen(self) -> dict[str, Any]:
        parts = [part.chosen() for part in self.parts]
        return {"parts": parts, "weights": self.weights, "offset": self.offset}

    def with_chosen(self, values: Mapping[str, Any]) -> Self:
        pairs = zip(self.parts, values["parts"], strict=True)
        return replace(
            self,
            parts=tuple(part.with_chosen(chosen) for part, chosen in pairs),
            weights=values["weights"],
            offset=values["offset"],
            scale=self._scale,
            chosen_on_data=self._to_choose(),
        )

    def validate_chosen(self, values: Mapping[str, Any], stored: Stored) -> None:
        size = len(self.parts)
        weights = check_array(values["weights"], "weights_", (size,), "f")
        if not (weights >= 0).all():
            refuse("weights_", "has a number below 0")
        offsets = stored.outputs if stored.classes is None else 1
        check_array(values["offset"], "offset_", (offsets,), "f")
        chosen = check_sequence(values["parts"], "parts_", size)
        for part, own in zip(self.parts, chosen, strict=True):
            part.validate_chosen(check_keys(own, "a part", part.chosen()), stored)

    def validate_state(self, values: Mapping[str, Any], stored: Stored) -> None:
        check_sequence(values["parts"], "the parts", len(self.parts))
        super().validate_state(values, stored)

    def load(self, holdings: Holdings, state: StackState) -> Engine:
        return DeferredEngine(self, kept=state)


def _key(part: DenseSpec) -> tuple[Any, ...]:
    """What parts have in common that differ by factors of the features alone."""
    by_gradient = part.metric == "ard"
    return type(part), part.kernel.kernel.name, str(part.kernel.gamma), str(part.C), by_gradient


def _tuned(
    parts: list[DenseSpec], holdings: Holdings, before: DenseSpec | None
) -> tuple[DenseSpec, list[tuple[DenseSpec, Engine]]]:
    """What is tuned without factors, and parts that differ by those alone, with their engines."""
    plain, built = parts[0].without_factors(holdings, before), None
    found = []
    for part in parts:
        spec = part.with_factors(holdings, plain, built) if part.has_factors else plain
        engine = spec.build(holdings)
        built = built if part.has_factors else engine
        found.append((spec, engine))
    return plain, found


def _call(work: Callable[[], WithoutFold]) -> WithoutFold:
    return work()


def _joined(sets: Sequence[WithoutFold], order: Array) -> WithoutFold:
    """Sets of parts without one fold as one, in the order of the stack."""
    specs = [spec for one in sets for spec in one.specs]
    twice = {
        k: np.concatenate([one.without_two[k] for one in sets])[order] for k in sets[0].without_two
    }
    outputs = np.concatenate([one.outputs for one in sets])[order]
    return WithoutFold([specs[i] for i in order], outputs, twice)


def stack_spec(model: Any) -> StackSpec:
    """Read and check the parameters of a stack."""
    kernel = model.kernel
    names = tuple(kernel) if isinstance(kernel, list | tuple) else (kernel,)
    if not names:
        raise ValueError("kernel must have at least one name, got none.")
    gammas, strengths = _each("gamma", model.gamma, names), _each("C", model.C, names)
    parts = tuple(_part(model, *words) for words in zip(names, gammas, strengths, strict=True))
    return StackSpec(parts, _check_weights(model.weights, names))


def _part(model: Any, kernel: Any, gamma: Any, C: Any) -> DenseSpec:
    """The spec of the part "kernel", with "+metric" and "+thresholds", or of a callable."""
    name, metric, kind = kernel, "", DenseSpec
    if isinstance(name, str):
        kernel, *more = name.split("+")
        kind = ThresholdSpec if more[-1:] == ["thresholds"] else DenseSpec
        metric = "+".join(more[: len(more) - (kind is ThresholdSpec)])
        _check_part(name, kernel, metric, gamma, kind is ThresholdSpec)
    C = check_positive("C", C, "loo")
    others = (model.degree, model.coef0, model.kernel_params)
    spec = KernelSpec.read(kernel, gamma, *others, searches=("loo",), device=model.device)
    if metric == "ard" and not (isinstance(gamma, str) and gamma == "loo"):
        metric = ""  # a width that is given is used as it is
    spec.check_metric(metric or None)
    return kind(
        spec,
        LS_SVM,
        "loo" if isinstance(C, str) else 1.0 / C,
        C=C,
        criterion=model.criterion,
        random_state=model.random_state,
        callback=model.callback,
        metric=metric or None,
    )


def _check_part(name: str, kernel: str, metric: str, gamma: Any, thresholds: bool) -> None:
    if kernel == "precomputed" or metric not in ("", "diagonal", "ard"):
        raise ValueError(
            f'the parts of a stack are kernels of samples, as "rbf", or with a metric, as '
            f'"rbf+diagonal" or "rbf+ard", or on thresholds, as "rbf+thresholds" or '
            f'"rbf+diagonal+thresholds"; got {name!r}.'
        )
    if thresholds and (kernel not in WIDTH_KERNELS or metric == "ard"):
        raise ValueError(
            f"thresholds are for the kernels {WIDTH_KERNELS}, with one width or with "
            f'"+diagonal"; got {name!r}.'
        )
    if thresholds and (np.ndim(gamma) or (isinstance(gamma, str) and gamma != "loo")):
        raise ValueError(
            f'the gamma of a part on thresholds is "loo" or one number, got {gamma!r} for {name!r}.'
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
