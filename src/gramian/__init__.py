"""Kernel machines that learn one sample, forget one, and know their leave-one-out error, exactly.

Public names are resolved on first use (PEP 562), so that ``import gramian`` loads nothing else. The
estimators are those that `gramian.estimators` lists: a new one needs no entry here.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name -> the module that defines it; estimators are found in `gramian.estimators`.
_PUBLIC: dict[str, str] = {
    "ScaleWarning": "gramian.core.estimators",
    "TableModel": "gramian.tables",
    "forget": "gramian.files",
    "load": "gramian.files",
    "save": "gramian.files",
    "to_onnx": "gramian.export",
}


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    estimators = {} if name.startswith("_") and name != "__all__" else _estimators()
    if name == "__all__":
        return ["__version__", *estimators, *_PUBLIC]
    if name not in estimators:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return estimators[name]


def __dir__() -> list[str]:
    return sorted({*globals(), "__all__", *_estimators(), *_PUBLIC})


def _estimators() -> dict[str, Any]:
    return import_module("gramian.estimators").ESTIMATORS
