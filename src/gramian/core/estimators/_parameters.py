"""Checks of the parameters that several estimators share."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from gramian.core.arrays import find_device
from gramian.core.engines import Holdings
from gramian.core.estimators._samples import FOLLOWING, KERNEL_ROWS, VECTORS, VectorSamples
from gramian.core.kernels import Kernel, Precomputed, checked_gamma, default_gamma, make_kernel

WIDTH_KERNELS = ("rbf", "laplacian", "exponential")
"""The kernels that ``kernel="loo"`` chooses from."""


def is_number(value) -> bool:
    """Whether a parameter is a real number and not a bool."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def check_positive(name: str, value: Any, *words: str, zero: bool = False) -> Any:
    """Return a finite number > 0 (>= 0 with ``zero``) or one of the words; else ValueError."""
    if isinstance(value, str) and value in words:
        return value
    number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if number and (0 < value < np.inf or (zero and value == 0)):
        return value
    named = "".join(f', or "{word}"' for word in words)
    sign = ">=" if zero else ">"
    raise ValueError(f"{name} must be {sign} 0 and finite{named}, got {value!r}.")


def check_choice(name: str, value: Any, known: tuple) -> Any:
    """Return the value if it is one of ``known``; else raise ValueError."""
    if not (value is None or isinstance(value, str)) or value not in known:
        raise ValueError(f"{name} must be one of {known}, got {value!r}.")
    return value


def check_class_weight(weights: Any, kind: str = "signs") -> None:
    """Raise ValueError unless class weights are "balanced" or a dict from labels to numbers > 0."""
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


NUMPY = "numpy"
"""The home of a machine that cannot compute on a device."""


@dataclass(frozen=True, eq=False)
class KernelSpec:
    """Kernel and width as an estimator's parameters give them.

    Parameters
    ----------
    kernel : str or callable
        ``"loo"``, where ``words`` has it, stands for each of `RIVALS`.
    gamma : float, array or str
    degree, coef0 : float
    params : dict or None
        Keyword arguments of a callable kernel.
    words : tuple of str
        Names of searches that gamma accepts besides numbers, ``"scale"`` and ``"auto"``.
    device : str or torch.device, optional
        Where the model holds its samples; None to follow them; NUMPY if it can only hold them in
        the memory of NumPy.

    Attributes
    ----------
    base : Kernel
        The kernel with the given width, or with width 1.
    takes_gamma : bool
        Whether gamma is a parameter of this kernel.
    samples : VectorSamples or KernelSamples
        Whether samples are vectors or rows of a precomputed kernel.
    rivals : tuple of str
        The kernels to choose from; empty if one is given.
    seen_by : tuple of str
        Of "kernel" and "gamma" those that are chosen on samples.
    """

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any
    params: Any
    words: tuple[str, ...] = ()
    device: Any = NUMPY
    base: Kernel = field(init=False)
    takes_gamma: bool = field(init=False)
    samples: Any = field(init=False)
    candidates: tuple[str, ...] = field(init=False)
    chosen_on_data: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        words = (*self.words, "scale", "auto")
        named = isinstance(self.gamma, str)
        if self.gamma is None or (named and self.gamma not in words):
            raise ValueError(f"gamma must be > 0 or one of {words}, got {self.gamma!r}.")
        candidates = (
            WIDTH_KERNELS if isinstance(self.kernel, str) and self.kernel in self.words else ()
        )
        if candidates and self.gamma != "loo":
            raise ValueError(
                f'kernel="loo" chooses a width for each kernel: gamma must be "loo", got '
                f"{self.gamma!r}."
            )
        kernel = make_kernel(
            candidates[0] if candidates else self.kernel,
            gamma=1.0 if named else self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            params=self.params,
        )
        if named and self.gamma == "loo-ard" and not kernel.has_feature_widths:
            raise ValueError(
                f'gamma="loo-ard" needs one of the kernels {WIDTH_KERNELS}, got '
                f"kernel={self.kernel!r}. "
                f'Set gamma to "loo" or a number.'
            )
        if not named and isinstance(self.kernel, str) and self.kernel == "linear":
            checked_gamma(self.gamma, "linear")  # unused, but an invalid value is still an error
        vars(self)["base"] = kernel
        vars(self)["takes_gamma"] = kernel.takes_gamma
        vars(self)["samples"] = KERNEL_ROWS if isinstance(kernel, Precomputed) else VECTORS
        if self.device is None and self.samples is VECTORS:
            vars(self)["samples"] = FOLLOWING
        elif self.device is not NUMPY and self.device is not None:  # on a device
            vars(self)["samples"] = _on_device(kernel, self.device)
        vars(self)["candidates"] = candidates
        chosen = ("gamma",) if kernel.takes_gamma and named else ()
        vars(self)["chosen_on_data"] = ("kernel", *chosen) if candidates else chosen

    def resolve(self, holdings: Holdings) -> Any:
        """Return a width, or the name of a search; None for kernels without gamma."""
        if not self.takes_gamma:
            return None
        if not isinstance(self.gamma, str):
            return (
                check_widths(self.gamma, holdings.rows.width) if np.ndim(self.gamma) else self.gamma
            )
        if self.gamma in self.words and self.kernel != "poly":
            return self.gamma
        name = "scale" if self.gamma in self.words else self.gamma
        return default_gamma(name, holdings.rows.samples(), holdings.weight)


def _on_device(kernel: Kernel, device: Any) -> VectorSamples:  # on a device
    if isinstance(kernel, Precomputed):
        raise ValueError(
            f'kernel="precomputed" holds its values in the memory of NumPy, got device={device!r}. '
            f"Leave device=None."
        )
    return VectorSamples(find_device(device), follows=True)


def check_widths(gamma: Any, n_features: int) -> Any:
    """Return gamma; raise ValueError if it has neither one width nor one per feature."""
    if np.ndim(gamma) and len(gamma) != n_features:
        raise ValueError(
            f"gamma must be one number, or one per feature: got {len(gamma)} for "
            f"{n_features} features."
        )
    return gamma
