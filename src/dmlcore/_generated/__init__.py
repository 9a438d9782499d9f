# Generated from the folder spec/operators by `python -m codegen`; do not edit.
"""The operators: array functions and descriptor classes."""

from .descs import GatherElementsDesc, GatherNDDesc, NonzeroCoordinatesDesc, ScatterNDDesc
from .operators import gather_elements, gather_nd, nonzero_coordinates, scatter_nd

__all__ = [
    "GatherElementsDesc",
    "GatherNDDesc",
    "NonzeroCoordinatesDesc",
    "ScatterNDDesc",
    "gather_elements",
    "gather_nd",
    "nonzero_coordinates",
    "scatter_nd",
]
