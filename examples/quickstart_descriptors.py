"""The descriptors: DirectML's structs, checked rule by rule at a feature level, then compiled and run."""

import numpy as np

import dmlcore
from dmlcore import TensorDesc

desc = dmlcore.GatherNDDesc(
    input=TensorDesc("FLOAT32", (1, 2, 2, 2)),
    indices=TensorDesc("INT64", (1, 1, 2, 2)),  # two tuples of two coordinates
    input_dimension_count=3,
    indices_dimension_count=2,
)

# Which rules does it break at level 2.1, and which level takes it?
for violation in dmlcore.check(desc, feature_level="2.1"):
    print(violation)
    print(violation.rule, violation.found, violation.minimum_feature_level, violation.anchor)
print(dmlcore.minimum_feature_level(desc).name)

# Compile once, call often: only the arrays are checked from here on.
op = dmlcore.compile(desc, feature_level="3.0")
x = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
print(op(x, np.array([[[[0, 1], [1, -2]]]])))

# NONZERO_COORDINATES has two outputs here: the count, and a row for every element there might be.
desc = dmlcore.NonzeroCoordinatesDesc(input=TensorDesc("UINT8", (2, 3)))
count, coordinates = dmlcore.compile(desc)(np.array([[0, 7, 0], [1, 0, 0]], np.uint8))
print(coordinates[: count.item()])
