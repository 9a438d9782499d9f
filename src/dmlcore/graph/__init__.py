"""Runs DxDispatch models (resources, DirectML operators, commands, in JSON) on the CPU, and reads their descriptors.

Not imported by ``import dmlcore``; write ``import dmlcore.graph``.
"""

from .descs import desc_class, desc_to_json, find_operator, operator_names, parse_desc, parse_descs
from .files import FileError, open_npy, save_npy
from .jsontext import read_json
from .run import Event, Graph, load_graph, run_graph

__all__ = [
    "Event",
    "FileError",
    "Graph",
    "desc_class",
    "desc_to_json",
    "find_operator",
    "load_graph",
    "open_npy",
    "operator_names",
    "parse_desc",
    "parse_descs",
    "read_json",
    "run_graph",
    "save_npy",
]
