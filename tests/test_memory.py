"""The memory pool: what is freed comes back, nothing is handed out twice, and no more is kept than was allowed."""

import ctypes
import gc
import sys
import threading
import tracemalloc

import numpy as np
import pytest
from test_threads import python

import dmlcore
from dmlcore import memory
from dmlcore._generated.operators import _pool_kept

MIB = 1 << 20
X = np.arange(8 * MIB, dtype=np.uint8)


def result(size: int, start: int = 0) -> np.ndarray:
    """`size` bytes, rows of 4096, as a gather's fresh output; other bytes for another start."""
    table = np.lib.stride_tricks.as_strided(X[start:], (256, 4096), (1, 1))
    return dmlcore.gather(table, np.arange(size // 4096) % 256, 0)


def handler(array: np.ndarray) -> str:
    return np._core.multiarray.get_handler_name(array)


@pytest.fixture(autouse=True)
def empty_pool(monkeypatch):
    """Each test begins with nothing kept and the default limit, and leaves it so."""
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    dmlcore.set_memory_pool_limit(0)
    dmlcore.set_memory_pool_limit(None)
    yield
    dmlcore.set_memory_pool_limit(0)
    dmlcore.set_memory_pool_limit(None)


@pytest.mark.parametrize("mib", [1, 5, 40])
def test_what_is_freed_is_used_again(mib):
    first = result(mib * MIB)
    address, wanted = first.ctypes.data, first.copy()
    del first
    assert _pool_kept() == mib * MIB
    second = result(mib * MIB)
    assert second.ctypes.data == address
    assert _pool_kept() == 0
    np.testing.assert_array_equal(second, wanted)


def test_a_smaller_result_takes_what_is_little_larger():
    address = result(8 * MIB).ctypes.data
    much_smaller, smaller = result(7 * MIB), result(7 * MIB + MIB // 2)
    assert smaller.ctypes.data == address != much_smaller.ctypes.data
    del smaller
    assert _pool_kept() == 8 * MIB  # all of it came back


def test_the_best_fit_is_taken():
    sizes = [9 * MIB, 8 * MIB + 4096, 8 * MIB + 8192]
    results = [result(size) for size in sizes]
    best = results[1].ctypes.data
    del results
    assert result(8 * MIB).ctypes.data == best


@pytest.mark.parametrize(("size", "align"), [(256 * 1024, 64), (MIB - 4096, 64), (MIB, 4096), (33 * MIB, 4096)])
def test_large_results_begin_on_a_line_or_a_page(size, align):
    assert all(result(size).ctypes.data % align == 0 for _ in range(3))
    assert handler(result(size)) == "dmlcore"


def test_small_results_are_numpys():
    y = result(252 * 1024)
    assert handler(y) == "default_allocator"
    assert y.flags.owndata


@pytest.mark.parametrize(
    "call",
    [
        lambda: dmlcore.gather_elements(X, np.zeros(2 * MIB, np.int64), 0),
        lambda: dmlcore.gather_nd(X.reshape(-1, 4), np.zeros((MIB, 1), np.int64)),
        lambda: dmlcore.scatter_nd(X, np.zeros((1, 1), np.int64), np.zeros(1, np.uint8)),
        lambda: dmlcore.scatter_elements(X, np.zeros(1, np.int64), np.zeros(1, np.uint8), 0),
        lambda: dmlcore.nonzero_coordinates(X),
        lambda: dmlcore.nonzero_coordinates(X, dtype=np.int64),
    ],
)
def test_every_operator_takes_part(call):
    assert handler(call()) == "dmlcore"
    assert _pool_kept() > 0


def test_what_is_lent_to_the_system_can_be_written_again():
    """From 128 MiB kept on."""
    sizes = [100 * MIB, 80 * MIB, 60 * MIB]
    results = [result(size, 3) for size in sizes]
    addresses = {y.ctypes.data for y in results}
    results.clear()
    assert _pool_kept() == sum(sizes)
    results = [result(size, 5) for size in sizes]
    assert {y.ctypes.data for y in results} == addresses
    table = np.lib.stride_tricks.as_strided(X[5:], (256, 4096), (1, 1))
    for y in results:
        assert (y.reshape(-1, 256, 4096) == table).all()


def test_what_is_used_again_and_again_beside_what_is_lent():
    """The large ones are lent, and given back before what was freed after them."""
    large = [result(size * MIB) for size in (100, 80)]
    while large:
        large.pop(0)
    small = {result(2 * MIB, k).ctypes.data for k in range(20)}
    assert len(small) == 1
    assert _pool_kept() == 182 * MIB
    dmlcore.set_memory_pool_limit(100 * MIB)
    assert _pool_kept() == 82 * MIB
    assert result(2 * MIB, 1).ctypes.data in small
    assert _pool_kept() == 82 * MIB


def test_a_limit_of_zero_keeps_nothing():
    result(2 * MIB)
    assert _pool_kept() == 2 * MIB
    dmlcore.set_memory_pool_limit(0)
    assert _pool_kept() == 0
    result(2 * MIB)
    assert _pool_kept() == 0


def test_a_lower_limit_gives_the_oldest_back():
    results = [result(size * MIB) for size in (2, 3, 4)]
    while results:
        results.pop(0)
    assert _pool_kept() == 9 * MIB
    dmlcore.set_memory_pool_limit(7 * MIB)
    assert _pool_kept() == 7 * MIB
    dmlcore.set_memory_pool_limit(6 * MIB)
    assert _pool_kept() == 4 * MIB


def test_results_that_are_alive_count():
    """With 5 of 8 MiB alive, 3 can be kept."""
    dmlcore.set_memory_pool_limit(8 * MIB)
    alive = result(5 * MIB)
    result(4 * MIB)
    assert _pool_kept() == 0
    result(3 * MIB)
    assert _pool_kept() == 3 * MIB
    more = result(2 * MIB)  # 5 + 2 alive: room for 1
    assert _pool_kept() == 0
    assert alive.nbytes + more.nbytes == 7 * MIB


def test_many_results_at_random():
    """Nothing is handed out twice, and what is kept with what is alive stays below the limit."""
    rng = np.random.default_rng(5)
    limit = 24 * MIB
    dmlcore.set_memory_pool_limit(limit)
    alive, reused, seen = {}, 0, set()
    for turn in range(400):
        if len(alive) > 5 or (alive and rng.random() < 0.4):
            y, wanted = alive.pop(rng.choice(list(alive)))
            np.testing.assert_array_equal(y[:: y.size // 97], wanted)
            del y
        else:
            y = result(int(rng.choice([256 * 1024, MIB, MIB + 65536, 3 * MIB, 5 * MIB])), turn)
            spans = [(a.ctypes.data, a.ctypes.data + a.nbytes) for a, _ in alive.values()]
            assert all(y.ctypes.data >= end or y.ctypes.data + y.nbytes <= first for first, end in spans)
            reused += y.ctypes.data in seen
            seen.add(y.ctypes.data)
            y[...] = turn % 251
            y = y.reshape(-1)
            alive[turn] = (y, np.full(y[:: y.size // 97].shape, turn % 251, np.uint8))
        handed_out = sum(y.base.nbytes if y.base is not None else y.nbytes for y, _ in alive.values())
        assert _pool_kept() <= max(0, limit - handed_out)
    assert reused > 20


def test_threads_of_the_caller():
    """Several Python threads take and return memory at once."""
    failures = []

    def work(number):
        for turn in range(60):
            y = result((1 + turn % 3) * MIB, number)
            wanted = np.lib.stride_tricks.as_strided(X[number:], (256, 4096), (1, 1))
            if not (np.array_equal(y[:256], wanted) and np.array_equal(y[-256:], wanted)):
                failures.append((number, turn))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_resize():
    y = result(2 * MIB)
    wanted = y.copy()
    y.resize((300, 4096), refcheck=False)
    np.testing.assert_array_equal(y, wanted[:300])
    y.resize((900, 4096), refcheck=False)
    np.testing.assert_array_equal(y[:300], wanted[:300])
    assert not y[300:].any()


def test_copies_of_a_result_are_numpys():
    assert handler(result(2 * MIB).copy()) == "default_allocator"


def test_tracemalloc_sees_results_not_what_is_kept():
    tracemalloc.start()
    try:
        for _ in range(2):  # from NumPy's allocator, then from what is kept
            gc.collect()
            before, _ = tracemalloc.get_traced_memory()
            y = result(4 * MIB)
            during, _ = tracemalloc.get_traced_memory()
            del y
            gc.collect()
            after, _ = tracemalloc.get_traced_memory()
            assert 4 * MIB <= during - before < 5 * MIB
            assert after - before < MIB
            assert _pool_kept() == 4 * MIB
    finally:
        tracemalloc.stop()


def test_compiled_operators_take_part():
    tensors = {
        "input": dmlcore.TensorDesc("FLOAT32", (1024, 1024)),
        "indices": dmlcore.TensorDesc("INT64", (1024, 1024)),
    }
    x, i = np.ones((1024, 1024), np.float32), np.zeros((1024, 1024), np.int64)
    operator = dmlcore.compile(dmlcore.GatherElementsDesc(**tensors, axis=0))
    for _ in range(2):
        y = operator(x, i)
        assert handler(y) == "dmlcore"
        np.testing.assert_array_equal(y, x)
        y[...] = 3
        del y
        assert _pool_kept() == 4 * MIB


def test_outputs_that_are_written_in_part_are_zero_elsewhere():
    """A compiled NONZERO_COORDINATES has room for every element."""
    result(4 * MIB)[...] = 255  # of the size that the coordinates have
    assert _pool_kept() == 4 * MIB
    x = np.zeros((512, 1024), np.float32)
    x[3, 4] = 1
    count, coordinates = dmlcore.compile(dmlcore.NonzeroCoordinatesDesc(input=dmlcore.TensorDesc("FLOAT32", x.shape)))(x)
    assert count.ravel()[0] == 1
    assert coordinates.reshape(-1, 2)[0].tolist() == [3, 4]
    assert not coordinates.reshape(-1, 2)[1:].any()


@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_AS")
def test_what_is_kept_is_given_up_before_memory_runs_out():
    """With 300 MiB kept, a result of 150 MiB still fits into 400."""
    code = """
import numpy as np, resource, dmlcore
table = np.ones((1, 1 << 20), np.uint8)
def result(mib):
    return dmlcore.gather(table, np.zeros(mib, np.int64), 0, num_threads=1)
result(1)
results = [result(100) for _ in range(3)]
results.clear()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (100 << 20),) * 2)
print(result(150).all())
try:
    result(900)
except MemoryError:
    print("MemoryError")
"""
    done = python(code)
    assert done.stdout.split() == ["True", "MemoryError"], done.stderr


def test_another_allocator_of_the_caller_is_left_alone():
    """Who has set a memory handler for NumPy gets memory from it."""
    api = np._core._multiarray_umath._ARRAY_API
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    table = ctypes.cast(get(api, None), ctypes.POINTER(ctypes.c_void_p))
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[304])
    get_handler = ctypes.PYFUNCTYPE(ctypes.py_object)(table[305])
    default = get_handler()
    raw = bytearray(ctypes.string_at(get(default, b"mem_handler"), 168))  # a name of 127 bytes, a version, five pointers
    raw[:7] = b"theirs\0"
    memory_of_it = ctypes.create_string_buffer(bytes(raw), len(raw))
    theirs = new(ctypes.addressof(memory_of_it), b"mem_handler", None)
    set_handler(theirs)
    try:
        y = result(2 * MIB)
        assert handler(y) == "theirs"
        del y
        assert get_handler() is theirs
    finally:
        set_handler(default)
    assert _pool_kept() == 0
    assert handler(result(2 * MIB)) == "dmlcore"


def test_the_limit_that_is_set():
    dmlcore.set_memory_pool_limit(np.int64(3 * MIB))
    assert dmlcore.get_memory_pool_limit() == 3 * MIB
    dmlcore.set_memory_pool_limit(None)
    assert dmlcore.get_memory_pool_limit() == memory.DEFAULT


@pytest.mark.parametrize("wrong", [-1, 1.5, "8"])
def test_a_wrong_limit_is_named(wrong):
    before = dmlcore.get_memory_pool_limit()
    with pytest.raises((ValueError, TypeError), match=r"limit is .*expected"):
        dmlcore.set_memory_pool_limit(wrong)
    assert dmlcore.get_memory_pool_limit() == before


def test_the_limit_of_the_environment():
    code = "import dmlcore; print(dmlcore.get_memory_pool_limit())"
    assert python(code, DMLCORE_MEMORY_POOL_LIMIT="12345").stdout.split() == ["12345"]
    assert python(code, DMLCORE_MEMORY_POOL_LIMIT=" ").stdout.split() == [str(memory.DEFAULT)]
    done = python(code, DMLCORE_MEMORY_POOL_LIMIT="1 GB")
    assert done.returncode != 0
    assert "DMLCORE_MEMORY_POOL_LIMIT is '1 GB', expected a number of bytes, 0 or more" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("call", "bits"),
    [
        ("dmlcore.gather_nd(x, i[:, :1], num_threads=threads)", 0),
        ("dmlcore.gather_elements(x, i, 0, num_threads=threads)", 0),
        ("dmlcore.scatter_elements(x, i, x, 0, num_threads=threads)", 0),
        ("dmlcore.scatter_nd(x, i[:, :1], x, num_threads=threads)", 0),
        ("dmlcore.nonzero_coordinates(x, num_threads=threads)", 1),
    ],
)
def test_resident_memory_of_fresh_results(call, bits, threads):
    """Beside inputs and results at most 1 MiB for each thread, and a bit for each element of nonzero_coordinates' input; also
    when results are replaced by new ones, where two are alive at a time."""
    code = f"""
import numpy as np, dmlcore
from dmlcore._generated.operators import _set_grain
threads = {threads}
_set_grain(1)
x, i = np.ones((4096, 2048), np.float32), np.zeros((4096, 2048), np.int64)
i += np.arange(4096)[::-1, None]
def status(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))
dmlcore.gather(x[:100], np.zeros(100, np.int64), 0, num_threads=threads)
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
y = {call}
first = status("VmHWM") - before - y.nbytes // 1024
y = {call}
y = {call}
print(first, status("VmHWM") - before - 2 * y.nbytes // 1024)
"""
    done = python(code)
    if any(word in done.stderr for word in ("PermissionError", "FileNotFoundError", "StopIteration")):
        pytest.skip("the peak cannot be reset here")
    assert done.returncode == 0, done.stderr
    slack = 3072  # kernels count pages of several threads roughly
    allowed = 1024 * threads + bits * (4096 * 2048 // 8 // 1024) + slack
    assert all(int(word) <= allowed for word in done.stdout.split()), (done.stdout, allowed)
