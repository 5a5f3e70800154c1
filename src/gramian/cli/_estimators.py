"""Which estimator a table gets, and how long that will take."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import click

from gramian.core.gram._memory import available_memory
from gramian.estimators import ESTIMATORS
from gramian.stack._spec import CLASS_KERNELS, NUMBER_KERNELS
from gramian.tables import are_classes

_SHORT = {
    "EllipsoidalFuzzyClassifier": "fuzzy",
    "KernelDiscriminant": "discriminant",
    "KernelFisherDiscriminant": "fisher",
    "LagrangianSVC": "lagrangian",
    "LeastSquaresSVC": "ls-svc",
    "LeastSquaresSVR": "ls-svr",
    "OrthogonalKernelClassifier": "orthogonal",
    "OrthogonalKernelRegressor": "orthogonal-regressor",
    "StackedKernelClassifier": "stack-classifier",
    "StackedKernelRegressor": "stack-regressor",
}
ESTIMATOR_NAMES = {_SHORT.get(name, name): cls for name, cls in ESTIMATORS.items()}
"""Estimators by the names that the command line takes; a new one goes by that of its class."""
EXACT_UP_TO = 5_000
"""Rows up to which estimators on the whole Gram matrix are worth their time (docs/choosing.md)."""
CENTRES = 2_000
"""Rows that are drawn for a basis: more than a selection finds in the same time."""
PARTS = max(len(CLASS_KERNELS), len(NUMBER_KERNELS))
"""Matrices of a stack, by default at most."""


MOST_CODES, ROWS_OF_A_CODE = 50, 20
"""Up to so many whole numbers, each in so many rows on average, may be codes of classes."""


class Choice(NamedTuple):
    """An estimator for a table."""

    name: str
    why: str | None = None
    """None if it was asked for."""
    parameters: Mapping[str, Any] = MappingProxyType({})
    """Those of the estimator that are not its default."""


def choose_estimator(
    cells: list[Any], read: Any, itemsize: int, *, one: bool = False, classes: bool = False
) -> Choice:
    """The estimator for this target on this computer, and why, in one line.

    ``one`` estimator is wanted if a kernel, a width or the like is given. The target has classes
    if its cells look like that, or if ``classes`` is true.
    """
    n = len(cells)
    what = "classes" if classes else _kind(cells, read)
    classes = what == "classes"
    exact, sparse = (
        ("discriminant", "orthogonal") if classes else ("ls-svr", "orthogonal-regressor")
    )
    tuned = {} if one else {"kernel": "loo"}
    drawn = {"selection": "random", "max_basis": CENTRES}
    many = drawn if one else {**drawn, **tuned, "metric": "ard"}
    basis = f"a basis of {min(n, CENTRES):,} rows{'' if one else ', the best of three kernels'}"
    if n > EXACT_UP_TO:
        why = f"{what}, and more than {EXACT_UP_TO:,} rows ({n:,}): {basis}"
        return Choice(sparse, why, many)
    needed, free = 3 * n * n * itemsize, available_memory()
    if not one and (free is None or PARTS * needed <= free):
        why = f"{what}, and no more than {EXACT_UP_TO:,} rows ({n:,}): several kernels at once"
        return Choice(stack_for(classes), why)
    size = f"the matrix of {n:,} rows takes {_size(needed)} with room to tune"
    if free is not None and needed > free:
        why = f"{what}, and {size}, of which {_size(free)} are free: {basis}"
        return Choice(sparse, why, many)
    short = f", and {_size(PARTS * needed)} for several kernels are not free: the best of three"
    return Choice(exact, f"{what}, and {size}{'' if one else short}", tuned)


def _kind(cells: list[Any], read: Any) -> str:
    """Classes or numbers, with a hint where whole numbers may be meant as classes."""
    if are_classes(cells, read):
        return "classes"
    found = {read(cell) for cell in cells} - {None}
    few = len(found) <= min(MOST_CODES, len(cells) // ROWS_OF_A_CODE)
    if few and all(float(value).is_integer() for value in found):
        return f"numbers, {len(found)} different ones, all whole: --category makes classes of them"
    return "numbers"


def stack_for(classes: bool) -> str:
    """Name of the stack for this kind of target."""
    return f"stack-{'classifier' if classes else 'regressor'}"


def make_estimator(
    estimator: str,
    *,
    gamma: Any,
    ridge: Any,
    kernel: str | None,
    metric: str | None = None,
    device: Any = None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """The estimator of this name; what was not asked for is in ``parameters``, or its default."""
    if estimator not in ESTIMATOR_NAMES:
        names = ", ".join(("auto", "stack", *sorted(ESTIMATOR_NAMES)))
        raise click.BadParameter(f"must be {names}; got {estimator}.", param_hint="--estimator")
    unfitted = ESTIMATOR_NAMES[estimator](**parameters)
    if kernel is not None:
        unfitted.set_params(kernel=kernel)
    known = unfitted.get_params()
    strength = {"ridge": ridge} if "ridge" in known else {"C": ridge}
    if "C" in known and not isinstance(ridge, str | None):
        strength = {"C": 1.0 / ridge}
    given = {"gamma": gamma, "metric": metric, **strength, "device": device}
    if "random_state" in known:
        given["random_state"] = 0
    for name, value in given.items():
        if value is not None and name not in known:
            hint = "--ridge" if name in strength else f"--{name}"
            raise click.BadParameter(f"{estimator} has no such parameter.", param_hint=hint)
    return unfitted.set_params(**{k: v for k, v in given.items() if v is not None})


def _size(number: float) -> str:
    """Of memory."""
    if number < 0.1 * 2**30:
        return f"{number / 2**20:.2g} MiB"
    return f"{number / 2**30:.2g} GiB"
