"""The classifiers of kaieda2004 by the names of its tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence.published import kaieda2004
from gramian import EllipsoidalFuzzyClassifier
from gramian.ellipsoidal._regions import KernelRegion

TRANSDUCTIVE = {"KPCA I": None, "KPCA II": "basis", "KPCA III": "basis"}


def kernel_parameters(name: str) -> dict[str, Any]:
    """``linear``; ``d2``, which is (1 + x·y)²; ``γ0.1``, which is exp(−0.1 ‖x − y‖²)."""
    if name == "linear":
        return {"kernel": "linear"}
    if name.startswith("d"):
        return {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "degree": int(name[1:])}
    return {"kernel": "rbf", "gamma": float(name.removeprefix("γ"))}


def fuzzy_classifier(method: str, floor: float, kernel: str | None, **options: Any) -> Any:
    """Not fitted; as in the paper. ``floor`` is ζ, σ or ε, whichever the method has."""
    options = {"tune": True, "max_sacrifice": kaieda2004.L_M, "eta": kaieda2004.ETA, **options}
    if method == "Conventional":
        return EllipsoidalFuzzyClassifier(distance="input", zeta=floor, **options)
    assert kernel is not None
    options = {**kernel_parameters(kernel), "tau": kaieda2004.TAU, **options}
    if method == "SVD":
        return EllipsoidalFuzzyClassifier(distance="svd", sigma=floor, **options)
    way = TRANSDUCTIVE[method]
    return EllipsoidalFuzzyClassifier(transductive=way, epsilon=floor, **options)


def multiclass_classifier(kind: str, data: str, **options: Any) -> Any:
    """A row of Tables 5 to 8, as ``KPCA II (2)``, with what Tables 3 and 4 say of it."""
    method = kind.split(" (")[0]
    family = kind.replace(method, "KPCA") if method in TRANSDUCTIVE else kind
    chosen = kaieda2004.TABLES_3_AND_4[family]
    return fuzzy_classifier(method, chosen[data], chosen["kernel"], **options)


def untuned_labels(model: Any, X: np.ndarray) -> np.ndarray:
    """The nearest class by the Mahalanobis distance alone, slopes 1."""
    return model.classes_[np.argmin(model.mahalanobis(X), axis=1)]


def selected(model: Any, unlabelled: np.ndarray | None = None) -> int:
    """How many vectors the ellipsoids of all classes are made of (kaieda2004, Table 7).

    ``unlabelled`` are test samples that enter all at once, as in KPCA III.
    """
    engine = model._now.engine
    if unlabelled is not None:
        engine = engine.with_unlabelled(unlabelled)
    return sum(_vectors(region) for region in engine.regions.values())


def independent_positions(model: Any, label: Any) -> np.ndarray:
    """Which members of a class are its independent vectors, in order of arrival."""
    return model._now.engine.regions[label].independent.basis


def _vectors(region: Any) -> int:
    if isinstance(region, KernelRegion):
        return len(region.sequence.basis)
    return int(np.count_nonzero(region._ellipsoid.operator.any(axis=0)))
