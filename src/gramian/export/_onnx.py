"""Fitted models as ONNX graphs, in double precision.

The exponent of the RBF kernel is ``2 x·c − x·x − c·c`` of centred samples; in single precision it
would lose half of its digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.export._expansion import (
    COMPARED,
    Expansion,
    Term,
    check_agrees,
    expansion_of,
    own_samples,
)
from gramian.export._graph import Graph
from gramian.export._onnx_columns import encode_table, own_rows
from gramian.tables._model_rows import ModelRows, model_rows


def to_onnx(model: Any) -> Any:
    """A fitted estimator or `TableModel` as an ONNX model, in double precision.

    Parameters
    ----------
    model : fitted estimator of this package or TableModel
        With any kernel but a callable or a precomputed one.

    Returns
    -------
    onnx.ModelProto
        The input is ``X``, float64 of shape (n, n_features). A model of a table has one input for
        each column, of shape (n, 1): numbers as float64 with NaN where missing; dates as float64,
        in days since 1970-01-01 with the time of day as their fraction; texts as strings. A
        classifier gives ``label``, ``probabilities`` (n, n_classes) and ``decision`` (n, t); a
        regressor gives ``variable`` (n, n_targets).

    Raises
    ------
    ExportError
        If the model has no such form, or if the graph, run by the reference of the package onnx,
        differs from the model on the model's own samples.
    """
    graph, rows = Graph(), model_rows(model)
    estimator, expansion = rows.estimator, expansion_of(rows.estimator)
    if rows.columns is None:
        X = graph.take("X", graph.onnx.TensorProto.DOUBLE, estimator.n_features_in_)
    else:
        X = encode_table(graph, rows.columns)
    add_predictions(graph, expansion, X)
    made = graph.model(type(estimator).__name__)
    _check_graph(made, rows, expansion)
    return made


def _check_graph(made: Any, rows: ModelRows, expansion: Expansion) -> None:
    """Raise `ExportError` unless the graph computes what the model computes."""
    from onnx.reference import ReferenceEvaluator

    if rows.columns is None:
        X = own_samples(rows.estimator, expansion)
        inputs = {"X": X}
    else:
        X, inputs = own_rows(rows.columns, rows.held(), COMPARED)
    output = "variable" if expansion.classes is None else "decision"
    (found,) = map(np.asarray, ReferenceEvaluator(made).run([output], inputs))
    check_agrees(rows.estimator, expansion, X, found, "ONNX graph")


def add_predictions(graph: Graph, expansion: Expansion, X: str) -> None:
    """The outputs of an expansion."""
    kinds = graph.onnx.TensorProto
    F = _outputs(graph, expansion, X)
    t = len(expansion.intercept)
    if expansion.classes is None:
        graph.add("Identity", F, output="variable")
        graph.give("variable", kinds.DOUBLE, t)
        return
    classes = np.asarray(expansion.classes)
    text = classes.dtype.kind in "UO"
    classes = classes.astype(str) if text else classes.astype(np.int64)
    graph.add("Identity", F, output="decision")
    scores = F
    if t == 1:
        zeros = graph.add("Mul", F, graph.constant(0.0))
        scores = graph.add("Concat", zeros, F, axis=1)
    scaled = graph.add("Mul", scores, graph.constant(float(expansion.scale or 0.0)))
    graph.add("Softmax", scaled, axis=1, output="probabilities")
    best = graph.add("ArgMax", scores, axis=1, keepdims=0)
    graph.add("Gather", graph.constant(classes), best, axis=0, output="label")
    graph.give("label", kinds.STRING if text else kinds.INT64)
    graph.give("probabilities", kinds.DOUBLE, len(classes))
    graph.give("decision", kinds.DOUBLE, t)


def _outputs(graph: Graph, expansion: Expansion, X: str) -> str:
    """``Σ_s k_s(X, centres_s) Z_s + b``."""
    total = graph.constant(expansion.intercept)
    for term in expansion.terms:
        K = _values(graph, term, X)
        product = graph.add("MatMul", K, graph.constant(term.coefficients))
        total = graph.add("Add", product, total)
    return total


def _values(graph: Graph, term: Term, X: str) -> str:
    """``k(X, centres)``; for the linear kernel, X."""
    if term.edges is not None:
        some = graph.add("Gather", X, graph.constant(term.columns), axis=1)
        above = graph.add("Greater", some, graph.constant(term.edges))
        sides = graph.add("Cast", above, to=graph.onnx.TensorProto.DOUBLE)
        return _values(graph, term.on_sides(), sides)
    return X if term.kernel == "linear" else _KERNELS[term.kernel](graph, term, X)


def _rbf(graph: Graph, term: Term, X: str) -> str:
    centre = term.centres.mean(axis=0)
    root = np.sqrt(term.gamma) * np.ones(len(centre))
    C = (term.centres - centre) * root
    shifted = graph.add("Sub", X, graph.constant(centre))
    Z = graph.add("Mul", shifted, graph.constant(root))
    squares = graph.add("ReduceSum", graph.add("Mul", Z, Z), graph.constant([1]), keepdims=1)
    cross = graph.add("MatMul", Z, graph.constant(2.0 * C.T))
    distance = graph.add("Sub", cross, graph.add("Add", squares, graph.constant((C**2).sum(1))))
    return graph.add("Exp", distance)


def _differences(graph: Graph, term: Term, X: str) -> str:
    """gamma (x − c) for all pairs, of shape (n, m, n_features)."""
    rows = graph.add("Unsqueeze", X, graph.constant([1]))
    away = graph.add("Sub", rows, graph.constant(term.centres[None]))
    return graph.add("Mul", away, graph.constant(term.gamma))


def _laplacian(graph: Graph, term: Term, X: str) -> str:
    away = graph.add("Abs", _differences(graph, term, X))
    distance = graph.add("ReduceSum", away, graph.constant([2]), keepdims=0)
    return graph.add("Exp", graph.add("Neg", distance))


def _exponential(graph: Graph, term: Term, X: str) -> str:
    away = _differences(graph, term, X)  # a root of products would lose half of its digits
    squares = graph.add("ReduceSum", graph.add("Mul", away, away), graph.constant([2]), keepdims=0)
    return graph.add("Exp", graph.add("Neg", graph.add("Sqrt", squares)))


def _polynomial(graph: Graph, term: Term, X: str) -> str:
    products = graph.add("MatMul", X, graph.constant(float(term.gamma) * term.centres.T))
    shifted = graph.add("Add", products, graph.constant(term.coef0))
    return graph.add("Pow", shifted, graph.constant(term.degree))


_KERNELS = {
    "rbf": _rbf, "laplacian": _laplacian, "exponential": _exponential, "poly": _polynomial
}  # fmt: skip
