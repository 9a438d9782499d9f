"""Tables, and rows of tables, that vector registers hold: one and two of them, four of single bytes, and a little more; by few
and by many indices. Against NumPy's own functions; an index that is out of range is found whatever it is and wherever.
"""

import itertools

import numpy as np
import pytest
from moves import both_outputs, numbers
from oracle import same_bits

import dmlcore

DTYPES = ("uint8", "float16", "float32", "float64")
INDICES = ("int32", "int64", "uint32", "uint64")
ISAS = pytest.mark.parametrize("isa", ("avx2", "avx512", "avx512-gathers", "avx512-granite"), indirect=True)


def chosen(rng, n, shape, index):
    """Indices of a dimension of n, from its end as well where the type has a sign."""
    return rng.integers(-n if index[0] == "i" else 0, n, shape).astype(index)


def out_of_range(n, index):
    """Just beyond, as far as the type goes, and, of eight bytes, such that half of them would be in range."""
    info, signed = np.iinfo(index), index[0] == "i"
    yield from (n, info.max, *((-n - 1, info.min) if signed else ()))
    if info.bits == 64:
        yield from (2**32, 2**32 - 1, (5 << 32) + n - 1, *((-(2**32), -(2**32) - 1) if signed else (2**63,)))


@ISAS
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_tables(rng, each_way, isa, dtype, index):
    """Few indices and many; the last ones fill no register."""
    for n in (1, 2, 8, 16, 17, 32, 33, 64, 65, 128, 129, 200, 256, 257):
        table = numbers(rng, n, dtype)
        for count in (13, 63, 64, 257, 2049, 5003, 20_011):
            indices = chosen(rng, n, count, index)
            both_outputs(dmlcore.gather, table, indices, wanted=table[indices.astype("int64")])
        indices, out = chosen(rng, n, (3, 1100), index), np.full((3, 1100), 7, dtype)
        for bad in out_of_range(n, index):
            for count in (300, 3300):
                place = rng.integers(count)
                broken = indices.reshape(-1)[:count].copy()
                broken[place] = bad
                for result in (None, out.reshape(-1)[:count]):
                    with pytest.raises(dmlcore.IndexOutOfRangeError, match=rf"\[{place}\] .* is {bad},"):
                        dmlcore.gather(table, broken, out=result)
        assert (out == 7).all()


@pytest.mark.one_in(2)
@ISAS
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows(rng, each_way, isa, dtype, index):
    """Rows of indices for rows of the table that follow each other or have others between them, few and many."""
    for n in (1, 7, 16, 33, 64, 65, 128, 130, 256, 257):
        for length in (1, 8, 20, 31, 63, 64, 65, 130):
            for rows in (3, 70):
                wide = numbers(rng, (rows, n + 5), dtype)
                indices = chosen(rng, n, (rows, length), index)
                wider = np.full((rows, length + 3), 2**31 - 1, index)
                parts = wider[:, 1:-2]
                parts[...] = indices
                for table in (wide[:, :n], wide[:, :n].copy()):
                    wanted = np.take_along_axis(table, indices.astype("int64"), 1)
                    both_outputs(dmlcore.gather_elements, table, indices, 1, wanted=wanted)
                    both_outputs(dmlcore.gather_elements, table, parts, 1, wanted=wanted)
                    out = np.zeros((rows, length + 1), dtype)
                    dmlcore.gather_elements(table, parts, 1, out=out[:, :-1])
                    assert same_bits(out[:, :-1], wanted) and not out[:, -1].any()
        for bad in out_of_range(n, index):
            table, indices = numbers(rng, (40, n), dtype), chosen(rng, n, (40, 50), index)
            row, place = rng.integers((40, 50))
            indices[row, place] = bad
            wider, out = np.full((40, 53), 2**31 - 1, index), np.full((40, 50), 7, dtype)
            wider[:, 1:-2] = indices
            for result, given in itertools.product((None, out), (indices, wider[:, 1:-2])):
                with pytest.raises(dmlcore.IndexOutOfRangeError, match=rf"\[{row}, {place}\] .* is {bad},"):
                    dmlcore.gather_elements(table, given, 1, out=result)
            assert (out == 7).all()
