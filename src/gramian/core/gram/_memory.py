"""Check the available memory before an allocation."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from gramian.core.arrays import device_memory

_MEMINFO = Path("/proc/meminfo")
# Limit and usage of the container that the process runs in: version 2 of cgroups, then version 1.
_LIMITS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


def available_memory() -> int | None:
    """Bytes that can be allocated now, or None where the system does not report it.

    The smaller of what the computer has free and what is left of a container's limit.
    """
    known = [size for size in (_free_memory(), _container_memory()) if size is not None]
    return min(known, default=None)


def _free_memory() -> int | None:
    if _MEMINFO.exists():
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    if "SC_AVPHYS_PAGES" in getattr(os, "sysconf_names", {}):
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _container_memory() -> int | None:
    """What is left of the limit of a container; None without one."""
    for limit, usage in _LIMITS:
        try:
            left = int(limit.read_text()) - int(usage.read_text())
        except (OSError, ValueError):  # no such file, or "max": no limit
            continue
        return max(0, left + _cached_files(limit.with_name("memory.stat")))
    return None


def _cached_files(stat: Path) -> int:
    """Bytes of cached files in a container's usage: they make room when memory is asked for."""
    if not stat.exists():
        return 0
    lines = (line.split() for line in stat.read_text().splitlines())
    return sum(int(words[1]) for words in lines if words[0] == "inactive_file")


def require_memory(nbytes: int, purpose: str, like: Any = None) -> None:
    """Raise MemoryError with the amounts if ``nbytes`` are not available.

    Allocates nothing. ``like`` is an array on the device where they would be allocated; host memory
    by default. If the system does not report free memory, nothing is checked, and the allocation
    raises an error of its own.
    """
    on_gpu = device_memory(like)
    free = available_memory() if on_gpu is None else on_gpu
    if free is not None and nbytes > free:
        raise MemoryError(
            f"{purpose} needs {nbytes / 2**30:.1f} GiB, and this "
            f"{'machine' if on_gpu is None else 'device'} has "
            f"{free / 2**30:.1f} GiB free. Give fewer samples, or float32 ones (half the memory), "
            f'or factor="single" (half the memory, decision values in double precision), or use '
            f"an estimator that holds no square matrix."
        )
