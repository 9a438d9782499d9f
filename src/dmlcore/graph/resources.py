"""Turns the resources of a DxDispatch model into buffers: bytes with the data type of their initial values.

Every form of initialValues is read (list, constant, sequence, file, list of typed values), and no model can ask for
more memory than the limit that it is run with.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._generated.enums import DATA_TYPES, NUMPY_TYPES
from .descs import TYPE_PREFIX
from .files import FileError, open_npy, read_bytes

__all__ = ["Buffer", "Resources"]

IMAGES = (".png", ".jpg", ".jpeg")


@dataclass
class Buffer:
    """Bytes, the data type that they were initialised with, and how many of them the initial values are."""

    data: np.ndarray
    data_type: str | None
    initial_bytes: int

    @property
    def dtype(self) -> np.dtype:
        """What print and writeFile show the bytes as."""
        return np.dtype(NUMPY_TYPES[self.data_type]) if self.data_type else np.dtype(np.uint8)

    def values(self, padding: bool = False) -> np.ndarray:
        """All elements in a row; with `padding` up to the end of the buffer."""
        size = len(self.data) if padding else self.initial_bytes
        return self.data[: size - size % self.dtype.itemsize].view(self.dtype)


class Resources:
    """Reads resources for one model, adding up what they need."""

    def __init__(self, path, folder: Path, memory_limit: int):
        self.path, self.folder = path, folder
        self.left = self.memory_limit = memory_limit

    def read(self, name: str, value) -> Buffer:
        """The buffer that an entry of "resources" describes."""
        try:
            return self._read(value)
        except FileError as error:
            if error.path == str(self.path):
                raise
            raise FileError(self.path, f"resource {name!r}: {error}") from None
        except (TypeError, ValueError, OverflowError, MemoryError) as error:
            raise FileError(self.path, f"resource {name!r}: {error or 'out of memory'}") from None

    def _read(self, value) -> Buffer:
        if not isinstance(value, dict):
            raise ValueError('expected an object with "initialValues"')
        if value.get("type", "buffer") != "buffer":
            raise ValueError(f'type is {value["type"]!r}, expected "buffer"')
        if "initialValues" not in value:
            raise ValueError('"initialValues" is missing')
        initial, data_type = value["initialValues"], self._data_type(value.get("initialValuesDataType", "UNKNOWN"))
        if initial == "deferred":
            raise ValueError('"deferred" values come with ONNX models, which are not run here')
        if isinstance(initial, dict) and "sourcePath" in initial:
            raw, data_type = self._file(initial["sourcePath"], data_type)
        elif isinstance(initial, list) and data_type is None:
            raw = b"".join(self._typed(item) for item in initial)
        elif data_type is None:
            raise ValueError('"initialValuesDataType" is missing')
        else:
            raw = self._values(initial, np.dtype(NUMPY_TYPES[data_type])).tobytes()
        if not raw:
            raise ValueError('"initialValues" is empty')
        size = self._integer(value, "sizeInBytes", -(-len(raw) // 4) * 4)
        offset = self._integer(value, "initialValuesOffsetInBytes", 0)
        if offset + len(raw) > size:
            raise ValueError(f"sizeInBytes is {size}, but {len(raw)} bytes of values begin at byte {offset}")
        self._reserve(size)
        data = np.zeros(size, np.uint8)
        data[offset : offset + len(raw)] = np.frombuffer(raw, np.uint8)
        return Buffer(data, data_type, len(raw))

    def _reserve(self, size: int) -> None:
        if size > self.left:
            raise ValueError(
                f"the model's resources need more than {self.memory_limit} bytes, the limit; raise it if that is meant"
            )
        self.left -= size

    @staticmethod
    def _integer(value: dict, name: str, default: int) -> int:
        number = value.get(name, default)
        if type(number) is not int or number < 0:
            raise ValueError(f"{name} is {number!r}, expected an integer that is not negative")
        return number

    @staticmethod
    def _data_type(name) -> str | None:
        """The data type; None for UNKNOWN."""
        short = name.removeprefix(TYPE_PREFIX) if isinstance(name, str) else None
        if short not in DATA_TYPES or (short != "UNKNOWN" and short not in NUMPY_TYPES):
            raise ValueError(f"data type {name!r} is not one of {', '.join(NUMPY_TYPES)}")
        return None if short == "UNKNOWN" else short

    def _values(self, initial, dtype: np.dtype) -> np.ndarray:
        if isinstance(initial, list):
            if len(initial) * dtype.itemsize > self.left:
                self._reserve(len(initial) * dtype.itemsize)
            return np.array([_number(item, dtype) for item in initial], dtype)
        if not isinstance(initial, dict) or ("value" in initial) == ("valueStart" in initial):
            raise ValueError(
                '"initialValues" is none of: a list, value and valueCount, valueStart and valueDelta, sourcePath'
            )
        count = self._integer(initial, "valueCount", 0)
        if count * dtype.itemsize > self.left:
            self._reserve(count * dtype.itemsize)
        if "value" in initial:
            return np.full(count, _number(initial["value"], dtype), dtype)
        start, delta = _number(initial["valueStart"], dtype), _number(initial.get("valueDelta"), dtype)
        if dtype.kind != "f":
            steps = np.arange(count, dtype=np.uint64) * np.array(delta, dtype).astype(np.uint64)
            return (steps + np.array(start, dtype).astype(np.uint64)).astype(dtype)
        values = np.full(count, delta, dtype)
        values[:1] = start
        with np.errstate(all="ignore"):
            return np.add.accumulate(values, dtype=dtype)  # one after the other, in the data type, as DxDispatch does

    def _file(self, source, data_type: str | None):
        if not isinstance(source, str) or not source:
            raise ValueError(f"sourcePath is {source!r}, expected the name of a file")
        path = self.folder / source
        path = path if path.exists() else Path(source)
        if path.suffix.lower() in IMAGES:
            raise ValueError(f"sourcePath is {source!r}: images are not read here, only .npy and raw bytes")
        if path.suffix.lower() != ".npy":
            if data_type is None:
                raise ValueError(f'"initialValuesDataType" is missing, which {source!r} does not tell')
            return read_bytes(path, self.left), data_type
        array = open_npy(path)
        names = {np.dtype(dtype): name for name, dtype in NUMPY_TYPES.items()} | {np.dtype(bool): "UINT8"}
        found = names.get(array.dtype.newbyteorder("="))
        if found is None or (data_type is not None and data_type != found):
            raise ValueError(
                f"{source!r} has dtype {array.dtype}, expected {data_type or 'one of ' + ', '.join(NUMPY_TYPES)}"
            )
        if array.nbytes > self.left:
            self._reserve(array.nbytes)
        return np.ascontiguousarray(array, array.dtype.newbyteorder("=")).tobytes(), found

    def _typed(self, item) -> bytes:
        if not isinstance(item, dict) or "value" not in item:
            raise ValueError('with data type UNKNOWN each of "initialValues" is an object with "type" and "value"')
        data_type = self._data_type(item.get("type"))
        if data_type is None:
            raise ValueError('each of "initialValues" needs a "type"')
        dtype = np.dtype(NUMPY_TYPES[data_type])
        return np.array(_number(item["value"], dtype), dtype).tobytes()


def _number(value, dtype: np.dtype):
    """A JSON number, or "nan", "inf", "-inf" for floats, if the dtype has it."""
    if dtype.kind == "f":
        if isinstance(value, str) and value.lower() in ("nan", "inf", "-inf"):
            return float(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        raise ValueError(f'{value!r} is not a number, "nan", "inf" or "-inf"')
    limits = np.iinfo(dtype)
    if type(value) is not int or not limits.min <= value <= limits.max:
        raise ValueError(f"{value!r} is not an integer from {limits.min} to {limits.max}")
    return value
