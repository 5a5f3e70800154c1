"""Files: those of this package, of Python, and those for other programs."""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np

import gramian
from gramian.export import predict_only, trusted_types
from tests.matrix.capabilities import capability
from tests.matrix.cases import Array, Case, as_array, kernel_values

files = partial(capability, group="files")
exports = partial(capability, group="export")


def goes_on(case: Case, twin: Any) -> None:
    """A model from a file predicts as the first one, to the last bit, and goes on forgetting."""
    model = case.model()
    assert type(twin) is type(model)
    case.close(case.values(twin), case.values(model), 1e-12)
    case.close(twin.loo_decision_function(), model.loo_decision_function(), 1e-11)
    assert twin.chosen_on_data_ == model.chosen_on_data_
    case.close(case.values(twin.forget([3])), case.values(model.forget([3])), 1e-10)


@files("save and load")
def saves(case: Case, folder: Path) -> None:
    gramian.save(case.model(), folder / "m.gram")
    goes_on(case, gramian.load(folder / "m.gram"))


@files("pickle")
def pickles(case: Case, folder: Path) -> None:
    goes_on(case, pickle.loads(pickle.dumps(case.model())))


@files("joblib")
def dumps(case: Case, folder: Path) -> None:
    joblib.dump(case.model(), folder / "m.joblib")
    goes_on(case, joblib.load(folder / "m.joblib"))


@files("skops", package="skops")
def skops(case: Case, folder: Path) -> None:
    from skops import io

    own = case.how.params.get("kernel")
    trusted = [*trusted_types(), *([_name(own)] if callable(own) else [])]
    io.dump(case.model(), folder / "m.skops")
    assert set(io.get_untrusted_types(file=folder / "m.skops")) <= set(trusted)
    goes_on(case, io.load(folder / "m.skops", trusted=trusted))


def _name(function: Any) -> str:
    return f"{function.__module__}.{function.__qualname__}"


@exports("ONNX", package="onnxruntime")
def onnx(case: Case, folder: Path) -> None:
    import onnxruntime

    model = case.model()
    graph = gramian.to_onnx(model).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    X = case.X[case.asked].astype(case.how.dtype)
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(None, {"X": X.astype(float)}), strict=True))
    expected = case.values(model)
    if case.classifies:
        assert found["label"].tolist() == as_array(model.predict(case.queries(model))).tolist()
        P = as_array(model.predict_proba(case.queries(model)))
        case.close(found["probabilities"], P)
        case.close(found["decision"].reshape(expected.shape), expected)
    else:
        case.close(found["variable"].reshape(expected.shape), expected)


@exports("npz")
def npz(case: Case, folder: Path) -> None:
    model = case.model()
    predict_only(model, folder / "m.npz")
    with np.load(folder / "m.npz", allow_pickle=False) as file:
        found = _evaluated(dict(file), case.X[case.asked].astype(case.how.dtype).astype(float))
    expected = case.values(model)
    case.close(found.reshape(expected.shape), expected)


def _evaluated(arrays: dict[str, Array], X: Array) -> Array:
    """Decision values from nothing but the arrays of a file."""
    F = arrays["intercept"]
    for k, name in enumerate(arrays["kernels"].tolist()):
        Z, gamma, coef0 = (arrays[f"{what}_{k}"] for what in ("coefficients", "gamma", "coef0"))
        A, B = X, arrays[f"centres_{k}"]
        if f"edges_{k}" in arrays:
            columns, edges = arrays[f"columns_{k}"], arrays[f"edges_{k}"]
            A, B = (1.0 * (M[:, columns] > edges) for M in (A, B))
        F = F + (X if name == "linear" else kernel_values(name, gamma, A, B, coef0)) @ Z
    return F
