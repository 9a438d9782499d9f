"""`duplicates=` of the scatters: by default the last update stays; "raise" tells the first place that two updates
name, and leaves everything as it was.
"""

import pickle

import numpy as np
import pytest
from arrays import random_call
from oracle import call, same_bits
from specs import OPERATORS, accepted

import dmlcore

CHOOSING = [op for op in OPERATORS if "duplicates" in op.python.options]
pytestmark = pytest.mark.parametrize("op", CHOOSING, ids=lambda op: op.name)


def targets(op, drawn) -> list:
    """Where each update goes, in row-major order of the updates' indices."""
    found, indices = [], drawn.indices
    if "coordinate_stride" in op.kernel.fields:
        for position in np.ndindex(indices.shape[:-1]):
            found.append(tuple(int(v) % n for v, n in zip(indices[position], drawn.bounds, strict=True)))
    else:
        axis = drawn.options["axis"] % indices.ndim
        for position in np.ndindex(indices.shape):
            found.append((*position[:axis], int(indices[position]) % drawn.bounds[0], *position[axis + 1 :]))
    return found


def test_raise(op, rng, each_way):
    assert set(accepted(getattr(dmlcore, op.python.function), "duplicates")) == {"last", "raise"}
    repeated = unique = 0
    for turn in range(300):
        drawn = random_call(op, rng, "INT32", "INT64", max_rank=3, max_size=6)
        if not all(a.size for a in drawn.arrays.values()):
            continue
        places = targets(op, drawn)
        options = drawn.options | {"duplicates": "raise"}
        wanted = call(op, drawn.arrays, drawn.options)
        out = np.full(wanted.shape, 77, wanted.dtype)
        if len(set(places)) == len(places):
            assert same_bits(call(op, drawn.arrays, options, num_threads=1 + turn % 4), wanted)
            unique += 1
        else:
            for threads in (1, 4):
                with pytest.raises(dmlcore.DuplicateIndexError) as caught:
                    call(op, drawn.arrays, options, out=out, num_threads=threads)
                assert (out == 77).all() and isinstance(caught.value, (dmlcore.DmlcoreError, ValueError))
                again = pickle.loads(pickle.dumps(caught.value))
                assert str(again) == str(caught.value) and again.as_dict() == caught.value.as_dict()
                error = caught.value
                shape = drawn.indices.shape[:-1] if "coordinate_stride" in op.kernel.fields else drawn.indices.shape
                first, second = (int(np.ravel_multi_index(p, shape)) if p else 0 for p in (error.first, error.second))
                assert places[first] == places[second] and first < second, "not the same place"
                assert len(set(places[:second])) == second, "not the first repetition in row-major order"
                assert error.tensor == op.kernel.indices and op.kernel.indices in str(error)
            repeated += 1
    assert repeated > 20 and unique > 20


def test_empty_slices(op):
    """Nothing is moved, but places are told apart all the same, whatever strides an empty array has."""
    if "coordinate_stride" not in op.kernel.fields:
        pytest.skip("its slices are single elements")
    scatter, table = getattr(dmlcore, op.python.function), np.zeros((3, 4, 0))
    tuples, updates = np.array([[0, 1], [1, 0], [2, 3]]), np.zeros((3, 0))
    for out in (None, table):
        assert scatter(table, tuples, updates, duplicates="raise", out=out).shape == table.shape
        with pytest.raises(dmlcore.DuplicateIndexError) as caught:
            scatter(table, [[0, 1], [1, 0], [-2, -4]], updates, duplicates="raise", out=out)
        assert (caught.value.first, caught.value.second) == ((1,), (2,))


@pytest.mark.parametrize(("places", "updates"), [(30000, 700), (70000, 50000), (3_000_000, 3)])
@pytest.mark.parametrize("index_type", ["int32", "uint32", "int64", "uint64"])
def test_many_places(op, places, updates, index_type, rng):
    """Few bits, many, too many for so few positions; every second index is negative; tables that lie backwards."""
    scatter, tuples = getattr(dmlcore, op.python.function), "coordinate_stride" in op.kernel.fields
    chosen = rng.choice(places, updates, replace=False)
    chosen[::2] -= places if index_type.startswith("int") else 0
    values = np.arange(updates) % 251
    options = {"duplicates": "raise", "mode": "drop"}
    for table in (np.zeros(places, np.uint8), np.zeros(places, np.uint8)[::-1], np.zeros(3 * places, np.uint8)[::3]):
        indices = chosen.astype(index_type).reshape(-1, *[1] * tuples)
        wanted = table.copy()
        wanted[chosen] = values
        assert same_bits(scatter(table, indices, values.astype(np.uint8), duplicates="raise", out=table), wanted)
        for again in range(1, 3):
            indices[-1] = indices[again - 1] % places  # the same place, not always the same number
            with pytest.raises(dmlcore.DuplicateIndexError) as caught:
                scatter(table, indices, np.full(updates, 255, np.uint8), out=table, **options)
            assert (caught.value.first, caught.value.second) == ((again - 1,), (updates - 1,))
            assert same_bits(table, wanted)
        indices[:2] = 2**64 - 1 if index_type == "uint64" else places + 7  # that names no place
        scatter(table, indices[:2], np.full(2, 255, np.uint8), out=table, **options)
        assert same_bits(table, wanted)


@pytest.mark.parametrize("shape", [(40, 50), (400, 500), (20, 30, 40, 2)])
def test_tuples_of_many_places(op, shape, rng):
    scatter = getattr(dmlcore, op.python.function)
    if "coordinate_stride" not in op.kernel.fields:
        pytest.skip("it has no tuples")
    table = np.zeros((*shape, 3))
    chosen = rng.permutation(table[..., 0].size)[:1500]
    indices = np.stack(np.unravel_index(chosen, shape), -1)
    wanted, updates = table.copy(), rng.random((1500, 3))
    wanted[tuple(indices.T)] = updates
    assert same_bits(scatter(table, indices, updates, duplicates="raise"), wanted)
    indices[700] = indices[3] - shape
    with pytest.raises(dmlcore.DuplicateIndexError) as caught:
        scatter(table, indices, updates, duplicates="raise", out=table)
    assert (caught.value.first, caught.value.second) == ((3,), (700,)) and not table.any()


@pytest.mark.parametrize("value", ["first", "", None, 1])
def test_wrong_values(op, value, rng):
    drawn = random_call(op, rng, "INT32", "INT64")
    with pytest.raises((ValueError, TypeError), match=r"duplicates.*'last'.*'raise'"):
        call(op, drawn.arrays, drawn.options | {"duplicates": value})
