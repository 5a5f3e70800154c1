"""The spec of a stack: its parts, and their weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, ClassVar, Literal, Self

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines import (
    SEARCHED_GAMMAS,
    DeferredEngine,
    DenseSpec,
    Engine,
    Holdings,
    KernelSpec,
    Listener,
    Predictor,
    Spec,
    State,
    check_positive,
    each_beside,
)
from gramian.core.equations import LS_SVM, ClassTargets, Targets
from gramian.core.gram import Rebuild
from gramian.stack._engine import StackEngine, StackPredictor, StackState, require_stack
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
    """

    parts: tuple[DenseSpec, ...]
    weights: Array | Literal["loo"]
    offset: Any = 0.0
    chosen_on_data: tuple[str, ...] = ()
    ready: list[Engine] = field(default_factory=list)
    state_type: ClassVar[type[State]] = StackState

    @property
    def device(self) -> Any:
        return self.parts[0].device

    @property
    def shares(self) -> Array:
        """The weights, once they are numbers."""
        assert not isinstance(self.weights, str)
        return self.weights

    def resolve(self, holdings: Holdings, start: Self | None = None) -> Self:
        """Choose each part's hyper-parameters, then the weights, all by leave-one-out.

        Parts that differ by their metric alone share the search without it, and the slopes of a
        part without one are those of its engine. Others are tuned side by side.
        """
        require_stack(len(self.parts), holdings)
        alike: dict[Any, list[int]] = {}
        for i, part in enumerate(self.parts):
            key = (part.kernel.kernel.name, str(part.kernel.gamma), str(part.C))
            alike.setdefault(key, []).append(i)
        known = start is not None and len(start.parts) == len(self.parts)
        before = start.parts if start is not None and known else (None,) * len(self.parts)
        lock, groups = Lock(), list(alike.values())

        def tune(numbers: list[int]) -> list[tuple[DenseSpec, Engine]]:
            specs = [self.parts[i].beside(lock) for i in numbers]
            return _tuned(specs, holdings, before[numbers[0]])

        found: dict[int, tuple[DenseSpec, Engine]] = {}
        for numbers, pairs in zip(groups, each_beside(tune, groups, holdings), strict=True):
            found.update(zip(numbers, pairs, strict=True))
        parts, engines = map(list, zip(*(found[i] for i in sorted(found)), strict=True))
        weights, offset = self._weighted(parts[0].targets(holdings), engines, holdings)
        return replace(
            self,
            parts=tuple(parts),
            weights=weights,
            offset=offset,
            chosen_on_data=self._to_choose(),
            ready=engines,
        )

    def _to_choose(self) -> tuple[str, ...]:
        """Names of what is to be chosen on samples."""
        names = dict.fromkeys(name for part in self.parts for name in part.to_choose())
        return (*names, *(("weights",) if isinstance(self.weights, str) else ()))

    def _weighted(
        self, targets: Targets, engines: list[Engine], holdings: Holdings
    ) -> tuple[Array, Array]:
        """Weights and offset, given or fitted to the left-out values of the parts."""
        if not isinstance(self.weights, str):
            t = 1 if isinstance(targets, ClassTargets) else targets.columns.shape[1]
            return self.weights, np.zeros(t)
        if len(holdings) < 2:
            raise ValueError(
                "choosing weights by leave-one-out needs at least 2 samples, got 1 sample. Give "
                "`weights` as numbers."
            )
        F = np.stack([engine.loo(holdings) for engine in engines])
        if isinstance(targets, ClassTargets):
            return class_weights(F, targets), np.zeros(1)
        return response_weights(F, targets.columns, holdings.weight)

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
            parts = tuple(each_beside(lambda part: part.build(holdings), self.parts, holdings))
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
            chosen_on_data=self._to_choose(),
        )

    def load(self, holdings: Holdings, state: StackState) -> Engine:
        return DeferredEngine(self, kept=state)


def _tuned(
    parts: list[DenseSpec], holdings: Holdings, before: DenseSpec | None
) -> list[tuple[DenseSpec, Engine]]:
    """Resolved specs, and engines, of parts that differ by their metric alone."""
    plain, built = parts[0].without_metric(holdings, before), None
    found = []
    for part in parts:
        spec = plain if part.metric is None else part.with_metric(holdings, plain, built)
        engine = spec.build(holdings)
        built = engine if part.metric is None else built
        found.append((spec, engine))
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


def _part(model: Any, kernel: Any, gamma: Any, C: Any) -> DenseSpec:
    """The spec of the part "kernel", "kernel+diagonal" or "kernel+ard", or of a callable."""
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
        KernelSpec.read(kernel, gamma, *others, searches=SEARCHED_GAMMAS, device=model.device),
        LS_SVM,
        "loo" if isinstance(C, str) else 1.0 / C,
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
