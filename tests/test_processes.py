"""Fork, signals and pools: a fork after parallel use does not hang, Ctrl-C stops a long run, errors come back from
workers.

Each test runs a program of its own; a time-out tells a hang.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_threads import python

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="fork and SIGINT are POSIX")
SETUP = """
import dmlcore, multiprocessing, numpy as np, os, signal, sys, threading, time
from dmlcore._generated.operators import _set_grain
x = np.arange(400_000, dtype=np.float32).reshape(2000, 200)
i = np.arange(2000)[::-1, None].copy()
def run(_=0, threads=4):
    return dmlcore.gather_nd(x, i, num_threads=threads)
"""


def finished(code: str, **environ) -> str:
    done = python(SETUP + code, timeout=60, **environ)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[0]


@POSIX
@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_pool_after_parallel_use(how):
    """Pools of both kinds, after the parent has used all its threads."""
    assert (
        finished(f"""
if __name__ == "__main__":
    _set_grain(1)
    wanted = run()
    with multiprocessing.get_context("{how}").Pool(2) as pool:
        results = pool.map({"run" if how == "fork" else "abs"}, {"range(6)" if how == "fork" else "[1.0] * 6"})
    again = run()
    print(len(results), np.array_equal(again, wanted), np.array_equal(results[0], wanted) or "{how}" == "spawn")
""")
        == "6 True True"
    )


@POSIX
def test_fork_and_run_in_both():
    """os.fork after parallel use: child and parent go on, in parallel, several times over."""
    assert (
        finished("""
_set_grain(1)
wanted = run()
ok = True
for turn in range(5):
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(run(), wanted) else 1)
    ok &= np.array_equal(run(), wanted)
    ok &= os.waitpid(child, 0)[1] == 0
print(ok)
""")
        == "True"
    )


STAND_IN = """
#include <omp.h>
int regions(int threads)
{
    int together = 0;
#pragma omp parallel num_threads(threads) reduction(+ : together)
    together += 1;
    return together;
}
"""


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory):
    """A second library with parallel regions, as torch is one; built here, so it takes the system's runtime."""
    compiler = shutil.which("gcc")
    if not compiler:
        pytest.skip("needs gcc with OpenMP")
    folder = tmp_path_factory.mktemp("openmp")
    (folder / "second.c").write_text(STAND_IN)
    library = folder / "second.so"
    command = [compiler, "-shared", "-fPIC", "-fopenmp", "-o", str(library), str(folder / "second.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no OpenMP: {done.stderr[:200]}")
    return library


@POSIX
@pytest.mark.skipif(not Path("/proc/self/maps").is_file(), reason="looks at /proc for the runtimes in use")
@pytest.mark.parametrize("first", ["dmlcore", "second"])
def test_a_hundred_fork_pools(stand_in, first):
    """Pools of forked workers after parallel use, by us and by a second library that shares the runtime, whichever was
    loaded first. Where a wheel brings its own runtime the second library stays in the parent."""
    assert (
        finished(f"""
import ctypes
if "{first}" == "dmlcore":
    run()
second = ctypes.CDLL("{stand_in}")
_set_grain(1)
wanted = run()
shared = len({{line.split()[-1] for line in open("/proc/self/maps") if "libgomp" in line}}) == 1
def job(turn):
    return np.array_equal(run(), wanted) and (not shared or second.regions(3) == 3)
good = 0
for turn in range(100):
    assert second.regions(3) == 3 and np.array_equal(run(), wanted)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        good += all(pool.map(job, range(4)))
print(good)
""")
        == "100"
    )


@POSIX
def test_fork_while_another_thread_runs():
    assert (
        finished("""
_set_grain(1)
stop = threading.Event()
def busy():
    while not stop.is_set():
        run()
thread = threading.Thread(target=busy)
thread.start()
codes = []
for turn in range(5):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if np.array_equal(run(), x[::-1]) else 1)
    codes.append(os.waitpid(child, 0)[1])
stop.set()
thread.join()
print(codes)
""")
        == "[0, 0, 0, 0, 0]"
    )


@POSIX
@pytest.mark.parametrize("threads", [1, 4])
def test_keyboard_interrupt(threads):
    """SIGINT within a run of many seconds: KeyboardInterrupt long before its end, and the next call works."""
    assert (
        finished(f"""
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job is born ignoring it
sent = []
def interrupt():
    time.sleep(0.3)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
out = np.zeros(1, np.uint8)
threading.Thread(target=interrupt).start()
flat = np.broadcast_to(np.zeros(1, np.int64), (1 << 33, 1))
try:
    dmlcore.scatter_nd(out, flat, np.broadcast_to(np.uint8(1), (1 << 33,)), num_threads={threads})
    print("ran to its end")
except KeyboardInterrupt:
    late = time.monotonic() - sent[0]
    print(late < 2 and run().shape == (2000, 200), file=sys.stdout)
""")
        == "True"
    )


@POSIX
@pytest.mark.parametrize("threads", [1, 2])
def test_keyboard_interrupt_between_parts(threads):
    """Out of a table that is straightened part by part, each of which takes less than the time between two looks at signals."""
    assert (
        finished(f"""
class Stop(Exception):
    pass
def handler(*_):
    raise Stop
signal.signal(signal.SIGALRM, handler)
table = np.ones((100_000, 2000), np.uint8).T
def seconds():
    began = time.monotonic()
    dmlcore.gather(table, indices, out=out, num_threads={threads})
    return time.monotonic() - began
for rows in 6000, 12_000, 24_000:  # signals are looked at every 50 ms: the call has to take longer, however fast the machine is
    indices = np.arange(rows) % 2000
    out = np.ones((rows, 100_000), np.uint8)
    if seconds() > 0.1:
        break
stopped = []
for _ in range(5):  # a machine with other work may be so late with a signal that the call has ended
    wait = seconds() / 5
    out[:] = 7
    try:
        signal.setitimer(signal.ITIMER_REAL, wait)
        seconds()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Stop:
        stopped.append((out == 7).any())
    if any(stopped):
        break
print(any(stopped))
""")
        == "True"
    )


@POSIX
@pytest.mark.parametrize(("rows", "columns", "positions"), ((100, 8, 1 << 23), (20_000, 100, 1 << 21)))
@pytest.mark.parametrize("threads", (1, 2))
def test_interrupted_while_a_bad_index_is_sought(rows, columns, positions, threads):
    """What the signal's handler raises comes out, out of a table that is straightened too, as a whole or in parts."""
    assert finished(f"""
import collections, random
class Stop(Exception):
    pass
def handler(*_):
    raise Stop
signal.signal(signal.SIGALRM, handler)
table = np.zeros(({columns}, {rows}), np.uint8).T
indices = np.zeros({positions}, np.int32)
indices[-1] = {rows}
out = np.empty((len(indices), {columns}), np.uint8) if {rows} == 100 else None  # whose indices are checked first
seen, turns = collections.Counter(), random.Random(0)
for _ in range(40):
    try:  # the handler may also run between the call and the end of its timer
        signal.setitimer(signal.ITIMER_REAL, turns.uniform(0.001, 0.1))
        try:
            dmlcore.gather(table, indices, out=out, num_threads={threads})
        except dmlcore.IndexOutOfRangeError:
            seen["IndexOutOfRangeError"] += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Stop:
        seen["Stop"] += 1
print(sorted(seen))
""") in ("['IndexOutOfRangeError', 'Stop']", "['Stop']", "['IndexOutOfRangeError']")


@POSIX
def test_interrupted_while_indices_of_empty_slices_are_checked():
    """Nothing is moved, but indices are read for a long time: neither with Python's lock held nor deaf to signals."""
    assert (
        finished("""
class Stop(Exception):
    pass
def handler(*_):
    raise Stop
signal.signal(signal.SIGALRM, handler)
windows = np.lib.stride_tricks.as_strided(np.zeros(1 << 20, np.int64), (1 << 19, 1 << 19, 1), (8, 8, 8))
start = time.monotonic()
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    dmlcore.gather_nd(np.zeros((5, 0), np.uint8), windows)
except Stop:
    print(time.monotonic() - start < 3)
""")
        == "True"
    )


@POSIX
def test_interrupted_while_duplicates_are_sought():
    """While all positions are walked, not when Python's own code looks at signals behind that."""
    assert (
        finished("""
class Stop(Exception):
    pass
def handler(signal, frame):
    raise Stop(frame.f_code.co_name)
signal.signal(signal.SIGALRM, handler)
same = np.broadcast_to(np.int64(0), 1 << 24)
updates = same.astype(np.uint8)
signal.setitimer(signal.ITIMER_REAL, 0.01)
try:
    dmlcore.scatter_elements(np.zeros(2, np.uint8), same, updates, duplicates="raise")
except Stop as error:  # a busy machine may stop it even before
    print(error.args[0] != "first_duplicate")
""")
        == "True"
    )


def test_errors_come_back_from_workers():
    """Exceptions pickle with all they know."""
    assert (
        finished("""
def bad(kind):
    if kind == "index":
        dmlcore.gather_nd(x, [[5000]])
    dmlcore.gather_nd(x, i.astype(np.float32))
if __name__ == "__main__":
    found = []
    with multiprocessing.get_context("fork" if os.name == "posix" else "spawn").Pool(1) as pool:
        for kind in ("index", "type"):
            try:
                pool.apply(bad, (kind,))
            except dmlcore.IndexOutOfRangeError as error:
                found.append((error.value, error.position))
            except dmlcore.DataTypeConstraintError as error:
                found.append(error.rule)
    print(found)
""")
        == "[(5000, (0, 0)), 'GATHER_ND-IndicesTensor-DataType-support']"
    )
