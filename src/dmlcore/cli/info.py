"""`info`: what a bug report needs: versions, instruction set, threads, levels."""

import platform

import numpy as np
from rich.table import Table
from rich.text import Text

from .._generated.operators import build_info
from .._generated.tables import LEVELS, OPERATORS
from .output import Json, command, console, emit

__all__ = ["info"]


@command
def info(json_output: bool = Json) -> None:
    """Tell versions, instruction set, threads and feature levels."""
    facts = {
        **build_info(),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "operators": list(OPERATORS),
        "feature_levels": [level.dml_name for level in LEVELS],
    }
    if json_output:
        emit(facts)
        return
    facts["feature_levels"] = [LEVELS[0].dml_name, "to", LEVELS[-1].dml_name]
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in facts.items():
        table.add_row(
            Text(name.replace("_", " "), "bold"), Text(" ".join(value) if isinstance(value, list) else str(value))
        )
    console().print(table)
