"""Outputs, indices and updates in other orders of memory than rows after rows: positions are moved as the output, or the
updates, lie there. Updates for one place still follow each other as they are numbered: the last one stays, and sums are
added up alike. Against NumPy's functions, and against the same call on contiguous arrays.
"""

import itertools

import numpy as np
import pytest
from layouts import reordered
from moves import DTYPES, THREADS, numbers, wanted_of
from oracle import same_bits

import dmlcore

LAYOUTS = {
    "rows": np.ascontiguousarray,
    "transposed": lambda a: reordered(a, range(a.ndim)[::-1]),
    "swapped": lambda a: reordered(a, (*range(a.ndim - 2), a.ndim - 1, a.ndim - 2)),
    "turned": lambda a: reordered(a, (*range(1, a.ndim), 0)),
    "every second": lambda a: np.repeat(a, 2, axis=0)[::2],
    "backwards": lambda a: a[..., ::-1].copy()[..., ::-1],
    "transposed, backwards": lambda a: reordered(a[::-1], range(a.ndim)[::-1])[::-1],
}
SHAPES = ((40, 50), (7, 300), (9, 20, 30), (30, 4, 5, 6), (2, 700, 3), (130, 70))


def some_layouts(rng, count):
    """Layouts of as many arrays, each once as that of the first one, and once as that of the first two."""
    names = list(LAYOUTS)
    return [(name, second, *rng.choice(names, count - 2)) for name in names for second in (rng.choice(names), name)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gathers(rng, every_thread, shape, dtype):
    table = numbers(rng, shape, dtype)
    for axis, (out_as, x_as, i_as) in itertools.product(range(len(shape)), some_layouts(rng, 3)):
        x = LAYOUTS[x_as](table)
        size = shape[axis]
        places = rng.integers(-size, size, size + 5)
        elements = rng.integers(-size, size, (*shape[:axis], 13, *shape[axis + 1 :]))
        tuples = np.stack([rng.integers(-n, n, (5, 9)) for n in shape[: axis + 1]], axis=-1)
        calls = (
            (dmlcore.gather, places, {"axis": axis}, np.take(table, places, axis)),
            (dmlcore.gather_elements, elements, {"axis": axis}, np.take_along_axis(table, elements, axis)),
            (dmlcore.gather_nd, tuples, {}, table[tuple(np.moveaxis(tuples, -1, 0))]),
        )
        for function, indices, options, wanted in calls:
            i = LAYOUTS[i_as](indices) if indices.ndim > 1 else indices
            for threads in THREADS:
                out = LAYOUTS[out_as](np.zeros_like(wanted))
                assert function(x, i, out=out, num_threads=threads, **options) is out
                assert same_bits(np.ascontiguousarray(out), wanted), (function, axis, out_as, x_as, i_as, threads)


@pytest.mark.parametrize("dtype", ("uint8", "float16", "float32", "float64"))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_scatters(rng, every_thread, shape, dtype):
    """Places are named several times."""
    table = numbers(rng, shape, dtype)
    for axis, (out_as, u_as, i_as) in itertools.product(range(len(shape)), some_layouts(rng, 3)):
        many = shape[axis]
        elements = rng.integers(-many, many, (*shape[:axis], 2 * many + 1, *shape[axis + 1 :]))
        tuples = np.stack([rng.integers(-n, n, (30, 20)) for n in shape[: axis + 1]], axis=-1)
        calls = ((dmlcore.scatter_elements, "elements", elements, {"axis": axis}), (dmlcore.scatter_nd, "nd", tuples, {}))
        for function, operator, indices, options in calls:
            size = indices.shape if operator == "elements" else indices.shape[:-1] + shape[axis + 1 :]
            updates = numbers(rng, size, dtype)
            wanted = wanted_of(operator, table, indices, updates, axis)[1]
            i, u = LAYOUTS[i_as](indices), LAYOUTS[u_as](updates)
            for threads in THREADS:
                out = LAYOUTS[out_as](np.zeros_like(table))
                function(table, i, u, out=out, num_threads=threads, **options)
                assert same_bits(np.ascontiguousarray(out), wanted), (function, axis, out_as, u_as, i_as, threads)


@pytest.mark.parametrize("dtype", ("float16", "float32", "int64"))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums(rng, every_thread, shape, dtype):
    """Rounded as often, and in the same order, as those of contiguous arrays."""
    table = (rng.random(shape) * 100).astype(dtype)
    for axis, (out_as, u_as, i_as) in itertools.product(range(len(shape)), some_layouts(rng, 3)):
        elements = rng.integers(0, shape[axis], (*shape[:axis], 2 * shape[axis] + 1, *shape[axis + 1 :]))
        few = [min(n, 4) for n in shape[: axis + 1]]
        tuples = np.stack([rng.integers(-n, n, (30, 20)) for n in few], axis=-1)
        calls = ((dmlcore.scatter_elements, elements, {"axis": axis}, elements.shape),)
        calls += ((dmlcore.scatter_nd, tuples, {}, (30, 20, *shape[axis + 1 :])),)
        for function, indices, options, size in calls:
            updates = (rng.random(size) * 100).astype(dtype)
            wanted = function(table, indices, updates, reduction="add", **options)
            i, u = LAYOUTS[i_as](indices), LAYOUTS[u_as](updates)
            for threads in THREADS:
                out = LAYOUTS[out_as](np.zeros_like(table))
                function(table, i, u, reduction="add", out=out, num_threads=threads, **options)
                assert same_bits(np.ascontiguousarray(out), wanted), (function, axis, out_as, u_as, i_as, threads)


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_other_calls(rng, every_thread, shape, name):
    """Modes, batches, updates that are one number or one row, and the table updated in place."""
    table, layout = numbers(rng, shape, "float32"), LAYOUTS[name]
    indices = rng.integers(-3 * shape[0], 3 * shape[0], 2 * shape[0])
    clipped = np.clip(np.where(indices < 0, indices + shape[0], indices), 0, shape[0] - 1)
    missing = (indices < -shape[0]) | (indices >= shape[0])
    filled = table[np.where(missing, 0, indices)]
    filled[missing] = 5
    batches = rng.integers(-shape[1], shape[1], (shape[0], 40, 1))
    each = table[np.arange(shape[0])[:, None], batches[..., 0]]
    row = numbers(rng, shape[-1:], "float32")
    placed = table.copy()
    placed[clipped] = row
    for threads in THREADS:
        options = {"num_threads": threads}
        x = layout(table.copy())
        assert same_bits(dmlcore.gather(x, indices, mode="clip", out=layout(0 * table[clipped]), **options), table[clipped])
        fill = {"mode": "fill", "fill_value": 5}
        assert same_bits(dmlcore.gather(x, indices, out=layout(0 * filled), **fill, **options), filled)
        assert same_bits(dmlcore.gather_nd(x, batches, batch_dims=1, out=layout(0 * each), **options), each)
        updates = np.broadcast_to(row, (len(clipped), *shape[1:]))
        assert same_bits(dmlcore.scatter_nd(x, clipped[:, None], updates, out=layout(0 * table), **options), placed)
        dmlcore.scatter_nd(x, clipped[:, None], layout(np.ascontiguousarray(updates)), out=x, **options)
        assert same_bits(x, placed)
