"""Kernel classifiers and regressors that learn one sample, forget one, and know their error.

Public names are resolved on first use (PEP 562), so that ``import gramian`` loads nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gramian.core.engines import ChoiceWarning as ChoiceWarning
    from gramian.core.estimators import ScaleWarning as ScaleWarning
    from gramian.estimators import *  # noqa: F403
    from gramian.export import to_onnx as to_onnx
    from gramian.files import forget as forget
    from gramian.files import load as load
    from gramian.files import save as save
    from gramian.tables import TableModel as TableModel

__version__ = "0.1.0"

# Public name -> the module that defines it; estimators are found in `gramian.estimators`.
_PUBLIC: dict[str, str] = {
    "ChoiceWarning": "gramian.core.engines",
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
    estimators = [] if name.startswith("_") and name != "__all__" else _estimators()
    if name == "__all__":
        return ["__version__", *estimators, *_PUBLIC]
    if name not in estimators:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("gramian.estimators"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), "__all__", *_estimators(), *_PUBLIC})


def _estimators() -> list[str]:
    return list(import_module("gramian.estimators").__all__)
