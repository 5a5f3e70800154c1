"""Converters for skl2onnx, so that pipelines with estimators of gramian can be converted.

The graph of an estimator is that of `to_onnx`, inlined: it computes in double precision. The
outputs have the precision of the inputs, as those of other converters have; probabilities as a list
of dicts, which is skl2onnx's default, are in single precision, because ONNX has no others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from gramian.estimators import ESTIMATORS
from gramian.export._expansion import expansion_of
from gramian.export._graph import Graph
from gramian.export._onnx import add_predictions

_LEAST_OPSET = 13  # axes as an input, softmax along one axis


def register_converters() -> None:
    """Make skl2onnx know the estimators of this package; calling it twice does no harm."""
    from skl2onnx import update_registered_converter

    for name, cls in ESTIMATORS.items():
        update_registered_converter(
            cls, f"Gramian{name}", _shapes, _convert, overwrite=True,
            options={"zipmap": [False, True, "columns"], "nocl": [False, True]}
            if is_classifier(cls()) else None,
        )  # fmt: skip


def _shapes(operator: Any) -> None:
    from skl2onnx.common.data_types import (
        DoubleTensorType,
        FloatTensorType,
        Int64TensorType,
        StringTensorType,
    )

    model, rows = operator.raw_operator, operator.inputs[0].get_first_dimension()
    double = isinstance(operator.inputs[0].type, DoubleTensorType)
    if not is_classifier(model):
        outputs = 1 if model.y_fit_.ndim == 1 else model.y_fit_.shape[1]
        operator.outputs[0].type = (DoubleTensorType if double else FloatTensorType)(
            [rows, outputs]
        )
        return
    text = np.asarray(model.classes_).dtype.kind in "UO"
    operator.outputs[0].type = (StringTensorType if text else Int64TensorType)([rows])
    zipped = operator.scope_inst.get_options(model, {"zipmap": True}).get("zipmap", True) is True
    kind = DoubleTensorType if double and not zipped else FloatTensorType
    operator.outputs[1].type = kind([rows, len(model.classes_)])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Copy the nodes of our own graph into that of skl2onnx, under names of its own."""
    graph = Graph()
    kinds = graph.onnx.TensorProto
    start = scope.get_unique_variable_name("X")
    _cast(scope, container, operator.inputs[0].full_name, start, kinds.DOUBLE)
    add_predictions(graph, expansion_of(operator.raw_operator), start)
    classes = len(operator.outputs) > 1
    names = {start: start, **({"label": operator.outputs[0].full_name} if classes else {})}
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
    values, wanted = names["probabilities" if classes else "variable"], operator.outputs[-1]
    double = type(wanted.type).__name__ == "DoubleTensorType"
    _cast(scope, container, values, wanted.full_name, kinds.DOUBLE if double else kinds.FLOAT)
    container.node_domain_version_pair_sets.add(("", _LEAST_OPSET))


def _cast(scope: Any, container: Any, start: str, end: str, kind: Any) -> None:
    name = scope.get_unique_operator_name("cast")
    container.add_node("Cast", start, end, op_version=_LEAST_OPSET, to=kind, name=name)
