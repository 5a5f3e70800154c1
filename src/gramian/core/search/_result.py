"""What a search found, and the way it went."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from gramian.core.arrays import Array


class Trial(NamedTuple):
    """One evaluated setting; `callback` is called with it."""

    stage: str
    """``"subsample"``, ``"all samples"``, or ``"left out"`` of a selection of centres."""
    n: int
    """Number of samples that the criterion was computed on."""
    gamma: Any
    """Width, a number or one per feature."""
    ridge: float
    value: float
    """The criterion."""
    objective: float
    """The criterion with the prior on the width: what the search minimises."""


@dataclass(frozen=True, repr=False)
class Selection:
    """The chosen hyper-parameters, and every setting that was evaluated.

    Attributes
    ----------
    gamma : float, ndarray or None
        Kernel width, chosen or given; None for kernels without a width.
    ridge : float
    criterion : str
    value : float
        The criterion of the chosen setting.
    stages, sizes, gammas, ridges, values : ndarray of shape (n_trials,)
        The searched path: stage, number of samples, width (the geometric mean where there is one
        per feature), ridge, and criterion.
    common : (float, float), optional
        One width and its ridge, where a search for one per feature began.
    """

    gamma: Any
    ridge: float
    criterion: str
    value: float
    stages: Array
    sizes: Array
    gammas: Array
    ridges: Array
    values: Array
    common: tuple[float, float] | None = None

    def __repr__(self) -> str:
        width = "" if self.gamma is None else f"gamma={one_width(self.gamma):.4g}, "
        if np.ndim(self.gamma):
            width = f"gamma={len(self.gamma)} widths around {one_width(self.gamma):.4g}, "
        return (
            f"Selection({width}ridge={self.ridge:.4g}, {self.criterion}={self.value:.4g}, "
            f"{len(self.values)} settings on up to {self.sizes.max()} samples)"
        )


@dataclass
class Trace:
    """Keeps what was tried, and tells the callback."""

    callback: Callable[[Trial], object] | None = None
    paths: list[tuple[Trial, Array, Array]] = field(default_factory=list)
    common: tuple[float, float] | None = None

    def add(self, trial: Trial, ridges: Array, values: Array) -> Trial:
        """Record a path of ridges of which ``trial`` is the best."""
        self.paths.append((trial, ridges, values))
        if self.callback is not None:
            self.callback(trial)
        return trial

    def selection(self, best: Trial, criterion: str) -> Selection:
        """The result, once the search is over."""
        trials, ridges, values = zip(*self.paths, strict=True)
        lengths = [len(path) for path in ridges]

        def repeated(column: list[Any]) -> Array:
            return np.repeat(column, lengths)

        return Selection(
            gamma=best.gamma,
            ridge=best.ridge,
            criterion=criterion,
            value=best.value,
            stages=repeated([trial.stage for trial in trials]),
            sizes=repeated([trial.n for trial in trials]),
            gammas=repeated([one_width(trial.gamma) for trial in trials]),
            ridges=np.concatenate(ridges),
            values=np.concatenate(values),
            common=self.common,
        )


def one_width(gamma: Any) -> float:
    """One number for any gamma: itself, the geometric mean over features, or NaN for none."""
    if gamma is None:
        return np.nan
    return float(np.exp(np.mean(np.log(gamma)))) if np.ndim(gamma) else float(gamma)
