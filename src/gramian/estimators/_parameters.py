"""Parameters that several estimators have, checked and read once."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from gramian.engines import Holdings
from gramian.estimators._samples import KERNEL_ROWS, VECTORS
from gramian.kernels import KERNELS, Kernel, default_gamma, make_kernel


def is_number(value) -> bool:
    """Whether a parameter is a real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def check_positive(name: str, value: Any, *words: str, zero: bool = False) -> Any:
    """The value, a finite number > 0 (>= 0 with ``zero``) or one of the words; else ValueError."""
    if isinstance(value, str) and value in words:
        return value
    if is_number(value) and (0 < value < np.inf or (zero and value == 0)):
        return value
    named = "".join(f', or "{word}"' for word in words)
    sign = ">=" if zero else ">"
    raise ValueError(f"{name} must be {sign} 0 and finite{named}, got {value!r}.")


def check_choice(name: str, value: Any, known: tuple) -> Any:
    """The value if it is one of those known; else ValueError."""
    if not (value is None or isinstance(value, str)) or value not in known:
        raise ValueError(f"{name} must be one of {known}, got {value!r}.")
    return value


def check_class_weight(weights: Any, kind: str = "signs") -> Any:
    """Class weights as given: None, "balanced" or numbers > 0 by label; else ValueError."""
    if weights is None:
        return None
    balanced = isinstance(weights, str) and weights == "balanced"
    numbers = isinstance(weights, dict) and all(0 < w < np.inf for w in weights.values())
    if not (balanced or numbers):
        raise ValueError(
            f'class_weight must be None, "balanced" or a dict of numbers > 0, got {weights!r}.'
        )
    if kind == "fisher":
        raise ValueError(
            'class_weight has no effect with targets="fisher", whose levels give every class the '
            'same sum of weight times target. Set class_weight=None, or targets="signs".'
        )
    return weights


@dataclass(frozen=True, eq=False)
class KernelSettings:
    """Kernel and width as an estimator's parameters give them.

    Parameters
    ----------
    kernel : str or callable
    gamma : float, array or str
    degree, coef0 : float
    params : dict or None
        Keyword arguments of a callable kernel.
    words : tuple of str
        What gamma may be besides numbers, ``"scale"`` and ``"auto"``: how it is searched.
    """

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any
    params: Any
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        words = (*self.words, "scale", "auto")
        named = isinstance(self.gamma, str)
        if self.gamma is None or (named and self.gamma not in words):
            raise ValueError(f"gamma must be > 0 or one of {words}, got {self.gamma!r}.")
        if named and self.gamma == "loo-ard" and self.kernel != "rbf":
            raise ValueError(
                f'gamma="loo-ard" needs the "rbf" kernel, got kernel={self.kernel!r}. Set gamma to '
                f'"loo" or a number.'
            )
        self.make(1.0 if named else self.gamma)

    @property
    def samples(self) -> Any:
        """How samples come: as vectors, or as rows of a precomputed kernel."""
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return KERNEL_ROWS if precomputed else VECTORS

    @property
    def takes_gamma(self) -> bool:
        """Whether gamma is a parameter of this kernel."""
        return isinstance(self.kernel, str) and KERNELS[self.kernel].takes_gamma

    @property
    def seen_by(self) -> tuple[str, ...]:
        """What is chosen on samples here: gamma, unless it is a number or of no use."""
        return ("gamma",) if self.takes_gamma and isinstance(self.gamma, str) else ()

    def make(self, gamma: Any) -> Kernel:
        """The kernel of this width; None where the kernel has none."""
        return make_kernel(
            self.kernel,
            gamma=1.0 if gamma is None else gamma,
            degree=self.degree,
            coef0=self.coef0,
            params=self.params,
        )

    def resolve(self, held: Holdings) -> Any:
        """A width, or the word for a search; None for kernels without gamma."""
        if not self.takes_gamma:
            return None
        if not isinstance(self.gamma, str):
            return check_widths(self.gamma, held.rows.width)
        if self.gamma in self.words and self.kernel != "poly":
            return self.gamma
        name = "scale" if self.gamma in self.words else self.gamma
        return default_gamma(name, held.rows.samples(), held.weight)


def check_widths(gamma: Any, n_features: int) -> Any:
    """Gamma as it is; ValueError if it has another number of widths than there are features."""
    if np.ndim(gamma) and len(gamma) != n_features:
        raise ValueError(
            f"gamma must be one number, or one per feature: got {len(gamma)} for "
            f"{n_features} features."
        )
    return gamma
