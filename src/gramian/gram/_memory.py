"""Check the available memory before an allocation."""

from __future__ import annotations

import os
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")


def available_memory() -> int | None:
    """Bytes that can be allocated now, or None if the system does not report them."""
    if _MEMINFO.exists():
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    if "SC_AVPHYS_PAGES" in getattr(os, "sysconf_names", {}):
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def require_memory(nbytes: int, purpose: str) -> None:
    """Raise MemoryError with the amounts if ``nbytes`` are not available.

    Allocates nothing. If the system does not report free memory, nothing is checked, and NumPy
    raises its own error at the allocation.
    """
    free = available_memory()
    if free is not None and nbytes > free:
        raise MemoryError(
            f"{purpose} needs {nbytes / 2**30:.1f} GiB, and this machine has "
            f"{free / 2**30:.1f} GiB free. Give fewer samples, or float32 ones (half the memory), "
            f"or use a machine that holds no square matrix."
        )
