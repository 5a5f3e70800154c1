"""The spec of the fuzzy classifier: read at fit, chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array, side_by_side
from gramian.core.engines import (
    Engine,
    Holdings,
    KernelSpec,
    Spec,
    State,
    Stored,
    check_choice,
    check_positive,
    validate_gamma,
)
from gramian.core.gram import Rebuild
from gramian.core.kernels import Kernel
from gramian.core.kernels._defaults import default_gamma
from gramian.core.kernels._precomputed import GramSamples
from gramian.core.search._order import repeatable
from gramian.core.validation import check_number, refuse
from gramian.ellipsoidal._ellipsoids import kernel_normalize
from gramian.ellipsoidal._engine import RegionsEngine, RegionsState, Tuning
from gramian.ellipsoidal._regions import InputRegion, KernelRegion, SvdRegion, in_double

CV = "cv"
# Parameters of each distance, in the order in which "cv" chooses them (kaieda2004, §8).
_MADE_WITH = {
    "input": ("zeta",),
    "svd": ("gamma", "sigma"),
    "kpca": ("gamma", "tau", "epsilon"),
}
# Values of the floors while an earlier parameter is chosen, and the candidates of "cv", smoother
# ones first; candidates of gamma are multiples of "scale".
_PROVISIONAL = {"tau": 1e-5, "epsilon": 1e-7, "sigma": 1e-8, "zeta": 1e-6}
_FLOORS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
_CANDIDATES = {
    "gamma": (0.01, 0.1, 1.0, 10.0, 100.0),
    "tau": (1e-3, 1e-4, 1e-5, 1e-6, 1e-7),
    "epsilon": (0.5, *_FLOORS),
    "sigma": _FLOORS,
    "zeta": _FLOORS,
}
_FOLDS = 5

Scores = dict[str, list[tuple[float, float]]]


@dataclass(frozen=True, eq=False)
class RegionSpec(Spec[RegionsState]):
    """The parameters of `EllipsoidalFuzzyClassifier`, and what was chosen for them.

    ``tau``, ``epsilon``, ``sigma`` and ``zeta`` are numbers, or "cv" until they are chosen;
    ``cv_scores`` maps those that were chosen to their candidates with accuracies.
    """

    kernel: KernelSpec
    tau: Any
    epsilon: Any
    sigma: Any
    zeta: Any
    normalize: bool
    distance: str
    transductive: str | None
    inverse_of_small: Any
    tune: Any
    max_sacrifice: int
    eta: float
    novelty_quantile: float
    random_state: Any
    cv_scores: Scores = field(default_factory=dict)
    chosen_on_data: tuple[str, ...] = ()
    state_type: ClassVar[type[State]] = RegionsState

    def __post_init__(self) -> None:
        check_choice("distance", self.distance, tuple(_MADE_WITH))
        check_choice("transductive", self.transductive, ("basis", "queries", None))
        check_choice("inverse_of_small", self.inverse_of_small, ("sigma", "zero"))
        if not (isinstance(self.tune, bool) or self.tune == "loo"):
            raise ValueError(f'tune must be True, False or "loo", got {self.tune!r}.')
        for name, value in self.floors.items():
            check_positive(name, value, CV)
        if not 0 < self.novelty_quantile < 1:
            raise ValueError(f"novelty_quantile must be in (0, 1), got {self.novelty_quantile!r}.")
        if self.precomputed and (self.distance == "input" or self.normalize):
            raise ValueError(
                'distance="input" and normalize=True need the samples themselves, not '
                'kernel="precomputed".'
            )
        if self.precomputed and self.distance == "kpca" and self.transductive is not None:
            raise ValueError(
                f"transductive={self.transductive!r} needs the samples themselves; with "
                'kernel="precomputed" set transductive=None.'
            )

    @property
    def precomputed(self) -> bool:
        return self.kernel.precomputed

    @property
    def gamma(self) -> Any:
        """The width of the kernel; None where it has none, or where there is no kernel."""
        used = self.distance != "input" and self.kernel.kernel.takes_gamma
        return self.kernel.gamma if used else None

    def kernel_in_use(self, n_features: int) -> Kernel | None:
        """The kernel of the distances; None where they are those of the input space."""
        if self.distance == "input":
            return None
        kernel = self.kernel.kernel
        return kernel_normalize(kernel, n_features) if self.normalize else kernel

    @property
    def floors(self) -> dict[str, Any]:
        """The smallest variances and pivots: numbers or "cv"."""
        return {name: getattr(self, name) for name in _PROVISIONAL}

    @property
    def tuning(self) -> Tuning:
        """How `fit` and `retune` tune the slopes."""
        return Tuning(isinstance(self.tune, str), self.max_sacrifice, self.eta)

    # -- choices --------------------------------------------------------------------------------

    def resolve(self, holdings: Holdings, start: Self | None = None) -> Self:
        """Choose numbers for all parameters; cross-validation chooses those that are "cv"."""
        values = {**self.floors, "gamma": self._width(holdings)}
        asked = [name for name in _MADE_WITH[self.distance] if _is_cv(values[name])]
        values |= {name: floor for name, floor in _PROVISIONAL.items() if _is_cv(values[name])}
        candidates = {name: np.array(_CANDIDATES[name]) for name in asked}
        if "gamma" in asked:
            values["gamma"] = default_gamma("scale", holdings.rows.samples(), holdings.weight)
            candidates["gamma"] *= values["gamma"]
        folds = stratified_folds(holdings.y, repeatable(self.random_state))
        score = partial(self.fold_score, holdings, folds)
        return self.fixed(*choose_in_turn(score, values, candidates))

    def fixed(self, values: Mapping[str, Any], scores: Scores | None = None) -> Self:
        """Return the spec with these numbers."""
        names, floors = _MADE_WITH[self.distance], dict(values)
        kernel = self.kernel.with_gamma(floors.pop("gamma"))
        named = self.kernel.chosen_on_data if "gamma" in names else ()
        chosen = (*named, *(name for name in names if _is_cv(self.floors.get(name))))
        return replace(self, kernel=kernel, **floors, cv_scores=scores or {}, chosen_on_data=chosen)

    def fold_score(self, holdings: Holdings, folds: Array, values: Mapping[str, Any]) -> float:
        """Weighted accuracy on all samples, each predicted by regions of the other folds."""
        right, labels = np.zeros(len(holdings), dtype=bool), holdings.labels
        for k in np.unique(folds):
            train, test = np.flatnonzero(folds != k), np.flatnonzero(folds == k)
            if len(train):  # without training samples no test sample is recognised
                rest, left_out = holdings.without(test), holdings.rows.take(test)
                if isinstance(left_out, GramSamples):
                    left_out = left_out.K[np.ix_(test, train)]
                predictor = self.fixed(values).build(rest).predictor(rest)
                right[test] = predictor.nearest(left_out) == labels[test]
        return float(np.average(right, weights=holdings.weight))

    def _width(self, holdings: Holdings) -> Any:
        """Return a number, an array, or "cv"; None for kernels without gamma."""
        if self.distance == "input" or not self.kernel.kernel.takes_gamma:
            return None
        return CV if _is_cv(self.kernel.gamma) else self.kernel.width(holdings)

    # -- engines and files ----------------------------------------------------------------------

    def build(self, holdings: Holdings, history: tuple[Rebuild, ...] = ()) -> RegionsEngine:
        """Build an engine for these holdings; tune its slopes unless ``tune`` is False."""
        engine = RegionsEngine.of(self._empty(holdings), holdings, past=history)
        if self.tune:
            engine = engine.retuned(holdings, self.tuning)
        elif not self.precomputed:  # so that errors of the kernel occur in `fit`
            engine.predictor(holdings).distances(holdings.rows.take(np.arange(1)))
        return engine

    def build_tuned_on(self, tuning: Holdings, holdings: Holdings) -> Engine:
        """Build an engine with slopes that were tuned to other holdings."""
        return replace(self.build(tuning).fresh(holdings), tuned=False)

    def chosen(self) -> dict[str, Any]:
        return {"gamma": self.gamma, **self.floors, "cv_scores": self.cv_scores}

    def with_chosen(self, values: Mapping[str, Any]) -> Self:
        numbers = {name: values[name] for name in ("gamma", *_PROVISIONAL)}
        return self.fixed(numbers, values["cv_scores"])

    def validate_chosen(self, values: Mapping[str, Any], stored: Stored) -> None:
        validate_gamma(values["gamma"], "gamma_", stored)
        for name in _PROVISIONAL:
            if values[name] is not None:
                check_number(values[name], f"{name}_", 0.0)
        if not isinstance(values["cv_scores"], dict):
            refuse("cv_scores_", "is no dict")

    def load(self, holdings: Holdings, state: RegionsState) -> Engine:
        tuned = bool(self.tune) or bool(np.any(state.slopes != 1.0))
        empty = self._empty(holdings)
        return RegionsEngine.of(empty, holdings, kept=state.kept, slopes=state.slopes, tuned=tuned)

    def _empty(self, holdings: Holdings) -> Any:
        """Return a region without members, to which every class appends its own."""
        none, d = in_double(holdings.rows.take(np.arange(0))), holdings.rows.width
        kernel, weight = self.kernel_in_use(d), np.empty(0)
        if kernel is None:
            return InputRegion(self.kernel.kernel, none, weight, self.zeta)
        if self.distance == "svd":
            return SvdRegion(kernel, none, weight, self.sigma, self.inverse_of_small)
        units = None
        if self.transductive is not None:
            units = sparse.eye_array(d, format="csr") if sparse.issparse(none) else np.eye(d)
        own = self.transductive == "queries"
        return KernelRegion(kernel, none, weight, self.tau, self.epsilon, units, own)


def choose_in_turn(
    score: Callable[[Mapping[str, Any]], float],
    start: Mapping[str, Any],
    candidates: Mapping[str, Array],
) -> tuple[dict[str, Any], Scores]:
    """Choose parameters one after the other, each for the best score given the earlier ones.

    Returns ``start`` with the best candidates (the first of equally good ones), and a dict that
    maps each chosen parameter to its candidates with their scores.
    """
    chosen, scores = dict(start), {}
    for name, values in candidates.items():
        tried = [{**chosen, name: value} for value in values.tolist()]
        found = side_by_side(score, tried)
        scores[name] = list(zip(values.tolist(), found, strict=True))
        chosen[name] = float(values[int(np.argmax(found))])
    return chosen, scores


def stratified_folds(y: Array, rng: Any) -> Array:
    """Return the fold of each sample, 0 to 4: random, and as even as possible within each class."""
    folds = np.empty(len(y), dtype=int)
    for label in np.unique(y):
        mine = rng.permutation(np.flatnonzero(y == label))
        folds[mine] = (rng.randint(_FOLDS) + np.arange(len(mine))) % _FOLDS
    return folds


def _is_cv(value: Any) -> bool:
    return isinstance(value, str) and value == CV
