"""Kernel machines that learn one sample, forget one, and know their leave-one-out error, exactly.

Public names are resolved on first use (PEP 562), so that ``import gramian`` loads nothing else.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name -> the module that defines it.
_PUBLIC: dict[str, str] = {
    "EllipsoidalFuzzyClassifier": "gramian.estimators",
    "KernelDiscriminant": "gramian.estimators",
    "KernelFisherDiscriminant": "gramian.estimators",
    "LagrangianSVC": "gramian.estimators",
    "LeastSquaresSVC": "gramian.estimators",
    "LeastSquaresSVR": "gramian.estimators",
    "OrthogonalKernelClassifier": "gramian.estimators",
    "OrthogonalKernelRegressor": "gramian.estimators",
    "TableModel": "gramian.tables",
    "forget": "gramian.io",
    "load": "gramian.io",
    "save": "gramian.io",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
