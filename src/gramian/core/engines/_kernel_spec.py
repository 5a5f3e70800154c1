"""Kernel and width as an estimator's parameters give them, and as they are chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines._holdings import Holdings
from gramian.core.engines._parameters import check_choice
from gramian.core.engines._spec import HOST
from gramian.core.engines._state import Stored
from gramian.core.engines._validate_chosen import validate_gamma, validate_metric
from gramian.core.kernels import Kernel, Polynomial, Precomputed, make_kernel
from gramian.core.kernels._base import checked_gamma
from gramian.core.kernels._defaults import default_gamma
from gramian.core.text import excerpt
from gramian.core.validation import refuse

WIDTH_KERNELS = ("rbf", "laplacian", "exponential")
"""The kernels that have a width, from which ``kernel="loo"`` chooses."""


@dataclass(frozen=True, eq=False)
class KernelSpec:
    """A kernel, its width or how to find it, and where it is computed.

    Parameters
    ----------
    kernel : Kernel
        With the given width, or with width 1 until one is chosen.
    gamma : float, ndarray, str or None
        A width, or the word for a search or a rule; None for kernels without gamma.
    searches : tuple of str
        The words for a search.
    candidates : tuple of str
        The kernels to choose from; empty if one is given.
    device : str, torch.device or None
        Where the model holds its samples; None to follow them; `HOST` if it can only hold them in
        host memory.
    factors : ndarray of shape (d,), optional
        Those of the features, which ``kernel`` has in its widths.
    """

    kernel: Kernel
    gamma: Any
    searches: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    device: Any = HOST
    factors: Array | None = None

    @classmethod
    def read(
        cls,
        kernel: Any,
        gamma: Any,
        degree: Any = 3,
        coef0: Any = 1.0,
        params: Any = None,
        *,
        searches: tuple[str, ...] = (),
        device: Any = HOST,
    ) -> KernelSpec:
        """Return the parameters of an estimator, checked; ValueError if they do not fit."""
        words, named = (*searches, "scale", "auto"), isinstance(gamma, str)
        if gamma is None or (named and gamma not in words):
            raise ValueError(f"gamma must be > 0 or one of {words}, got {gamma!r}.")
        candidates = WIDTH_KERNELS if isinstance(kernel, str) and kernel in searches else ()
        if candidates and gamma != "loo":
            raise ValueError(
                f'kernel="loo" chooses a width for each kernel: gamma must be "loo", got {gamma!r}.'
            )
        width = 1.0 if named else gamma
        name = candidates[0] if candidates else kernel
        made = make_kernel(name, gamma=width, degree=degree, coef0=coef0, params=params)
        if not named and isinstance(kernel, str) and kernel == "linear":
            checked_gamma(gamma, "linear")  # unused, but an invalid value is still an error
        return cls(made, gamma, searches, candidates, device)

    @property
    def precomputed(self) -> bool:
        """Whether samples are rows of a kernel matrix."""
        return isinstance(self.kernel, Precomputed)

    @property
    def chosen_on_data(self) -> tuple[str, ...]:
        """Of "kernel" and "gamma" those that are to be chosen on samples."""
        named = self.kernel.takes_gamma and isinstance(self.gamma, str)
        return (*(("kernel",) if self.candidates else ()), *(("gamma",) if named else ()))

    def width(self, holdings: Holdings) -> Any:
        """Return a width, or the word for a search; None for kernels without gamma."""
        if not self.kernel.takes_gamma:
            return None
        if not isinstance(self.gamma, str):
            return check_widths(self.gamma, holdings.rows.width)
        if self.gamma in self.searches and not isinstance(self.kernel, Polynomial):
            return self.gamma
        rule = "scale" if self.gamma in self.searches else self.gamma
        return default_gamma(rule, holdings.rows.samples(), holdings.weight)

    def with_kernel(self, name: str) -> KernelSpec:
        """Return the spec with one of the candidates."""
        return replace(self, kernel=make_kernel(name, gamma=1.0), candidates=())

    def with_gamma(self, gamma: Any) -> KernelSpec:
        """Return the spec with a width that was chosen; factors of the features stay."""
        if gamma is self.gamma:
            return self
        found = replace(self, kernel=self.kernel.with_gamma(gamma), gamma=gamma, candidates=())
        return found if self.factors is None else found.with_factors(self.factors)

    def with_factors(self, factors: Array) -> KernelSpec:
        """Return the spec with factors of the features, for a kernel with one width."""
        return replace(self, kernel=self.kernel.with_scales(factors), factors=factors)

    def chosen(self) -> dict[str, Any]:
        """What may have been chosen on samples, as plain values by name."""
        gamma = self.gamma if self.kernel.takes_gamma else None
        return {"kernel": self.kernel.name, "gamma": gamma, "metric": self.factors}

    def with_chosen(self, values: Mapping[str, Any]) -> KernelSpec:
        """Return the spec with values that `chosen` gave."""
        found = self.with_kernel(values["kernel"]) if self.candidates else self
        if values["gamma"] is not None:
            found = found.with_gamma(values["gamma"])
        return found if values["metric"] is None else found.with_factors(values["metric"])

    def validate_chosen(self, values: Mapping[str, Any], stored: Stored, *, metric: bool) -> None:
        """Raise `ModelFileError` unless a file may give these values; ``metric``: with factors."""
        if values["kernel"] not in (self.candidates or (self.kernel.name,)):
            refuse(
                "kernel_", f"is {excerpt(values['kernel'])!r}, which the parameters do not allow"
            )
        validate_gamma(values["gamma"], "gamma_", stored)
        validate_metric(values["metric"], "metric_", stored.d, needed=metric)

    def check_metric(self, metric: Any) -> None:
        """ValueError unless features of this kernel can have weights that are found this way."""
        check_choice("metric", metric, (None, "diagonal", "ard"))
        if metric is None:
            return
        if not self.kernel.has_feature_widths:
            raise ValueError(
                f"metric={metric!r} needs one of the kernels {WIDTH_KERNELS}, got "
                f"kernel={self.kernel.name!r}. Leave metric=None."
            )
        given = np.ndim(self.gamma) > 0 or (metric == "ard" and self.gamma != "loo")
        if given:
            wanted = '"loo"' if metric == "ard" else 'one number or "loo"'
            raise ValueError(
                f"metric={metric!r} chooses the weight of each feature, so that gamma must be "
                f"{wanted}, got {self.gamma!r}."
            )


def check_widths(gamma: Any, n_features: int) -> Any:
    """Return gamma, an array if it is one width per feature; else ValueError."""
    if not np.ndim(gamma):
        return gamma
    if len(gamma) != n_features:
        raise ValueError(
            f"gamma must be one number, or one per feature: got {len(gamma)} for "
            f"{n_features} features."
        )
    return np.array(gamma, dtype=float)
