"""Models for other programs: ONNX graphs, files that only predict, and what skops must trust."""

from gramian.export._expansion import Expansion, ExportError, Term, expansion_of
from gramian.export._files import predict_only, read_expansion
from gramian.export._onnx import to_onnx
from gramian.export._skl2onnx import register_converters
from gramian.export._skops import trusted_types

__all__ = [
    "Expansion",
    "ExportError",
    "Term",
    "expansion_of",
    "predict_only",
    "read_expansion",
    "register_converters",
    "to_onnx",
    "trusted_types",
]
