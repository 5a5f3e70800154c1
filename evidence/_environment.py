"""Which code ran, and on what: nothing that names the computer or its folders."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from inspect import getsourcefile
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

import gramian

_LIBRARIES = ("numpy", "scipy", "scikit-learn")
# What a case can depend on, besides the module that defines it.
_LAYERS = ("core", "discriminant", "ellipsoidal", "fisher", "orthogonal", "stack", "svm")
_BENEATH = (
    *(Path(gramian.__file__).parent / layer for layer in _LAYERS),
    *(Path(__file__).parent / folder for folder in ("shared", "published")),
)


def fingerprint(run: Callable[..., Any]) -> str:
    """The version, and a digest of all code and the versions of libraries that ``run`` stands on.

    Two cases with the same parameters and the same fingerprint are the same computation.
    """
    own = getsourcefile(run)
    assert own is not None  # a function of a module
    digest = hashlib.sha256(f"{beneath()} {_digest(Path(own))}".encode()).hexdigest()
    return f"{gramian.__version__}+{digest[:12]}"


@cache
def beneath() -> str:
    """A digest of the layers beneath, and of the libraries."""
    files = (path for folder in _BENEATH for path in sorted(folder.rglob("*.py")))
    libraries = [f"{name} {version(name)}" for name in _LIBRARIES]
    return f"{_digest(*files)} {platform.python_version()} {libraries}"


@cache
def _digest(*files: Path) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def machine() -> dict[str, str]:
    """Processor and versions."""
    return {
        "Gramian": gramian.__version__,
        "Python": platform.python_version(),
        **{name: _version(name) for name in (*_LIBRARIES, "matplotlib")},
        "BLAS": ", ".join(sorted({_blas(pool) for pool in threadpool_info()} - {""})) or "unknown",
        "processor": f"{_processor()}, {cores()} cores",
        "system": platform.system(),
    }


def cores() -> int:
    """Cores that this process may use, where the system can say."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _blas(pool: dict[str, Any]) -> str:
    return f"{pool['internal_api']} {pool['version']}" if pool["user_api"] == "blas" else ""


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
