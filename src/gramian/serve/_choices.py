"""What the page offers: estimators, kernels, and the estimator that a choice of them means."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from gramian.core.kernels import KERNELS
from gramian.estimators import ESTIMATORS

CLASSES, CURVE = "classes", "curve"
SAMPLES, BASIS, REGIONS = "samples", "basis", "regions"


@dataclass(frozen=True)
class Offer:
    """An estimator as the page shows it.

    Attributes
    ----------
    name : str
        Class name of the estimator.
    title : str
    task : {"classes", "curve"}
    strength : {"C", "ridge", "epsilon"}
        Parameter that the slider of the ridge λ sets; C is 1/λ.
    holds : {"samples", "basis", "regions"}
        What its decision values are sums over: all samples, chosen centres, or neither.
    searches : bool
        Whether it chooses width and ridge by leave-one-out in closed form.
    quick : bool
        Whether its leave-one-out values are there a few milliseconds after an edit.
    """

    name: str
    title: str
    task: str = CLASSES
    strength: str = "ridge"
    holds: str = SAMPLES
    searches: bool = True
    quick: bool = True


OFFERS = {
    offer.name: offer
    for offer in (
        Offer("LeastSquaresSVC", "Least squares SVM", strength="C"),
        Offer("KernelDiscriminant", "Kernel discriminant"),
        Offer("KernelFisherDiscriminant", "Kernel Fisher discriminant"),
        Offer("LagrangianSVC", "Lagrangian SVM", strength="C", searches=False, quick=False),
        Offer("OrthogonalKernelClassifier", "Orthogonal basis", holds=BASIS, searches=False),
        Offer(
            *("EllipsoidalFuzzyClassifier", "Fuzzy ellipsoids"),
            strength="epsilon",
            holds=REGIONS,
            searches=False,
            quick=False,
        ),
        Offer("LeastSquaresSVR", "Least squares SVM", CURVE, strength="C"),
        Offer("OrthogonalKernelRegressor", "Orthogonal basis", CURVE, holds=BASIS, searches=False),
    )
}
NAMED_KERNELS = ("rbf", "laplacian", "poly", "linear")
LEAST, MOST = 1e-15, 1e15
"""Widths and ridges that the page may ask for: all that a search by leave-one-out tries."""


def check_one_of(name: str, value: Any, known: Collection[str]) -> None:
    """Raise ValueError unless a value, of any type, is one of the known names."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}; got {value!r:.100}.")


@dataclass(frozen=True)
class Choice:
    """Estimator, kernel and hyper-parameters; raises ValueError if one of them is not offered."""

    estimator: str = "LeastSquaresSVC"
    kernel: str = "rbf"
    gamma: float = 2.0
    ridge: float = 0.1

    def __post_init__(self) -> None:
        check_one_of("estimator", self.estimator, OFFERS)
        check_one_of("kernel", self.kernel, NAMED_KERNELS)
        for name in ("gamma", "ridge"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError(f"{name} must be a number, got {value!r:.100}.")
            if not LEAST <= value <= MOST:
                raise ValueError(f"{name} must be from {LEAST:g} to {MOST:g}, got {value!r}.")

    @property
    def offer(self) -> Offer:
        return OFFERS[self.estimator]

    def changed(self, given: Mapping[str, Any]) -> Choice:
        """Return the choice with the values that a message gives."""
        return replace(self, **{name: given[name] for name in asdict(self) if name in given})

    def parameters(self, *, search: bool = False) -> dict[str, Any]:
        """Return the parameters of the estimator; with ``search``, those that it chooses itself."""
        offer, kernel = self.offer, KERNELS[self.kernel]
        found: dict[str, Any] = {"kernel": self.kernel}
        if kernel.takes_gamma:
            found["gamma"] = "loo" if search and kernel.has_width else float(self.gamma)
        strength = 1.0 / self.ridge if offer.strength == "C" else float(self.ridge)
        return {**found, offer.strength: "loo" if search else strength}

    def make_estimator(self, *, search: bool = False) -> Any:
        """Return the estimator, not fitted."""
        return ESTIMATORS[self.estimator](**self.parameters(search=search))
