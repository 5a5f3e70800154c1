"""Fitted models as ONNX graphs, in double precision.

The exponent of the RBF kernel is ``2 x·c − x·x − c·c`` of centred samples; in single precision it
would lose half of its digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.export._expansion import Expansion, ExportError, expansion_of
from gramian.tables import CategoryColumn, NumberColumn, TableModel

OPSET, ML_OPSET = 17, 3


class Graph:
    """Nodes and constants of a graph, collected one by one."""

    def __init__(self) -> None:
        try:
            import onnx
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                'ONNX needs the package onnx: pip install "gramian[onnx]".'
            ) from error
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def constant(self, value: Any) -> str:
        """The name of a new constant."""
        name = f"constant_{len(self.constants)}"
        array = np.asarray(value)
        array = array.astype(object) if array.dtype.kind == "U" else array
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """The name of the output of a new node."""
        name = output or f"{kind.lower()}_{len(self.nodes)}"
        node = self.onnx.helper.make_node(kind, inputs, [name], **attributes)
        self.nodes.append(node)
        return name

    def take(self, name: str, kind: Any, width: int) -> str:
        """Declare an input of shape (n, width)."""
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, kind, [None, width]))
        return name

    def give(self, name: str, kind: Any, *shape: int) -> None:
        """Declare an output of shape (n, ...)."""
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, kind, [None, *shape]))

    def model(self, name: str) -> Any:
        """The model, checked."""
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.constants)
        versions = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(graph, opset_imports=versions, ir_version=8)
        self.onnx.checker.check_model(model)
        return model


def to_onnx(model: Any) -> Any:
    """A fitted estimator or `TableModel` as an ONNX model, in double precision.

    Parameters
    ----------
    model : fitted estimator of this package or TableModel
        With the RBF, Laplacian, polynomial or linear kernel, and no columns of dates.

    Returns
    -------
    onnx.ModelProto
        The input is ``X``, float64 of shape (n, n_features). A model of a table has one input for
        each column, of shape (n, 1): float64 with NaN where missing, or strings. A classifier gives
        ``label``, ``probabilities`` (n, n_classes) and ``decision`` (n, t); a regressor gives
        ``variable`` (n, n_targets).

    Raises
    ------
    ExportError
        If the model has no such form.
    """
    graph = Graph()
    if isinstance(model, TableModel):
        X = _encode_table(graph, model.columns_)
        estimator = model.estimator_
    else:
        estimator = model
        X = graph.take("X", graph.onnx.TensorProto.DOUBLE, model.n_features_in_)
    add_predictions(graph, expansion_of(estimator), X)
    return graph.model(type(estimator).__name__)


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
    graph.give("decision", kinds.DOUBLE, t)
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


def _outputs(graph: Graph, expansion: Expansion, X: str) -> str:
    """``k(X, centres) Z + b``."""
    K = X if expansion.kernel == "linear" else _KERNELS[expansion.kernel](graph, expansion, X)
    product = graph.add("MatMul", K, graph.constant(expansion.coefficients))
    return graph.add("Add", product, graph.constant(expansion.intercept))


def _rbf(graph: Graph, expansion: Expansion, X: str) -> str:
    centre = expansion.centres.mean(axis=0)
    root = np.sqrt(expansion.gamma) * np.ones(len(centre))
    C = (expansion.centres - centre) * root
    shifted = graph.add("Sub", X, graph.constant(centre))
    Z = graph.add("Mul", shifted, graph.constant(root))
    squares = graph.add("ReduceSum", graph.add("Mul", Z, Z), graph.constant([1]), keepdims=1)
    cross = graph.add("MatMul", Z, graph.constant(2.0 * C.T))
    distance = graph.add("Sub", cross, graph.add("Add", squares, graph.constant((C**2).sum(1))))
    return graph.add("Exp", distance)


def _laplacian(graph: Graph, expansion: Expansion, X: str) -> str:
    rows = graph.add("Unsqueeze", X, graph.constant([1]))
    away = graph.add("Abs", graph.add("Sub", rows, graph.constant(expansion.centres[None])))
    distance = graph.add("ReduceSum", away, graph.constant([2]), keepdims=0)
    return graph.add("Exp", graph.add("Mul", distance, graph.constant(-float(expansion.gamma))))


def _polynomial(graph: Graph, expansion: Expansion, X: str) -> str:
    scaled: Array = float(expansion.gamma) * expansion.centres.T
    products = graph.add("MatMul", X, graph.constant(scaled))
    shifted = graph.add("Add", products, graph.constant(expansion.coef0))
    return graph.add("Pow", shifted, graph.constant(expansion.degree))


_KERNELS = {"rbf": _rbf, "laplacian": _laplacian, "poly": _polynomial}


def _encode_table(graph: Graph, columns: Any) -> str:
    """The features of a table, from one input for each column."""
    kinds = graph.onnx.TensorProto
    parts: list[str] = []
    for column in columns:
        if isinstance(column, NumberColumn):
            parts += _encode_numbers(graph, column, graph.take(column.name, kinds.DOUBLE, 1))
        elif isinstance(column, CategoryColumn):
            parts += _encode_texts(graph, column, graph.take(column.name, kinds.STRING, 1))
        else:
            raise ExportError(
                f"cannot export the column of dates {column.name!r}: ONNX knows no dates. Leave it "
                f"out (ignore), or make numbers of it before the fit."
            )
    return graph.add("Concat", *parts, axis=1)


def _encode_numbers(graph: Graph, column: NumberColumn, x: str) -> list[str]:
    missing = graph.add("IsNaN", x)
    centred = graph.add("Sub", x, graph.constant(column.mean))
    scaled = graph.add("Div", centred, graph.constant(column.deviation))
    known = graph.add("Where", missing, graph.constant(0.0), scaled)
    mark = [graph.add("Cast", missing, to=graph.onnx.TensorProto.DOUBLE)]
    return [known, *(mark if column.marks_missing else [])]


def _encode_texts(graph: Graph, column: CategoryColumn, x: str) -> list[str]:
    """One feature for each level, and one for every other text; a forgotten level is never met."""
    place = {level: j for j, level in enumerate(column.levels) if level is not None}
    rows = np.eye(len(column.levels) + 1)
    number = graph.add(
        "LabelEncoder", x, domain="ai.onnx.ml", keys_strings=list(place),
        values_int64s=list(place.values()), default_int64=len(column.levels),
    )  # fmt: skip
    flat = graph.add("Squeeze", number, graph.constant([1]))
    return [graph.add("Gather", graph.constant(rows), flat, axis=0)]
