"""Files that predict and cannot do anything else: no ids, no targets, no way to go on learning."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from io import BytesIO
from typing import IO, Any

import numpy as np

from gramian.export._expansion import (
    Expansion,
    ExportError,
    Term,
    check_agrees,
    expansion_of,
    own_samples,
)
from gramian.export._onnx import to_onnx
from gramian.files import StrPath, replacing
from gramian.tables._model_rows import model_rows


def predict_only(model: Any, path: StrPath) -> dict[str, Any]:
    """Write what predictions need to a file, completely or not at all.

    A path that ends in ``.onnx`` gets an ONNX graph, any other one NumPy's ``.npz`` with the arrays
    of `Expansion` and, for a model of a table, the columns as JSON. What the file computes is
    compared with the model on the model's own samples before it is written.

    The file has no ids and no targets. **Its centres are samples**, encoded and scaled, unless the
    kernel is linear: whoever has the file has those rows. It is readable by its owner only.

    Returns
    -------
    dict
        ``centres``, the number of samples in the file, and ``held``, of those that the model holds.
    """
    rows = model_rows(model)
    estimator = rows.estimator
    expansion = expansion_of(estimator)
    if str(path).endswith(".onnx"):
        content = to_onnx(model).SerializeToString()
    else:
        content = _npz(expansion, rows.columns)
        X = own_samples(estimator, expansion)
        found = read_expansion(BytesIO(content)).outputs(X)
        check_agrees(estimator, expansion, X, found, "file")
    with replacing(path, private=True) as stream:
        stream.write(content)
    return {"centres": expansion.count(), "held": len(estimator.ids_)}


def read_expansion(file: StrPath | IO[bytes]) -> Expansion:
    """The `Expansion` in an npz file that `predict_only` wrote."""
    with np.load(file, allow_pickle=False) as arrays:
        kept = {name: arrays[name] for name in arrays.files}
    names = [field.name for field in fields(Term)[1:]]
    terms = tuple(
        Term(kernel, **{name: kept[f"{name}_{s}"][()] for name in names if f"{name}_{s}" in kept})
        for s, kernel in enumerate(kept["kernels"].tolist())
    )
    scale = kept.get("scale")
    return Expansion(
        terms, kept["intercept"], kept.get("classes"), None if scale is None else float(scale),
        bool(kept["flat"]),
    )  # fmt: skip


def _npz(expansion: Expansion, columns: Any) -> bytes:
    arrays: dict[str, Any] = {"kernels": [term.kernel for term in expansion.terms]}
    for s, term in enumerate(expansion.terms):
        arrays |= {f"{field.name}_{s}": getattr(term, field.name) for field in fields(Term)[1:]}
    arrays |= {name: getattr(expansion, name) for name in ("intercept", "classes", "scale", "flat")}
    if columns is not None:
        described = [{"kind": type(column).__name__, **asdict(column)} for column in columns]
        arrays["columns"] = json.dumps(described)
    stream = BytesIO()
    there = {name: np.asarray(value) for name, value in arrays.items() if value is not None}
    if any(value.dtype.hasobject for value in there.values()):
        raise ExportError("the classes are Python objects; a file that only predicts holds none.")
    np.savez(stream, **there)  # type: ignore[arg-type]  # allow_pickle= is of later versions
    return stream.getvalue()
