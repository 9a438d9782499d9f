# Generated from the folder spec/operators by `python -m codegen`; do not edit.
"""The operators: array functions and descriptor classes."""

from .descs import *  # noqa: F403
from .operators import gather, gather_elements, gather_nd, nonzero_coordinates, scatter_elements, scatter_nd

scatter = scatter_elements  # DirectML's other name

__all__ = [
    "GatherDesc",
    "GatherElementsDesc",
    "GatherND1Desc",
    "GatherNDDesc",
    "NonzeroCoordinatesDesc",
    "ScatterDesc",
    "ScatterElementsDesc",
    "ScatterNDDesc",
    "gather",
    "gather_elements",
    "gather_nd",
    "nonzero_coordinates",
    "scatter",
    "scatter_elements",
    "scatter_nd",
]
