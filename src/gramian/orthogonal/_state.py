"""What files store of the bases of orthogonal least squares, and checks of what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines import State, Stored
from gramian.core.validation import (
    check_array,
    check_index,
    check_keys,
    check_labels,
    check_number,
    check_samples,
    check_sequence,
    check_text,
    check_whole,
    refuse,
)
from gramian.orthogonal._fixed_basis import NOT_HELD
from gramian.orthogonal._rules import PATH

_BASIS = ("centres", "which", "samples", "epsilon", "outputs", "path", "stop_reason", "live")
_LIVE = ("U", "sums", "ridge", "free")
_SUMS = ("gram", "moments", "squares", "total", "rows")


@dataclass(frozen=True, eq=False)
class BasisState(State):
    """Centres and sums of each basis, the weights, and the scale of the probabilities if known."""

    holds_all_rows: ClassVar[bool] = False  # chunks of Dask arrays and generators are not held

    bases: list[dict[str, Any]]
    weights: list[Array]
    calibration: tuple[float, Array] | None = None

    @classmethod
    def validate(cls, values: Mapping[str, Any], stored: Stored) -> None:
        """Check bases with their weights, an output for each class or target between them."""
        bases = check_sequence(values["bases"], "the bases")
        weights = check_sequence(values["weights"], "the weights", len(bases))
        n, classes = stored.n, stored.classes
        for basis, weight in zip(bases, weights, strict=True):
            check_keys(basis, "a basis", _BASIS)
            m = _check_centres(basis, n, stored.d)
            t = len(check_labels(basis["outputs"], "outputs of a basis", (None,)))
            _check_live(basis["live"], m + 1, t, n)
            check_array(weight, "weights of a basis", (m + 1, t), "f")
        _check_outputs([basis["outputs"] for basis in bases], classes, stored.y)
        if values.get("calibration") is not None:
            scale, bias = check_sequence(values["calibration"], "the calibration", 2)
            check_number(scale, "the calibration", 0.0)
            check_array(bias, "the calibration", (0 if classes is None else len(classes),), "f")


def _check_centres(basis: Any, n: int, d: int) -> int:
    """The number of centres."""
    m = check_samples(basis["centres"], "centres", (None, d)).shape[0]
    check_array(basis["which"], "kernels of centres", (m,), "i")
    check_index(basis["samples"], "centres among samples", (m,), NOT_HELD, n)
    check_number(basis["epsilon"], "epsilon of a basis", 0.0)
    check_text(basis["stop_reason"], "the reason to stop")
    path = check_keys(basis["path"], "the path of a basis", PATH)
    length = len(check_array(path["size"], "the path of a basis", (None,), "iuf", finite=False))
    for values in path.values():
        check_array(values, "the path of a basis", (length,), "iuf", finite=False)
    return int(m)


def _check_live(live: Any, m: int, t: int, n: int) -> None:
    """Normal equations of m columns and t targets."""
    check_keys(live, "a regression", _LIVE)
    U = check_array(live["U"], "U of a basis", (m, m), "f")
    if not np.diagonal(U).all():
        refuse("U of a basis", "is singular")
    check_number(live["ridge"], "ridge of a basis", 0.0)
    check_whole(live["free"], "free columns of a basis", 0, m)
    sums = check_keys(live["sums"], "sums of a basis", _SUMS)
    check_array(sums["gram"], "sums of a basis", (m, m), "f")
    check_array(sums["moments"], "sums of a basis", (m, t), "f")
    check_array(sums["squares"], "sums of a basis", (t,), "f")
    check_number(sums["total"], "sums of a basis", 0.0)
    check_whole(sums["rows"], "rows of a basis", n)


def _check_outputs(outputs: list[Array], classes: Array | None, y: Array) -> None:
    """One output for each class, by its label, or for each target, by its number."""
    if classes is None:
        classes = np.arange(1 if y.ndim == 1 else y.shape[1])
    names = [name for part in outputs for name in part.tolist()]
    kinds = {part.dtype.kind for part in outputs}
    if kinds != {classes.dtype.kind} or sorted(names, key=str) != sorted(classes.tolist(), key=str):
        refuse("outputs of the bases", "are not one for each class or target")
