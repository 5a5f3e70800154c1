"""Models for other programs: ONNX graphs, files that only predict, and what skops must trust."""

from gramian.export._expansion import Expansion, ExportError, expansion_of
from gramian.export._files import predict_only
from gramian.export._onnx import to_onnx
from gramian.export._skl2onnx import register_converters
from gramian.export._skops import trusted_types

__all__ = [
    "Expansion",
    "ExportError",
    "expansion_of",
    "predict_only",
    "register_converters",
    "to_onnx",
    "trusted_types",
]
