"""Files that predict and cannot do anything else: no ids, no targets, no way to go on learning."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from io import BytesIO
from typing import Any

import numpy as np

from gramian.export._expansion import expansion_of
from gramian.export._onnx import to_onnx
from gramian.files import StrPath, replacing
from gramian.tables import TableModel


def predict_only(model: Any, path: StrPath) -> dict[str, Any]:
    """Write what predictions need to a file, completely or not at all.

    A path that ends in ``.onnx`` gets an ONNX graph, any other one NumPy's ``.npz`` with the arrays
    of `Expansion` and, for a model of a table, the columns as JSON.

    The file has no ids and no targets. **Its centres are samples**, encoded and scaled, unless the
    kernel is linear: whoever has the file has those rows. It is readable by its owner only.

    Returns
    -------
    dict
        ``centres``, the number of samples in the file, and ``held``, of those that the model holds.
    """
    table = isinstance(model, TableModel)
    estimator = model.estimator_ if table else model
    expansion = expansion_of(estimator)
    if str(path).endswith(".onnx"):
        content = to_onnx(model).SerializeToString()
    else:
        content = _npz(expansion, model.columns_ if table else None)
    with replacing(path, private=True) as stream:
        stream.write(content)
    return {"centres": len(expansion.centres), "held": len(estimator.ids_)}


def _npz(expansion: Any, columns: Any) -> bytes:
    arrays = {
        field.name: np.asarray(getattr(expansion, field.name))
        for field in fields(expansion)
        if getattr(expansion, field.name) is not None
    }
    if columns is not None:
        told = [{"kind": type(column).__name__, **asdict(column)} for column in columns]
        arrays["columns"] = np.asarray(json.dumps(told))
    stream = BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)
    return stream.getvalue()
