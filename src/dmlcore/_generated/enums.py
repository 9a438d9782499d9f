# Generated from spec/levels.yaml and spec/dtypes.yaml by `python -m codegen`; do not edit.
"""DirectML's feature levels and tensor data types."""

from enum import IntEnum


class FeatureLevel(IntEnum):
    """DML_FEATURE_LEVEL: which operators, data types and dimension counts exist."""

    FL1_0 = 0x1000
    FL2_0 = 0x2000
    FL2_1 = 0x2100
    FL3_0 = 0x3000
    FL3_1 = 0x3100
    FL4_0 = 0x4000
    FL4_1 = 0x4100
    FL5_0 = 0x5000
    FL5_1 = 0x5100
    FL5_2 = 0x5200
    FL6_0 = 0x6000
    FL6_1 = 0x6100
    FL6_2 = 0x6200
    FL6_3 = 0x6300
    FL6_4 = 0x6400

    def __str__(self) -> str:
        return f"DML_FEATURE_LEVEL_{self.name[2:]}"


# DML_TENSOR_DATA_TYPE: name -> (value, bits of an element)
DATA_TYPES = {
    "UNKNOWN": (0, 0),
    "FLOAT32": (1, 32),
    "FLOAT16": (2, 16),
    "UINT32": (3, 32),
    "UINT16": (4, 16),
    "UINT8": (5, 8),
    "INT32": (6, 32),
    "INT16": (7, 16),
    "INT8": (8, 8),
    "FLOAT64": (9, 64),
    "UINT64": (10, 64),
    "INT64": (11, 64),
    "UINT4": (12, 4),
    "INT4": (13, 4),
}

# name -> NumPy dtype
NUMPY_TYPES = {
    "FLOAT32": "float32",
    "FLOAT16": "float16",
    "UINT32": "uint32",
    "UINT16": "uint16",
    "UINT8": "uint8",
    "INT32": "int32",
    "INT16": "int16",
    "INT8": "int8",
    "FLOAT64": "float64",
    "UINT64": "uint64",
    "INT64": "int64",
}
