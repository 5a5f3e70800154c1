"""Independent work on the same samples, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from gramian.core.arrays import device_memory, side_by_side
from gramian.core.engines._holdings import Holdings

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_side_by_side(
    function: Callable[[Item], Result], items: Sequence[Item], holdings: Holdings
) -> list[Result]:
    """``function(item)`` for each item, side by side; on a device one after the other."""
    if device_memory(holdings.rows.samples()) is not None:  # on a device
        return [function(item) for item in items]
    return side_by_side(function, items, len(holdings))
