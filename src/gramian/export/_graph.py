"""An ONNX graph in the making."""

from __future__ import annotations

from typing import Any

import numpy as np

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
