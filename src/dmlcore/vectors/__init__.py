"""Conformance vectors: valid descriptors with inputs and expected outputs, and invalid ones with the rules they break.

Not imported by ``import dmlcore``; write ``import dmlcore.vectors``.
"""

from .cases import Invalid, Valid, VectorError, Vectors, generate
from .folder import FORMATS, read_manifest, read_valid, write
from .onnx_nodes import OnnxMissing
from .verify import Result, verify

__all__ = [
    "FORMATS",
    "Invalid",
    "OnnxMissing",
    "Result",
    "Valid",
    "VectorError",
    "Vectors",
    "generate",
    "read_manifest",
    "read_valid",
    "verify",
    "write",
]
