"""Opens .npy files that may be anything, and writes arrays so that a reader never sees half of one.

Whatever is wrong with a file becomes one FileError that names it and says what to do. Nothing is unpickled, and no more
memory is asked for than the file has bytes.
"""

import os
import stat
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from ..errors import DmlcoreError

__all__ = ["FileError", "open_npy", "read_bytes", "replacing", "save_npy"]

MAGIC = b"\x93NUMPY"
MAP_FROM = 1 << 20  # bytes; smaller files are read at once


class FileError(DmlcoreError, ValueError):
    """A file that is missing, damaged, or not what it should be."""

    def __init__(self, path, problem: str):
        self.path, self.problem = str(path), problem
        super().__init__(f"{path}: {problem}")

    def __reduce__(self):
        return type(self), (self.path, self.problem)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def read_bytes(path, limit: int) -> bytes:
    """The contents of a file of at most `limit` bytes."""
    try:
        with open(path, "rb") as file:
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        reason = _reason(error) if isinstance(error, OSError) else str(error)  # a zero byte in the name
        raise FileError(path, f"cannot be read: {reason}") from None
    if len(data) > limit:
        raise FileError(path, f"is larger than {limit} bytes")
    return data


def open_npy(path) -> np.ndarray:
    """The array in a .npy file: read, or memory-mapped (read-only) where it is large.

    Raises
    ------
    FileError
        For files that are missing, truncated or no .npy files, and for arrays of Python objects.
    """
    path = Path(path)
    try:
        facts = path.stat()
        size = facts.st_size
        if not stat.S_ISREG(facts.st_mode):  # opening a pipe would wait for somebody to write
            what = "a folder" if stat.S_ISDIR(facts.st_mode) else "no regular file"
            raise FileError(path, f"is {what}, expected a .npy file")
        with open(path, "rb") as file:
            shape, fortran, dtype = _header(path, file)
            offset = file.tell()
    except OSError as error:
        raise FileError(path, f"cannot be read: {_reason(error)}") from None
    except ValueError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(path, f"cannot be read: {error}") from None  # a zero byte in the name
    count = 1
    for length in shape:
        count *= length
    if dtype.hasobject:
        raise FileError(path, f"holds Python objects (dtype {dtype}), which are never loaded; save numbers instead")
    if dtype.itemsize == 0 or dtype.names or dtype.subdtype:
        raise FileError(path, f"has dtype {dtype}, expected plain numbers")
    need = count * dtype.itemsize
    if offset + need > size:
        raise FileError(
            path, f"is truncated: shape {shape} of {dtype} needs {need} bytes of data, there are {size - offset}"
        )
    try:
        if need == 0:
            return np.zeros(shape, dtype)
        order = "F" if fortran else "C"
        if need >= MAP_FROM:
            return np.asarray(np.memmap(path, dtype, "r", offset, shape, order))
        with open(path, "rb") as file:
            file.seek(offset)
            data = file.read(need)
        return np.frombuffer(data, dtype, count).reshape(shape, order=order)
    except (OSError, ValueError, OverflowError, MemoryError) as error:
        raise FileError(path, f"cannot be loaded: {error}") from None


def _header(path, file):
    """Shape, order and dtype; every way in which NumPy's reader fails becomes a FileError."""
    magic = file.read(len(MAGIC))
    if magic[:1] == b"\x80" or magic[:2] == b"PK":
        what = "a pickle, which is never loaded" if magic[:1] == b"\x80" else "an archive (.npz?)"
        raise FileError(path, f"is {what}; save a single array with numpy.save")
    if magic != MAGIC:
        raise FileError(path, "is not a .npy file" if magic else "is empty, expected a .npy file")
    file.seek(0)
    try:
        version = np.lib.format.read_magic(file)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version == (3, 0):  # version 2 with names in UTF-8, which plain numbers do not have
            raise FileError(path, "has version 3 of the format, which only arrays with named fields need")
        if version not in readers:
            raise FileError(path, f"has version {version[0]}.{version[1]} of the format, expected 1.0 or 2.0")
        shape, fortran, dtype = readers[version](file)
    except FileError:
        raise
    except Exception as error:  # ValueError, TokenError, RecursionError, MemoryError, ...: the header is not one
        line = (str(error) or type(error).__name__).splitlines()[0][:120]
        raise FileError(path, f"has a damaged header: {line}") from None
    if any(isinstance(length, bool) or length < 0 for length in shape):
        raise FileError(path, f"has shape {shape}; lengths cannot be negative")
    if len(shape) > 64 or any(length >= 1 << 63 for length in shape):
        raise FileError(path, "has a shape that no array can have")
    return shape, fortran, dtype


@contextmanager
def replacing(path):
    """A temporary path beside `path`, moved there when the block ends well and removed when it does not."""
    path = Path(path)
    if path.is_dir():
        raise FileError(path, "cannot be written: it is a folder; name a file")
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        yield Path(temporary)
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise FileError(path, f"cannot be written: {_reason(error)}") from None
    finally:
        if temporary is not None:
            with suppress(OSError):
                os.unlink(temporary)


def save_npy(path, array: np.ndarray) -> None:
    """Writes an array as .npy; a file that stood there before is replaced only when all is written."""
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.lib.format.write_array(file, np.asanyarray(array), version=(1, 0), allow_pickle=False)
