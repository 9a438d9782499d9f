"""DirectML's indexing operators on the CPU: exact to the documented semantics, at memory speed, on plain NumPy arrays."""

from . import _generated, errors
from ._generated import *  # noqa: F403  the operators: array functions and descriptor classes, from the specifications
from ._generated.enums import FeatureLevel
from ._generated.operators import (
    build_info,
    get_memory_pool_limit,
    get_num_threads,
    set_memory_pool_limit,
    set_num_threads,
)
from .capi import get_include
from .compiled import CompiledOperator, compile
from .descs import OperatorDesc, TensorDesc
from .errors import (
    ConstraintError,
    DataTypeConstraintError,
    DmlcoreError,
    DuplicateIndexError,
    IndexOutOfRangeError,
    Violation,
)
from .validation import check, minimum_feature_level
from .version import __version__

__all__ = [
    *_generated.__all__,
    "CompiledOperator",
    "ConstraintError",
    "DataTypeConstraintError",
    "DmlcoreError",
    "DuplicateIndexError",
    "FeatureLevel",
    "IndexOutOfRangeError",
    "OperatorDesc",
    "TensorDesc",
    "Violation",
    "__version__",
    "build_info",
    "check",
    "compile",
    "errors",
    "get_include",
    "get_memory_pool_limit",
    "get_num_threads",
    "minimum_feature_level",
    "set_memory_pool_limit",
    "set_num_threads",
]
