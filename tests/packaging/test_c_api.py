"""The C interface: the examples in C and Cython compiled as a user would, the header in C++, and the version check."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dmlcore

ROOT = Path(__file__).resolve().parents[2]
COMPILER = shutil.which(os.environ.get("CC", "cc"))
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """The folder with both examples, built against the dmlcore that is being tested."""
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    folder = tmp_path_factory.mktemp("c_api")
    for path in (ROOT / "examples" / "c_api").iterdir():
        if path.suffix in (".c", ".pyx", ".py"):
            shutil.copy(path, folder)
    done = run(folder, "setup.py", "-q", "build_ext", "--inplace")
    assert done.returncode == 0, done.stderr
    return folder


def run(folder, *arguments):
    return subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.fixture
def rows(examples, monkeypatch):
    monkeypatch.syspath_prepend(examples)
    return pytest.importorskip("rows")


@pytest.fixture
def histogram(examples, monkeypatch):
    monkeypatch.syspath_prepend(examples)
    return pytest.importorskip("histogram")


@pytest.mark.parametrize("width", [1, 3, 500])
def test_rows_in_c(rows, rng, width):
    table = rng.random((300, width), dtype=np.float32)
    ids = rng.integers(-300, 300, 4000)
    out = np.empty((4000, width), np.float32)
    rows.take(table, ids, out)
    np.testing.assert_array_equal(out, table[ids])
    rows.take(table[::-2], ids[::3] // 2, out[::3])
    np.testing.assert_array_equal(out[::3], table[::-2][ids[::3] // 2])


def test_rows_in_c_tell_the_first_wrong_index(rows):
    out = np.full((3, 2), 7, np.float32)
    with pytest.raises(IndexError, match=r"ids\[1\] is 5, the table has 5 rows"):
        rows.take(np.zeros((5, 2), np.float32), np.array([4, 5, 6]), out)
    assert (out == 7).all()
    with pytest.raises(ValueError, match="expected float32"):
        rows.take(np.zeros((5, 2), np.float32), np.zeros(3, np.int32), out)


def test_histogram_in_cython(histogram, rng):
    bins, weights = rng.integers(-5, 30, 10_000), rng.integers(0, 9, 10_000).astype(np.float32)
    counts, expected = np.zeros(20, np.float32), np.zeros(20, np.float32)
    histogram.add(counts, bins, weights)
    inside = (bins >= -20) & (bins < 20)
    np.add.at(expected, bins[inside], weights[inside])
    np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize("major, minor, advice", [(2, 0, "compile the module again"), (0, 9, "install a newer dmlcore")])
def test_another_version_is_refused(examples, major, minor, advice):
    """The capsule's first two integers are the version; a module that was compiled for another one does not load."""
    code = f"""
import ctypes, dmlcore._generated.operators as operators
name = b"dmlcore._generated.operators._C_API"
pointer = ctypes.pythonapi.PyCapsule_GetPointer
pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
version = (ctypes.c_int * 2).from_address(pointer(operators._C_API, name))
assert tuple(version) == (1, 0), tuple(version)
version[:] = [{major}, {minor}]
for module in "rows", "histogram":
    try:
        __import__(module)
    except ImportError as error:
        assert "compiled for version 1.0" in str(error) and "{major}.{minor}; {advice}" in str(error), error
    else:
        raise AssertionError(module)
"""
    done = run(examples, "-c", code)
    assert done.returncode == 0, done.stderr


def test_get_include_has_what_the_header_includes():
    include = Path(dmlcore.get_include())
    assert (include / "dmlcore.h").is_file()
    assert (include.parent / "core" / "kernel.h").is_file()
    assert (include.parent / "core" / "list.h").is_file()
    assert (include.parent / "capi.pxd").is_file()


@pytest.mark.parametrize("language, standard", [("c", "c99"), ("c", "c11"), ("c++", "c++11"), ("c++", "c++20")])
def test_header_alone(tmp_path, language, standard):
    source = tmp_path / "source"
    source.write_text('#include "dmlcore.h"\nint major(const dmlcore_api *api) { return api->major; }\n')
    flags = ["-x", language, f"-std={standard}", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    done = subprocess.run([COMPILER, *flags, "-I", dmlcore.get_include(), source], capture_output=True, text=True)
    if language == "c++" and ("not found" in done.stderr or "cannot execute" in done.stderr):
        pytest.skip("needs a C++ compiler")
    assert done.returncode == 0, done.stderr


class List(ctypes.Structure):
    _fields_ = (("v", ctypes.POINTER(ctypes.c_int64)), ("n", ctypes.c_int64))


def fields(type, *names):
    return tuple((name, type) for name in names)


class Run(ctypes.Structure):
    _fields_ = (
        *fields(ctypes.c_int, "storage", "index", "data_type", "mode", "reduction", "check_first", "threads", "untouched"),
        *fields(ctypes.c_void_p, "poll", "fill"),
        *fields(ctypes.c_int64, "bad_position", "bad_coordinate", "bad_value", "bad_bound"),
    )


class Move(ctypes.Structure):
    _fields_ = (
        *fields(List, "positions", "index_strides", "table_strides", "stream_strides", "bounds", "steps"),
        *fields(ctypes.c_int64, "coordinate_stride"),
        *fields(List, "slice", "slice_table_strides", "slice_stream_strides"),
        *fields(ctypes.c_void_p, "table", "stream", "indices", "source"),
        *fields(List, "copy", "copy_source_strides", "copy_table_strides"),
    )


def capsule(number, *types):
    """One of the capsule's functions, which follow its version."""
    from dmlcore._generated import operators

    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    pointer = get_pointer(operators._C_API, b"dmlcore._generated.operators._C_API")
    return ctypes.CFUNCTYPE(*types)((ctypes.c_void_p * 8).from_address(pointer + 8)[number])


def moved(number, table, stream, indices, threads=1, **lists):
    """Runs a move of float32 with int64 indices; lists that are not given stay empty."""
    run, move = Run(storage=2, index=1, threads=threads, check_first=1), Move(coordinate_stride=8)
    for name, array in (("table", table), ("stream", stream), ("indices", indices)):
        setattr(move, name, array.ctypes.data)
    for name, values in lists.items():
        setattr(move, name, values if name == "source" else List((ctypes.c_int64 * len(values))(*values), len(values)))
    return capsule(number, ctypes.c_int, ctypes.POINTER(Move), ctypes.POINTER(Run))(move, run)


@pytest.mark.parametrize("count", [40, 500], ids=["few", "planned"])
@pytest.mark.parametrize("slice_rank", [1, 64])
def test_strides_that_are_left_out(rng, slice_rank, count):
    """They are zeros: every element of a slice is the first one. Lists may have 64 entries each."""
    table, indices = rng.random(40, np.float32), rng.integers(0, 40, count)
    out = np.zeros((count, 3), np.float32)
    ones = [1] * (slice_rank - 1)
    sizes = dict(positions=[count], index_strides=[8], stream_strides=[12], bounds=[40], steps=[4], slice=[*ones, 3])
    assert moved(1, table, out, indices, slice_stream_strides=[4] * slice_rank, **sizes) == 0
    np.testing.assert_array_equal(out, table[indices][:, None].repeat(3, 1))
    pairs = np.stack((indices // 8, indices % 8, *[np.zeros_like(indices)] * 6), 1)  # eight coordinates, six always zero
    sizes.update(index_strides=[64], bounds=[5, 8, *[1] * 6], steps=[32, 4, *[8] * 6])
    given = dict(slice_stream_strides=[4] * slice_rank, slice_table_strides=[*[0] * (slice_rank - 1), 0])
    out[:] = 0
    assert moved(1, table, out, pairs, **given, **sizes) == 0
    np.testing.assert_array_equal(out, table[indices][:, None].repeat(3, 1))


@pytest.mark.parametrize("count", [3, 9000], ids=["few", "planned"])
@pytest.mark.parametrize("left_out", ["copy_source_strides", "copy_table_strides"])
def test_a_scatter_from_one_element(rng, left_out, count):
    """Strides of the source that are left out: the table begins as that element everywhere. Those of the table: it has one."""
    size = count + 61
    source, table = np.array([5], np.float32), np.zeros(size, np.float32)
    updates, indices = rng.random(count, np.float32), np.arange(count)
    sizes = dict(positions=[count], index_strides=[8], stream_strides=[4], bounds=[size], steps=[4], copy=[size])
    wanted = np.zeros(size, np.float32)
    if left_out == "copy_source_strides":
        wanted[:] = 5
        copy = dict(copy_table_strides=[4])
    else:
        wanted[0] = 5
        copy = dict(copy_source_strides=[0])
    wanted[:count] = updates
    assert moved(2, table, updates, indices, source=source.ctypes.data, **copy, **sizes) == 0
    np.testing.assert_array_equal(table, wanted)


@pytest.mark.parametrize("threads", [1, 2])
def test_slices_of_nothing(rng, threads):
    """A scatter then is a copy."""
    source, table = rng.random(20_000, np.float32), np.zeros(20_000, np.float32)
    indices = rng.integers(0, 5, 8000)
    sizes = dict(positions=[4, 2000], index_strides=[16_000, 8], table_strides=[0, 4], bounds=[5], steps=[4], slice=[0])
    copy = dict(copy=[20_000], copy_source_strides=[4], copy_table_strides=[4], source=source.ctypes.data)
    assert moved(2, table, table, indices, threads=threads, **sizes, **copy) == 0
    np.testing.assert_array_equal(table, source)


def test_threads_of_the_capsule_follow_set_num_threads():
    get_num_threads, isa_name = capsule(6, ctypes.c_int), capsule(7, ctypes.c_char_p)
    before = dmlcore.get_num_threads()
    try:
        dmlcore.set_num_threads(3)
        assert get_num_threads() == 3
    finally:
        dmlcore.set_num_threads(before)
    assert isa_name().decode() == dmlcore.build_info()["isa"]
