"""A back end's question: which feature level does each node of a graph need, and what stands in the way of a lower one?"""

import dmlcore
from dmlcore import TensorDesc

NODES = {
    "token look-up": dmlcore.GatherNDDesc(
        input=TensorDesc("FLOAT16", (1, 1, 30522, 384)),
        indices=TensorDesc("UINT32", (1, 1, 128, 1)),
        input_dimension_count=2,
        indices_dimension_count=2,
    ),
    "top scores": dmlcore.GatherElementsDesc(
        input=TensorDesc("FLOAT32", (8, 1000)), indices=TensorDesc("INT64", (8, 5)), axis=1
    ),
    "cache update": dmlcore.ScatterNDDesc(
        input=TensorDesc("INT64", (4096, 64)), indices=TensorDesc("INT32", (16, 1)), updates=TensorDesc("INT64", (16, 64))
    ),
    "mask to rows": dmlcore.NonzeroCoordinatesDesc(input=TensorDesc("UINT8", (32, 128))),
}

for name, desc in NODES.items():
    level = dmlcore.minimum_feature_level(desc)
    print(f"{name}: {desc.operator} needs {level.name}")
    levels = list(dmlcore.FeatureLevel)
    below = levels[levels.index(level) - 1]
    for violation in dmlcore.check(desc, feature_level=below):
        print(f"  not {below.name}: {violation.member}: {violation.found} ({violation.rule})")
