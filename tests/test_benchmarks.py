"""The benchmark suite works: its cells have right answers, its limits are right, its report and charts can be made.

Nothing here looks at how fast anything is.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest

import dmlcore
from benchmarks import cases, drawn, limits, measure, peers, report, results, worker

QUICK = [c for c in cases.CELLS if c.quick and c.level in ("tiny", "L2")]
OPERATORS = ("gather", "gather_elements", "gather_nd", "scatter_elements", "scatter_nd", "nonzero_coordinates")


@pytest.fixture(scope="module", autouse=True)
def threads_as_before():
    """The suite sets the number of threads of every library, ours too."""
    before = dmlcore.get_num_threads()
    yield
    dmlcore.set_num_threads(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(tmp_path_factory.mktemp("limits"))


@pytest.fixture(scope="module", params=[1, 2], ids=["1 thread", "2 threads"])
def limit_of(request, folder):
    return limits.Limits(folder, request.param)


@pytest.fixture(scope="module")
def found(folder):
    """A results file as the suite writes it, of dmlcore and NumPy."""
    modules = {name: peers.load(name, 1)[0] for name in (peers.PRODUCT, "numpy")}
    limit = limits.Limits(folder, 1)
    records = [worker.one(cell, modules, limit, 1, 2, 1e-4, 0.01) for cell in QUICK]
    sizes = [worker.one(cell, modules, limit, 1, 2, 1e-4, 0.01) for cell in cases.SIZES[:8]]
    from benchmarks import machine

    return {
        "machine": machine.describe(), "versions": {"numpy": np.__version__}, "missing": {"torch": "not installed"},
        "limits_compiler": limit.compiler, "trial": True, "quick": True, "seconds": {"1": 1},
        "records": records, "sizes": sizes,
    }  # fmt: skip


def test_cells_are_distinct_and_cover_the_operators():
    names = [c.name for c in cases.CELLS]
    assert len(set(names)) == len(names)
    for op in OPERATORS:
        assert {c.level for c in cases.CELLS if c.op == op} == set(cases.LEVELS)
        assert any(c.quick for c in cases.CELLS if c.op == op)


@pytest.mark.parametrize("cell", [*QUICK, *(c for c in cases.CELLS if c.mode != "raise")], ids=lambda c: c.name)
def test_product_and_numpy_agree(cell):
    task = cases.task(cell)
    for name in (peers.PRODUCT, "numpy"):
        for call in peers.calls(peers.load(name, 2)[0], task):
            assert not worker.wrong(call, task), call.label


def test_drawn_cells(limit_of):
    """The same seed draws the same ones; all operators come, and whatever is drawn can be made and is right, C loops too."""
    cells = drawn.draw(150, 1)
    assert cells == drawn.draw(150, 1) and not set(cells) & set(drawn.draw(150, 2))
    assert len({c.name for c in cells}) == 150
    assert {c.op for c in cells} == set(OPERATORS)
    assert {c.layout for c in cells} == {"C", "T", "step", "F", "part", "column"}
    product = peers.load(peers.PRODUCT, 1)[0]
    small = [c for c in cells if max(np.prod(c.shape), np.prod(c.index_shape or (1,))) < 20_000]
    assert len(small) > 40
    for cell in small:
        task = cases.task(cell)
        loop = limit_of.calls(task) if limits.decides(task) == "loop" else []
        for call in (*peers.calls(product, task), *loop):
            assert not worker.wrong(call, task), (cell.name, call.label)


def has_a_loop(cell):
    """Whether a cell of the second-level cache is held against the C loop, told without its arrays."""
    short = cell.op != "nonzero_coordinates" and cell.slice_bytes < cases.KIB
    return short and cell.level == "L2" and cell.layout == "C" and cell.mode == "raise"


@pytest.mark.parametrize("cell", [c for c in cases.CELLS if has_a_loop(c)], ids=lambda c: c.name)
def test_c_loops_are_right(cell, limit_of):
    if limit_of.missing:
        pytest.skip(limit_of.missing)
    task = cases.task(cell)
    assert limits.decides(task) == "loop"
    calls = limit_of.calls(task)
    assert {call.output for call in calls} == {"fresh", "reused"}
    for call in calls:
        assert not worker.wrong(call, task)


def test_limits_without_a_compiler(monkeypatch, tmp_path):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    limit = limits.Limits(str(tmp_path), 1)
    assert "no C compiler" in limit.missing
    assert limit.calls(cases.task(QUICK[0])) == []


def test_a_wrong_call_is_not_measured():
    task = cases.task(QUICK[0])
    assert worker.wrong(peers.Call("zeros", "fresh", lambda: np.zeros_like(task.expected)), task) == "wrong values"
    assert worker.wrong(peers.Call("none", "fresh", lambda: np.zeros(0)), task).startswith("wrong shape")
    assert worker.wrong(peers.Call("error", "fresh", lambda: 1 / 0), task) == "division by zero"


def test_fresh_calls_do_not_compete_with_preallocated_ones():
    def entry(peer, output, seconds):
        return measure.Entry(peer, "", output, None, [seconds])

    entries = [
        entry("dmlcore", "fresh", 2),
        entry("a", "fresh", 3),
        entry("b", "reused", 1),
        entry("limit", "fresh", 0.1),
    ]
    assert measure.best_peer(entries, "fresh").peer == "a"
    assert measure.best_peer(entries, "reused").peer == "b"
    assert measure.product(entries, "fresh").median == 2


def test_environment_limits_every_library():
    environment = peers.environment(2)
    assert {v for k, v in environment.items() if k.endswith("NUM_THREADS")} == {"2"}


@pytest.mark.parametrize("name", peers.NAMES)
def test_every_peer_offers_the_operators(name):
    source = Path(peers.__file__).with_name(f"{name}_peer.py").read_text()
    for op in OPERATORS:
        assert f"\ndef {op}(t):" in source


def test_report(found):
    page = report.PAGE.read_text()
    filled = report.fill(page, report.blocks(found))
    assert report.fill(filled, report.blocks(found)) == filled
    assert "| `tiny-f32-2x4-0.5` | 1 | fresh |" in filled
    assert "Without torch: not installed." in filled
    assert "trial run" in filled


def test_a_page_without_markers_is_refused(found):
    with pytest.raises(SystemExit, match="no markers"):
        report.fill("", report.blocks(found))


def test_results_survive_the_file(found, tmp_path):
    results.write(tmp_path / "a" / "bench.json", found)
    assert results.read(tmp_path / "a" / "bench.json") == found


def test_times_have_units():
    assert [results.time_text(s) for s in (84e-9, 1.5e-6, 0.0123, 2.0)] == ["84 ns", "1.50 us", "12.3 ms", "2.00 s"]


def test_charts(found, tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks import plots

    plots.speedup(found, tmp_path)
    series = {"title": "a", "seconds": {"1": 2.0, "2": 1.0}, "limit_seconds": {}}
    plots.scaling({"machine": found["machine"], "threads": [1, 2], "series": [series]}, tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {"speedup.png", "speedup.svg", "threads.png", "threads.svg"}
