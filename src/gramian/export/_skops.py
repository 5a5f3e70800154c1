"""What skops has to trust before it loads a model of this package."""

from __future__ import annotations

from importlib import import_module
from inspect import getmembers, isclass, isfunction
from pkgutil import iter_modules, walk_packages

import gramian

_WITHOUT_MODELS = ("cli", "datasets", "export", "plots", "serve", "store")


def trusted_types() -> list[str]:
    """Names of this package's own types, for ``skops.io.load(path, trusted=trusted_types())``.

    They are the classes and functions of the packages that a fitted model is made of, from kernels
    to estimators and models of tables.

    Examples
    --------
    >>> "gramian.tables._table_model.TableModel" in trusted_types()
    True
    """
    found = {"numpy.dtype", "builtins.object", "scipy.sparse._csr.csr_array"}
    for package in iter_modules(gramian.__path__, "gramian."):
        if package.ispkg and package.name.partition(".")[2] not in _WITHOUT_MODELS:
            for info in walk_packages(import_module(package.name).__path__, f"{package.name}."):
                if not info.name.endswith(("._device", "._torch")):  # need torch; no file has them
                    found.update(_own_names(import_module(info.name)))
    return sorted(found)


def _own_names(module: object) -> set[str]:
    members = getmembers(module, lambda x: isclass(x) or isfunction(x))
    own = (value for _, value in members if value.__module__.startswith("gramian."))
    return {f"{value.__module__}.{value.__qualname__}" for value in own}
