"""Streams: sliding windows, test-then-train evaluation, and models for River.

`RiverClassifier` and `RiverRegressor` are resolved on first use, which imports River.
"""

from typing import Any

from gramian.stream._martingale import Martingale, mixture_martingale
from gramian.stream._prequential import Prequential, prequential
from gramian.stream._window import SlidingWindow

__all__ = ["Martingale", "Prequential", "SlidingWindow", "mixture_martingale", "prequential"]

_RIVER = ("RiverClassifier", "RiverRegressor")


def __getattr__(name: str) -> Any:
    if name not in _RIVER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from gramian.stream import _river

    return getattr(_river, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_RIVER})
