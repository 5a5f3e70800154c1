"""Converters for skl2onnx, so that pipelines with estimators of gramian can be converted.

The graph of an estimator is that of `to_onnx`, inlined. skl2onnx casts its outputs to the types
that it expects: probabilities and predictions keep double precision where the input has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from gramian.estimators import ESTIMATORS
from gramian.export._expansion import expansion_of
from gramian.export._onnx import Graph, add_predictions


def register_converters() -> None:
    """Make skl2onnx know the estimators of this package; calling it twice does no harm."""
    from skl2onnx import update_registered_converter

    for name, cls in ESTIMATORS.items():
        update_registered_converter(
            cls, f"Gramian{name}", _shapes, _convert, overwrite=True,
            options={"zipmap": [False, True], "nocl": [False, True]}
            if is_classifier(cls()) else None,
        )  # fmt: skip


def _shapes(operator: Any) -> None:
    from skl2onnx.common.data_types import DoubleTensorType, Int64TensorType, StringTensorType

    model = operator.raw_operator
    rows = operator.inputs[0].get_first_dimension()
    if not is_classifier(model):
        operator.outputs[0].type = DoubleTensorType([rows, 1 if model.y_fit_.ndim == 1 else
                                                     model.y_fit_.shape[1]])  # fmt: skip
        return
    text = np.asarray(model.classes_).dtype.kind in "UO"
    operator.outputs[0].type = (StringTensorType if text else Int64TensorType)([rows])
    operator.outputs[1].type = DoubleTensorType([rows, len(model.classes_)])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Copy the nodes of our own graph into that of skl2onnx, under names of its own."""
    graph, X = Graph(), operator.inputs[0].full_name
    start = scope.get_unique_variable_name("X")
    container.add_node("Cast", X, start, op_version=9, to=graph.onnx.TensorProto.DOUBLE,
                       name=scope.get_unique_operator_name("cast"))  # fmt: skip
    add_predictions(graph, expansion_of(operator.raw_operator), start)
    wanted = ("label", "probabilities") if len(operator.outputs) > 1 else ("variable",)
    names = {start: start}
    names |= dict(zip(wanted, (out.full_name for out in operator.outputs), strict=True))
    for tensor in graph.constants:
        names[tensor.name] = scope.get_unique_variable_name(tensor.name)
        tensor.name = names[tensor.name]
        container.initializers.append(tensor)
    for node in graph.nodes:
        for output in node.output:
            names.setdefault(output, scope.get_unique_variable_name(output))
        node.name = scope.get_unique_operator_name(node.op_type)
        node.input[:] = [names[name] for name in node.input]
        node.output[:] = [names[name] for name in node.output]
        container.nodes.append(node)
