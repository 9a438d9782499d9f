"""Files that claim to be .npy: whatever is in them, the answer is one line on standard error and status 3.

Nothing is unpickled, no header can make the reader allocate what the file does not hold.
"""

import io
import os
import pickle
import struct

import numpy as np
import pytest

from dmlcore.graph import FileError, open_npy, save_npy


def npy(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    text = header.encode("latin1") + b"\n"
    length = struct.pack("<H", len(text)) if version == b"\x01\x00" else struct.pack("<I", len(text))
    return b"\x93NUMPY" + version + length + text + data


def head(shape, descr="'<f4'", order="False") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


class Trap:
    """Unpickling one would be noticed."""

    def __reduce__(self):
        return exec, ("raise SystemExit('unpickled')",)


def saved(array, **options) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


TRAP = np.array([Trap()], object)
BIG = 1 << 62
HOSTILE = {
    "empty": (b"", "is empty"),
    "text": (b"1 2 3\n", "not a .npy file"),
    "magic only": (b"\x93NUMPY", "damaged header"),
    "pickle": (pickle.dumps(Trap()), "never loaded"),
    "array of objects": (saved(TRAP, allow_pickle=True), "Python objects"),
    "objects in a field": (npy(head("(1,)", "[('a', '|O')]"), bytes(8)), "Python objects"),
    "objects without data": (npy(head("(1000000000,)", "'|O'")), "Python objects"),
    "archive": (b"PK\x03\x04rest", ".npz"),
    "truncated header": (saved(np.zeros(3))[:40], "damaged header"),
    "truncated data": (saved(np.zeros(1000, np.float32))[:-1], "is truncated"),
    "no data": (npy(head("(3,)")), "is truncated"),
    "huge": (npy(head(f"({BIG},)"), bytes(64)), "is truncated"),
    "product of 2**64": (npy(head("(4294967296, 4294967296)"), bytes(64)), "is truncated"),
    "product of 2**64 with a zero": (
        npy(head("(0, 4294967296, 4294967296, 4294967296)"), bytes(64)),
        "cannot be loaded",
    ),
    "length of 2**64": (npy(head("(18446744073709551616,)"), bytes(64)), "no array can have"),
    "negative": (npy(head("(-1,)"), bytes(64)), "cannot be negative"),
    "two negative": (npy(head("(-2, -2)"), bytes(64)), "cannot be negative"),
    "truth value": (npy(head("(True,)"), bytes(64)), "cannot be negative"),
    "float length": (npy(head("(1.5,)"), bytes(64)), "damaged header"),
    "shape is a list": (npy(head("[3]"), bytes(64)), "damaged header"),
    "shape is text": (npy(head("'abc'"), bytes(64)), "damaged header"),
    "65 dimensions": (npy(head("(" + "1," * 65 + ")"), bytes(64)), "no array can have"),
    "no descr": (npy("{'shape': (1,), 'fortran_order': False}", bytes(64)), "damaged header"),
    "unknown descr": (npy(head("(1,)", "'<q9'"), bytes(64)), "damaged header"),
    "void": (npy(head("(1,)", "'|V4'"), bytes(64)), None),
    "width 0": (npy(head("(4,)", "'|V0'"), bytes(64)), "expected plain numbers"),
    "text of width 0": (npy(head("(4,)", "'<U0'"), bytes(64)), "expected plain numbers"),
    "fields": (saved(np.zeros(2, "i4,f4")), "expected plain numbers"),
    "subarray": (npy(head("(1,)", "('<f4', (3,))"), bytes(64)), "expected plain numbers"),
    "order is text": (npy(head("(1,)", order="'yes'"), bytes(64)), "damaged header"),
    "code": (npy("__import__('os').abort()", bytes(64)), "damaged header"),
    "code in the shape": (npy(head("(__import__('os').abort(),)"), bytes(64)), "damaged header"),
    "deep": (npy(head("(" * 3000 + ")" * 3000), bytes(64)), "damaged header"),
    "deep brackets": (npy("[" * 9000, bytes(64)), "damaged header"),
    "unclosed": (npy("{'descr': '<f4", bytes(64)), "damaged header"),
    "not latin1": (npy("\x00\xff\x80" * 9, bytes(64)), "damaged header"),
    "long header": (npy("{" + " " * 50000 + "}", bytes(64)), "damaged header"),
    "header of 4 GiB": (b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b" " * 99, "damaged header"),
    "version 2, deep": (npy("(" * 60000, bytes(64), b"\x02\x00"), "damaged header"),
    "version 3": (npy(head("(1,)"), bytes(64), b"\x03\x00"), "version 3"),
    "version 9": (npy(head("(1,)"), bytes(64), b"\x09\x00"), "version 9.0"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_one_clear_error(dmlcore_cli, write, name):
    content, problem = HOSTILE[name]
    path, indices = write("x.npy", content), write("i.npy", np.zeros(1, np.int64))
    result = dmlcore_cli("run", "gather", "--input", path, "--indices", indices)
    if problem is None:  # a file that is sound; the operator refuses what it holds
        assert result.status == 1
        return
    assert result.status == 3 and result.out == ""
    assert result.err.count("\n") == 1 and str(path) in result.err and problem in result.err
    error = dmlcore_cli("run", "gather", "--input", path, "--indices", indices, "--json").json["error"]
    assert error["file"] == str(path) and problem in error["message"]


@pytest.mark.skipif(os.name == "nt", reason="pipes")
def test_missing_folder_and_unreadable(dmlcore_cli, tmp_path, write):
    indices = write("i.npy", np.zeros(1, np.int64))
    os.mkfifo(tmp_path / "pipe.npy")
    files = {"none.npy": "no such file", "": "is a folder", "pipe.npy": "no regular file", "\0": "cannot be read"}
    for path, problem in ((tmp_path / name if name else tmp_path, problem) for name, problem in files.items()):
        result = dmlcore_cli("run", "gather", "--input", path, "--indices", indices)
        assert result.status == 3 and problem in result.err and str(path) in result.err


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.int16).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array(5, np.uint8),
        np.zeros((0, 3), np.float32),
        np.array([1 + 2j]),
        np.array([True, False]),
        np.arange(3, dtype=">i4"),
    ],
    ids=lambda a: f"{a.dtype}-{a.ndim}",
)
def test_sound_files(write, array):
    read = open_npy(write("x.npy", array))
    assert read.dtype == array.dtype and read.shape == array.shape and read.tobytes() == array.tobytes()


def test_version_2_and_trailing_bytes(write):
    array = open_npy(write("x.npy", npy(head("(2,)"), np.array([1, 2], "<f4").tobytes() + b"rest", b"\x02\x00")))
    assert array.tolist() == [1, 2]


def test_large_files_are_mapped(write):
    array = np.arange(1 << 19, dtype=np.float32).reshape(512, 1024)
    for one in (array, np.asfortranarray(array)):
        read = open_npy(write("x.npy", one))
        assert isinstance(read.base, np.memmap) and not read.flags.writeable and np.array_equal(read, array)
    assert not isinstance(open_npy(write("small.npy", array[:2])).base, np.memmap)


def test_saving_is_all_or_nothing(tmp_path):
    path = tmp_path / "x.npy"
    save_npy(path, np.arange(3))
    with pytest.raises(ValueError):
        save_npy(path, np.array([object()]))
    assert np.load(path).tolist() == [0, 1, 2] and [p.name for p in tmp_path.iterdir()] == ["x.npy"]
    with pytest.raises(FileError, match="cannot be written"):
        save_npy(tmp_path / "none" / "x.npy", np.arange(3))


def test_errors_pickle(tmp_path):
    with pytest.raises(FileError) as caught:
        open_npy(tmp_path / "none.npy")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is FileError and str(again) == str(caught.value) and again.path == str(tmp_path / "none.npy")
