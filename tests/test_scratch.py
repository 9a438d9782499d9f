"""Scratch memory: never more than was promised, and where the system gives none, the same results without it. A second malloc,
which counts and refuses, stands in front of the system's.
"""

import os
import shutil
import subprocess

import pytest
from test_threads import ISAS, python

MALLOC = """
#include <malloc.h>
#include <stddef.h>
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void __libc_free(void *);
size_t refused_from = (size_t)-1;
long live, most;
static void *counted(void *at)
{
    long now = __atomic_add_fetch(&live, at ? (long)malloc_usable_size(at) : 0, __ATOMIC_RELAXED);
    if (now > most)
        most = now;
    return at;
}
void *malloc(size_t n) { return n >= refused_from ? NULL : counted(__libc_malloc(n)); }
void *calloc(size_t n, size_t size) { return n * size >= refused_from ? NULL : counted(__libc_calloc(n, size)); }
void free(void *at)
{
    __atomic_sub_fetch(&live, at ? (long)malloc_usable_size(at) : 0, __ATOMIC_RELAXED);
    __libc_free(at);
}
"""

PROLOGUE = """
import ctypes, sys
import numpy as np
import dmlcore
from dmlcore._generated.operators import _set_grain
malloc = ctypes.CDLL({library!r})
refused_from = ctypes.c_size_t.in_dll(malloc, "refused_from")
live, most = (ctypes.c_long.in_dll(malloc, name) for name in ("live", "most"))
rng = np.random.default_rng(0)
dmlcore.set_memory_pool_limit(0)  # nothing is kept for the next call
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """What Python prints with that malloc."""
    compiler = shutil.which("gcc")
    if not compiler or not os.path.exists("/proc/self/maps"):
        pytest.skip("needs Linux and gcc")
    folder = tmp_path_factory.mktemp("malloc")
    (folder / "malloc.c").write_text(MALLOC)
    library = str(folder / "malloc.so")
    done = subprocess.run([compiler, "-shared", "-fPIC", "-o", library, folder / "malloc.c"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"another C library: {done.stderr[:200]}")

    def run(code: str) -> str:
        done = python(PROLOGUE.format(library=library) + code, LD_PRELOAD=library)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


def test_results_without_scratch_memory(finished):
    """Indices the other way round, tiles, rows that repeat, slices that are straightened, offsets that are kept, elements
    that are put aside."""
    assert (
        finished("""
def both(function, *arrays, **options):
    wanted = function(*arrays, **options)
    out = np.full(wanted.shape, 7, wanted.dtype)
    for threads in (1, 2):
        out[...] = 7
        refused_from.value = 4000
        try:
            function(*arrays, out=out, num_threads=threads, **options)
        finally:
            refused_from.value = sys.maxsize
        assert np.array_equal(out, wanted), function
    print(end=".")

_set_grain(1)
x, turned = rng.random((300, 400), np.float32), np.asfortranarray(rng.integers(0, 300, (200, 400)))
both(dmlcore.scatter_elements, x, turned, x[:200], axis=0)
both(dmlcore.gather_elements, x, turned, axis=0)
large = rng.random((600, 1024), np.float32)
both(dmlcore.scatter_elements, large, rng.integers(0, 600, (400, 1000)), large[:400, :1000], axis=0)
both(dmlcore.scatter_elements, large, rng.integers(0, 600, (400, 1024)), large[:400], axis=0)
both(dmlcore.gather_elements, large, rng.integers(0, 600, (400, 1024)), axis=0)
rows = np.repeat(rng.integers(0, 50, (70000, 1)), 16, axis=1)
both(dmlcore.scatter_elements, large[:50, :16], rows, rng.random(rows.shape, np.float32), axis=0)
both(dmlcore.gather, np.asfortranarray(large), rng.integers(0, 600, 2000), axis=0)
pairs = np.stack([rng.integers(0, n, 300_000) for n in large.shape], axis=-1)
both(dmlcore.gather_nd, large, pairs)
both(dmlcore.gather, large.ravel().view(np.uint8), rng.integers(-1000, 1000, 50_000))
few, turned = rng.integers(0, 250, (300, 10), np.uint8), np.asfortranarray(rng.integers(0, 300, (300, 10)))
for threads in (1, 2):
    refused_from.value = 4000  # more than the output has
    fresh = dmlcore.gather_elements(few, turned, axis=0, num_threads=threads)
    refused_from.value = sys.maxsize
    assert np.array_equal(fresh, np.take_along_axis(few, turned, 0))
print(end=".")
""")
        == "." * 10
    )


def test_is_kept_for_the_next_call(finished):
    """The same call again asks the system for none, another one gives back what it cannot use; no pool, nothing kept."""
    assert (
        finished("""
x, positions = rng.random((256, 256, 2))[..., 0], np.arange(1000) % 256
outs = {count: np.empty((1000, count)) for count in (256, 128)}

def gathered(count):
    dmlcore.gather(x[:count].T, positions, axis=0, out=outs[count])

def left(count):
    before = live.value
    gathered(count)
    return live.value - before

def asked(count):
    before = most.value = live.value
    gathered(count)
    return most.value - before

large, small = 256 * 256 * 8, 128 * 256 * 8
gathered(256)
assert large <= asked(256) < large + 20_000
assert abs(left(256)) < 20_000
dmlcore.set_memory_pool_limit(None)
assert abs(left(256) - large) < 20_000
assert asked(256) < 20_000
assert abs(left(256)) < 20_000
assert abs(left(128) - (small - large)) < 20_000
assert asked(128) < 20_000
before = live.value
dmlcore.set_memory_pool_limit(small // 2)
assert abs(before - live.value - small) < 20_000
assert abs(left(128)) < 20_000
print("done")
""")
        == "done"
    )


@pytest.mark.parametrize("dtype", ("float32", "int64"))
def test_a_mebibyte_for_each_thread(finished, dtype):
    """Also where several things want some: a table that is straightened and offsets that are kept, indices that are turned
    beside a table that is."""
    assert (
        finished(f"""
for shape, count in (((1666, 16, 3), 262_144), ((250, 16, 16), 270_000)):
    x = np.asfortranarray(rng.random(shape).astype("{dtype}"))
    pairs = np.stack([rng.integers(0, n, count) for n in shape[:2]], axis=-1)
    out = np.empty((count, shape[2]), x.dtype)
    for threads in (1, 2):
        for turn in range(2):
            before = most.value = live.value
            dmlcore.gather_nd(x, pairs, out=out, num_threads=threads)
        assert most.value - before <= (threads << 20) + 4096, most.value - before
    assert np.array_equal(out, x[tuple(pairs.T)])
for shape, count, axis in (
    ((650, 200), 650, 0), ((511, 511), 511, 0), ((32, 8176), 4090, 1), ((30, 8184), 4092, 1), ((700, 700), 700, 1)
):
    x = np.array(rng.random(shape).astype("{dtype}"), order="CF"[axis])
    sizes = (shape[0], count) if axis else (count, shape[1])
    turned = np.asfortranarray(rng.integers(0, shape[axis], sizes))
    out = np.empty(turned.shape, x.dtype)
    for threads in (1, 2):
        for turn in range(2):
            before = most.value = live.value
            dmlcore.gather_elements(x, turned, axis=axis, out=out, num_threads=threads)
        assert most.value - before <= (threads << 20) + 4096, most.value - before
    assert np.array_equal(out, np.take_along_axis(x, turned, axis))
print("fine")
""")
        == "fine"
    )


@pytest.mark.parametrize("isa", ISAS)
def test_a_mebibyte_beside_indices_that_rows_share(finished, isa):
    """Notes of what is overwritten, and a table that is straightened, beside indices that are brought together."""
    assert (
        finished(f"""
from dmlcore._generated.operators import _select_isa
_select_isa({isa!r})
column = np.zeros((131_072, 2), "int32")[:, :1]
column[:, 0] = rng.integers(0, 4 << 17, len(column))
slices, x = np.broadcast_to(column, (4, *column.shape)), np.zeros((4 << 17, 16), "float32")
pairs = np.zeros((32_768, 3), "int64")[:, :2]
pairs[...] = np.stack([rng.integers(0, n, len(pairs)) for n in (3000, 80)], axis=-1)
table = np.asfortranarray(rng.integers(0, 256, (3000, 80, 2), "uint8"))
shared, found = np.broadcast_to(pairs, (2, *pairs.shape)), np.empty((2, len(pairs), 2), "uint8")
updates, out = np.ones((*slices.shape[:2], 16), "float32"), np.empty_like(x)
for threads in (1, 2):
    for call in (
        lambda: dmlcore.scatter_nd(x, slices, updates, out=out, num_threads=threads),
        lambda: dmlcore.gather_nd(table, shared, out=found, num_threads=threads),
    ):
        for turn in range(2):
            before = most.value = live.value
            call()
        assert most.value - before <= (threads << 20) + 4096, most.value - before
x[column[:, 0]] = 1
assert np.array_equal(out, x)
assert np.array_equal(found, table[tuple(shared[0].T)][np.newaxis].repeat(2, 0))
print("fine")
""")
        == "fine"
    )


def test_elements_put_aside(finished):
    """As many bytes as there may be, and one more; nothing of them is seen in the output when the last index is bad."""
    assert (
        finished(f"""
from dmlcore._generated.operators import _select_isa
_select_isa({"avx512-gathers" if "avx512-gathers" in ISAS else ISAS[-1]!r})
x = rng.integers(0, 256, 70_000).astype(np.uint8)
for threads in (1, 2):
    for more in (0, 1):
        indices = rng.integers(-len(x), len(x), (threads << 20) + more)
        out = np.empty(len(indices), x.dtype)
        dmlcore.gather(x, indices, out=out, num_threads=threads)  # OpenMP has its memory then
        before = most.value = live.value
        dmlcore.gather(x, indices, out=out, num_threads=threads)
        assert most.value - before <= (threads << 20) + 4096, most.value - before
        assert np.array_equal(out, x[indices])
        out[...], indices[-1] = 7, len(x)
        try:
            dmlcore.gather(x, indices, out=out, num_threads=threads)
        except dmlcore.IndexOutOfRangeError as error:
            assert error.position == (len(indices) - 1,)
            assert (out == 7).all()
            print(end=".")
""")
        == "." * 4
    )
