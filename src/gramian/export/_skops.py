"""What skops has to trust before it loads a model of this package."""

from __future__ import annotations

from importlib import import_module
from inspect import getmembers, isclass, isfunction
from pkgutil import walk_packages

import gramian
from gramian.estimators import ESTIMATORS

# The packages that define the estimators, from "gramian.svm._least_squares" and the like.
_FAMILIES = sorted({cls.__module__.split(".")[1] for cls in ESTIMATORS.values()})


def trusted_types() -> list[str]:
    """Names of this package's own types, for ``skops.io.load(path, trusted=trusted_types())``.

    They are the classes and functions of the layers that a fitted model is made of, from kernels
    to estimators.

    Examples
    --------
    >>> "gramian.discriminant._estimator.KernelDiscriminant" in trusted_types()
    True
    """
    found = {"numpy.dtype", "builtins.object"}
    for layer in ("core", *_FAMILIES):
        package = import_module(f"gramian.{layer}")
        for info in walk_packages(package.__path__, f"gramian.{layer}."):
            if info.name.endswith(("._device", "._torch")):  # need torch, and no file has them
                continue
            members = getmembers(import_module(info.name), lambda x: isclass(x) or isfunction(x))
            found.update(
                f"{value.__module__}.{value.__qualname__}"
                for _, value in members
                if value.__module__.startswith(f"{gramian.__name__}.")
            )
    return sorted(found)
