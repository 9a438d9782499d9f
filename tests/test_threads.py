"""Threads change nothing but the time: one thread equals many, bit for bit; calls from many Python threads at once do not
meet. And the settings at import.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from arrays import data_types, index_types, lay_out_inputs, random_call
from oracle import call, same_bits
from specs import OPERATORS

import dmlcore
from dmlcore import threads as thread_counts

ISAS = dmlcore.build_info()["isa_available"]


def some_calls(op, rng, count=40):
    """Small and larger calls of all types, in all layouts, with what one thread makes of them."""
    for turn in range(count):
        types, indices = data_types(op), index_types(op)
        size, rank = (6, 4) if turn % 4 else (40, 3)
        drawn = random_call(op, rng, types[turn % len(types)], indices[turn % len(indices)], rank, size, most=60_000)
        yield drawn, lay_out_inputs(drawn, rng)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_any_number_of_threads(op, rng, every_thread):
    for drawn, arrays in some_calls(op, rng):
        wanted = call(op, arrays, drawn.options, num_threads=1)
        for threads in (2, 3, 8):
            assert same_bits(call(op, arrays, drawn.options, num_threads=threads), wanted), threads


@pytest.mark.parametrize("op", [op for op in OPERATORS if op.kernel.source], ids=lambda op: op.name)
def test_duplicates_are_deterministic(op, rng, every_thread):
    """Many updates for few places: the last one in row-major order stays, at any number of threads, in place too."""
    for _ in range(30):
        drawn = random_call(op, rng, "INT32", "INT64", 3, 30, most=60_000)
        arrays = drawn.arrays | {"indices": drawn.indices // 7}
        wanted = call(op, arrays, drawn.options, num_threads=1)
        source = op.member(op.kernel.source).python
        for threads in (2, 4):
            assert same_bits(call(op, arrays, drawn.options, num_threads=threads), wanted)
            out = arrays[source].copy()
            call(op, arrays | {source: out}, drawn.options, out=out, num_threads=threads)
            assert same_bits(out, wanted)


def test_many_python_threads(rng, every_thread):
    """Every operator from eight threads at once, sharing inputs; settings of threads may change meanwhile."""
    work = [(op, drawn, arrays) for op in OPERATORS for drawn, arrays in some_calls(op, rng, 12)]
    wanted = [call(op, arrays, drawn.options, num_threads=1) for op, drawn, arrays in work]
    wrong, before = [], dmlcore.get_num_threads()

    def worker(seed):
        order = np.random.default_rng(seed).permutation(len(work))
        for i in order:
            op, drawn, arrays = work[i]
            dmlcore.set_num_threads(1 + int(i) % 3)
            try:
                if not same_bits(call(op, arrays, drawn.options), wanted[i]):
                    wrong.append((op.name, "differs"))
            except Exception as error:
                wrong.append((op.name, error))

    crew = [threading.Thread(target=worker, args=(seed,)) for seed in range(8)]
    try:
        for thread in crew:
            thread.start()
        for thread in crew:
            thread.join(60)
    finally:
        dmlcore.set_num_threads(before)
    assert not any(thread.is_alive() for thread in crew) and not wrong


# ---- how many threads ---------------------------------------------------------------------------------------------


def test_set_and_get():
    before = dmlcore.get_num_threads()
    try:
        for number in (1, 3, np.int64(2)):
            assert dmlcore.set_num_threads(number) is None
            assert dmlcore.get_num_threads() == number == dmlcore.build_info()["threads"]
        dmlcore.set_num_threads(None)
        assert dmlcore.get_num_threads() == thread_counts.default_threads()
        for wrong in (0, -1, "2", 1.5):
            with pytest.raises((ValueError, TypeError), match="num_threads"):
                dmlcore.set_num_threads(wrong)
            for op in OPERATORS:
                drawn = random_call(op, np.random.default_rng(0), "FLOAT32", index_types(op)[0])
                with pytest.raises((ValueError, TypeError), match="num_threads"):
                    call(op, drawn.arrays, drawn.options, num_threads=wrong)
    finally:
        dmlcore.set_num_threads(before)


@pytest.mark.parametrize(
    ("environ", "number"),
    [
        ({"DMLCORE_NUM_THREADS": "3", "OMP_NUM_THREADS": "5"}, 3),
        ({"OMP_NUM_THREADS": "5"}, 5),
        ({"OMP_NUM_THREADS": "4,2"}, 4),
        ({"OMP_NUM_THREADS": "nonsense"}, None),
        ({"DMLCORE_NUM_THREADS": " "}, None),
        ({}, None),
    ],
)
def test_environment(environ, number):
    assert thread_counts.default_threads(environ) == (number or thread_counts.available_cpus())


@pytest.mark.parametrize("text", ["0", "-2", "two", "1.5"])
def test_wrong_environment(text):
    with pytest.raises(ValueError, match="DMLCORE_NUM_THREADS"):
        thread_counts.default_threads({"DMLCORE_NUM_THREADS": text})


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"cpu.max": "150000 100000\n"}, 1.5),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "400000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 4),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({"cpu.max": "nonsense\n"}, None),
        ({"cpu.max": "100000 0\n"}, None),
        ({}, None),
    ],
)
def test_cgroup_quota(files, quota, tmp_path, monkeypatch):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert thread_counts._cgroup_quota(str(tmp_path)) == quota
    monkeypatch.setattr(thread_counts, "_cgroup_quota", lambda: quota)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    assert thread_counts.available_cpus() == (8 if quota is None else -(-quota // 1))


def python(code: str, *, timeout=60, **environ) -> subprocess.CompletedProcess:
    """Runs code in a fresh interpreter that imports the same dmlcore, without this session's settings."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DMLCORE_", "OMP_"))}
    kept["PYTHONPATH"] = str(Path(dmlcore.__file__).parents[1])
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=kept | environ, timeout=timeout, capture_output=True, text=True)


@pytest.mark.parametrize("threads", (2**29, 2**30, 2**31 - 1, 2**31, 2**64))
def test_more_threads_than_anybody_has(rng, threads):
    """The number is an upper bound; parts for so many threads are counted nowhere."""
    x, i = rng.random((200_000, 16), np.float32), np.arange(0, 200_000, 7)[:, None]
    u = np.ones((len(i), 16), np.float32)
    assert same_bits(dmlcore.scatter_nd(x, i, u, num_threads=threads), dmlcore.scatter_nd(x, i, u, num_threads=1))
    x, i = rng.random((8, 40, 400), np.float32)[:, ::2], rng.integers(0, 400, (8, 20, 300))
    u = np.ones(i.shape, np.float32)
    found = dmlcore.scatter_elements(x, i, u, axis=2, num_threads=threads)
    assert same_bits(found, dmlcore.scatter_elements(x, i, u, axis=2, num_threads=1))
    assert len(dmlcore.nonzero_coordinates(u, num_threads=threads)) == u.size


@pytest.mark.parametrize("variable", ("DMLCORE_NUM_THREADS", "OMP_NUM_THREADS"))
def test_more_threads_than_a_number_holds(variable):
    code = "import dmlcore; dmlcore.set_num_threads(None); print(dmlcore.get_num_threads())"
    done = python(code, **{variable: "3000000000"})
    assert done.stdout.strip() == str(2**31 - 1), done.stderr


@pytest.mark.parametrize("isa", ISAS)
def test_isa_from_the_environment(isa):
    done = python("import dmlcore; print(dmlcore.build_info()['isa'])", DMLCORE_ISA=isa)
    assert done.stdout.strip() == isa, done.stderr


def test_short_ends_of_long_slices():
    """Seventeen threads share out slices of 17409 bytes: what is left for the last one is a single byte."""
    done = python(
        "import numpy as np, dmlcore; from dmlcore._generated.operators import _set_grain; _set_grain(1);"
        "updates = np.random.default_rng(0).integers(0, 256, (2000, 17409), 'uint8'); rows = np.arange(2000)[::-1, None];"
        "out = np.zeros_like(updates); dmlcore.scatter_nd(out, rows, updates, out=out, num_threads=17);"
        "assert (out == updates[::-1]).all(); print('equal')",
        OMP_NUM_THREADS="17",
    )
    assert done.stdout.strip() == "equal", done.stderr or done.returncode


def test_more_threads_than_portions():
    """Seventy threads, more than there are portions of chunks: every chunk is still done once."""
    done = python(
        "import numpy as np, dmlcore; from dmlcore._generated.operators import _set_grain; _set_grain(1);"
        "rng = np.random.default_rng(0); table = rng.random((500_000, 2)); rows = rng.permutation(500_000)[:, None];"
        "assert (dmlcore.gather_nd(table, rows, num_threads=70) == table[rows[:, 0]]).all();"
        "wanted = table.copy(); wanted[rows[:400_000, 0]] = table[:400_000];"
        "found = dmlcore.scatter_nd(table, rows[:400_000], table[:400_000], num_threads=70);"
        "assert (found == wanted).all(); assert len(dmlcore.nonzero_coordinates(table, num_threads=70)) == table.size;"
        "print('equal')"
    )
    assert done.stdout.strip() == "equal", done.stderr or done.returncode


def test_wrong_isa_stops_the_import():
    done = python("import dmlcore", DMLCORE_ISA="sse9")
    assert done.returncode and "ImportError" in done.stderr and "'sse9'" in done.stderr
    assert all(isa in done.stderr.splitlines()[-1] for isa in ISAS)


def test_threads_at_import():
    show = "import dmlcore; print(dmlcore.get_num_threads())"
    assert python(show, DMLCORE_NUM_THREADS="3").stdout.strip() == "3"
    assert python(show, OMP_NUM_THREADS="2").stdout.strip() == "2"
    if hasattr(os, "sched_setaffinity"):
        one = f"import os; os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}}); {show}"
        assert python(one).stdout.strip() == "1"
    assert "DMLCORE_NUM_THREADS" in python(show, DMLCORE_NUM_THREADS="0").stderr
