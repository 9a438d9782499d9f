"""Where the files are that C and Cython programs are compiled with: include/dmlcore.h, and capi.pxd beside this module."""

import os

__all__ = ["get_include"]


def get_include() -> str:
    """The folder with dmlcore.h, for the include path of a C compiler.

    Examples
    --------
    >>> from pathlib import Path
    >>> import dmlcore
    >>> Path(dmlcore.get_include(), "dmlcore.h").is_file()
    True
    """
    return os.path.join(os.path.dirname(os.path.realpath(__file__)), "include")
