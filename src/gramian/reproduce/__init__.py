"""The tables and figures of the five papers, and ours, computed anew and put on one page.

Names are resolved on first use (PEP 562), so that a process that computes one case loads only what
it needs.
"""

from importlib import import_module
from typing import Any

_PUBLIC = {
    "Cell": "_parts",
    "EXPERIMENTS": "_registry",
    "Event": "_runner",
    "Experiment": "_experiment",
    "Figure": "_parts",
    "Summary": "_reproduce",
    "Table": "_parts",
    "Text": "_parts",
    "UnavailableError": "_experiment",
    "reproduce": "_reproduce",
    "run_experiments": "_reproduce",
    "select": "_registry",
}

__all__ = [*_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
