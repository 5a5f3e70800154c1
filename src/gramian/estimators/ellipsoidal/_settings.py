"""The parameters of the fuzzy classifier: checked, chosen by cross-validation, and put to use."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.estimators.ellipsoidal._folds import choose_in_turn
from gramian.estimators.ellipsoidal._members import GramMembers, Members
from gramian.estimators.ellipsoidal._regions import InputRegion, KernelRegion, Region, SvdRegion
from gramian.estimators.live._base import LiveEstimator
from gramian.estimators.live._parameters import default_gamma, is_number
from gramian.kernels import Kernel, make_kernel
from gramian.machines._ellipsoids import kernel_normalize

# What each distance is made with, in the order in which "cv" chooses (kaieda2004, §8).
_MADE_WITH = {
    "input": ("zeta",),
    "svd": ("gamma", "sigma"),
    "kpca": ("gamma", "tau", "epsilon"),
}
_GAMMAS = ("scale", "auto", "cv")
# What a floor is while one before it is chosen, and the candidates of "cv", the smoother first;
# those of gamma are multiples of "scale".
_PROVISIONAL = {"tau": 1e-5, "epsilon": 1e-7, "sigma": 1e-8, "zeta": 1e-6}
_FLOORS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
_CANDIDATES = {
    "gamma": (0.01, 0.1, 1.0, 10.0, 100.0),
    "tau": (1e-3, 1e-4, 1e-5, 1e-6, 1e-7),
    "epsilon": (0.5, *_FLOORS),
    "sigma": _FLOORS,
    "zeta": _FLOORS,
}


class EllipsoidalSettings(LiveEstimator):
    """What `EllipsoidalFuzzyClassifier` makes of its parameters."""

    _precomputed: bool

    def _choose_hyperparameters(self, X, y, weight):
        """Set `gamma_`, `tau_` and the others, by cross-validation those that are "cv"."""
        chosen = {name: getattr(self, name) for name in _PROVISIONAL}
        chosen["gamma"] = _check_widths(self._given_gamma(X, weight), X.shape[1])
        asked = [name for name in _MADE_WITH[self.distance] if _is_cv(chosen[name])]
        provisional = {**_PROVISIONAL, "gamma": default_gamma("scale", X, weight)}
        chosen |= {name: provisional[name] for name, value in chosen.items() if _is_cv(value)}
        candidates = {name: np.array(_CANDIDATES[name]) for name in asked}
        if "gamma" in asked:
            candidates["gamma"] *= chosen["gamma"]
        samples = (X, y, weight)
        chosen, self.cv_scores_ = choose_in_turn(
            self, chosen, candidates, samples, self.random_state
        )
        for name, value in chosen.items():
            setattr(self, f"{name}_", value)

    def _given_gamma(self, X, weight):
        """A number, an array, or "cv"; None for kernels without gamma."""
        if self.distance == "input" or self.kernel not in ("rbf", "laplacian", "poly"):
            return None
        if isinstance(self.gamma, str) and not _is_cv(self.gamma):
            return default_gamma(self.gamma, X, weight)
        return self.gamma

    def _empty_region(self, X: Any) -> Region:
        """A region without members, with the chosen parameters; all others grow from it."""
        members, weight = self._no_members(X), np.empty(0)
        if self.distance == "input":
            return InputRegion(members, weight, self.zeta_)
        if self.distance == "svd":
            return SvdRegion(members, weight, self.sigma_, self.inverse_of_small)
        units = None if self.transductive is None else members.unit_vectors()
        own = self.transductive == "queries"
        return KernelRegion(members, weight, self.tau_, self.epsilon_, units, own)

    def _no_members(self, X: Any) -> Members:
        none = X[:0].astype(np.float64)
        if self._precomputed:
            return GramMembers(none[:, :0])
        if self.distance == "input":
            return Members(np.empty(none.shape), None)
        kernel = self._make_kernel(1.0 if self.gamma_ is None else self.gamma_)
        return Members(none, kernel_normalize(kernel, X.shape[1]) if self.normalize else kernel)

    def _make_kernel(self, gamma: Any) -> Kernel:
        return make_kernel(
            self.kernel,
            gamma=gamma,
            degree=self.degree,
            coef0=self.coef0,
            params=self.kernel_params,
        )

    def _check_parameters(self):
        _check_choice("distance", self.distance, tuple(_MADE_WITH))
        _check_choice("transductive", self.transductive, ("basis", "queries", None))
        _check_choice("inverse_of_small", self.inverse_of_small, ("sigma", "zero"))
        if not (isinstance(self.tune, bool) or self.tune == "loo"):
            raise ValueError(f'tune must be True, False or "loo", got {self.tune!r}.')
        for name in _PROVISIONAL:
            _check_floor(name, getattr(self, name))
        if not 0 < self.novelty_quantile < 1:
            raise ValueError(f"novelty_quantile must be in (0, 1), got {self.novelty_quantile!r}.")
        if self._precomputed:
            self._check_matrix_suffices()
        else:
            self._make_kernel(_check_gamma(self.gamma))

    def _check_matrix_suffices(self):
        """Raise ValueError if a setting asks for more than precomputed kernel values."""
        if self.distance == "input" or self.normalize:
            raise ValueError(
                'distance="input" and normalize=True need the samples themselves, not '
                'kernel="precomputed".'
            )
        if self.distance == "kpca" and self.transductive is not None:
            raise ValueError(
                f"transductive={self.transductive!r} needs the samples themselves; with "
                'kernel="precomputed" set transductive=None.'
            )


def _is_cv(value):
    return isinstance(value, str) and value == "cv"


def _check_choice(name, value, known):
    if not (value is None or isinstance(value, str)) or value not in known:
        raise ValueError(f"{name} must be one of {known}, got {value!r}.")


def _check_floor(name, value):
    if not _is_cv(value) and not (is_number(value) and 0 < value < np.inf):
        raise ValueError(f'{name} must be > 0 and finite, or "cv", got {value!r}.')


def _check_gamma(gamma):
    """A number or numbers for `make_kernel` to check; 1 for a name."""
    named = isinstance(gamma, str)
    if gamma is None or isinstance(gamma, bool) or (named and gamma not in _GAMMAS):
        raise ValueError(f"gamma must be > 0 or one of {_GAMMAS}, got {gamma!r}.")
    return 1.0 if named else gamma


def _check_widths(gamma, n_features):
    if np.ndim(gamma) and len(gamma) != n_features:
        raise ValueError(
            f"gamma must be one number, or one per feature ({n_features}), got {len(gamma)}."
        )
    return gamma
