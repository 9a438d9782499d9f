"""Every (data type x index type) pair that the array functions take, on random shapes and memory layouts, against two
oracles: the specification's NumPy and plain loops. Results are compared byte for byte, so that NaN payloads and -0.0
count.
"""

import numpy as np
import pytest
from arrays import data_types, index_parameter, index_types, lay_out_inputs, random_call
from layouts import LAYOUTS, WRITABLE, lay_out, plain_data
from oracle import LOOPS, call, from_spec, same_bits
from specs import NEWEST, OPERATORS, TYPES, numpy_type, product_desc

import dmlcore

PAIRS = [(op, d, i) for op in OPERATORS for d in data_types(op) for i in index_types(op)]
TURNS = 10


def pair_id(pair) -> str:
    return "-".join(str(getattr(part, "name", part)) for part in pair if part)


def expected(op, call_, arrays):
    """The result of the loops, which must agree with the specification's NumPy."""
    plain = [np.array(a) for a in arrays.values()]
    with np.errstate(invalid="ignore"):
        meant = from_spec(op)(*plain, **call_.options)
    if op.python.function in LOOPS:
        assert same_bits(np.asarray(meant), LOOPS[op.python.function](*plain, **call_.options)), "the two oracles disagree"
    return np.asarray(meant)


@pytest.mark.parametrize("pair", PAIRS, ids=pair_id)
def test_array_door(pair, rng, each_way):
    op, data_type, index_type = pair
    for _ in range(TURNS if TYPES[data_type].value is not None else 3):
        drawn = random_call(op, rng, data_type, index_type)
        arrays = lay_out_inputs(drawn, rng)
        before = {name: a.tobytes() for name, a in arrays.items()}
        wanted = expected(op, drawn, arrays)
        result = call(op, arrays, drawn.options)
        facts = {name: (a.shape, a.strides, a.dtype) for name, a in arrays.items()}
        assert same_bits(result, wanted), facts
        assert result.flags.c_contiguous and result.flags.owndata
        assert {name: a.tobytes() for name, a in arrays.items()} == before, "an input has changed"
        if "out" in op.python.options:
            out = lay_out(np.zeros(wanted.shape, wanted.dtype), rng, WRITABLE)
            result = call(op, arrays, drawn.options, out=out)
            assert result is out or (op.python.rows and np.may_share_memory(result, out)) or not out.size
            assert same_bits(np.array(out), wanted), (facts, out.strides)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_each_layout(op, layout, rng, each_way):
    """Each layout for each array in turn, at ranks and sizes where whole rows move, in every width."""
    for data_type in data_types(op)[::2]:
        drawn = random_call(op, rng, data_type, index_types(op)[0], max_rank=5, max_size=9)
        changed = lay_out_inputs(drawn, rng, {layout: LAYOUTS[layout]})
        for name in [*drawn.arrays, None]:
            arrays = {n: changed[n] if name in (n, None) else a for n, a in drawn.arrays.items()}
            assert same_bits(call(op, arrays, drawn.options), expected(op, drawn, arrays)), name


DESCRIPTOR_PAIRS = [(op, d, i) for op, d, i in PAIRS if d in op.support[op.kernel.data][NEWEST.name].data_types]


def strided(rng, array):
    """(an array with the same values and gaps between them, its strides in elements)."""
    gaps = [int(g) for g in rng.integers(1, 3, array.ndim)]
    stored = np.zeros([n * g for n, g in zip(array.shape, gaps, strict=True)], array.dtype)
    view = stored[(*(slice(None, None, g) for g in gaps), ...)]
    view[...] = array
    return view, tuple(s // array.itemsize for s in view.strides)


@pytest.mark.parametrize("pair", DESCRIPTOR_PAIRS, ids=pair_id)
def test_descriptor_door(pair, rng, each_way):
    """The same calls as descriptors, with ones in front, packed or with strides."""
    op, data_type, index_type = pair
    ran = 0
    for _ in range(TURNS):
        drawn = random_call(op, rng, data_type, index_type)
        if op.violations(drawn.desc, NEWEST):
            continue  # an extension of the array functions
        wanted = expected(op, drawn, drawn.arrays)
        arrays = [drawn.arrays[m.python].reshape(drawn.desc[m.name].sizes) for m in op.inputs]
        desc = {m.name: drawn.desc[m.name] for m in op.members if m.kind != "output"}
        packed = product_desc(op, desc)
        compare(op, dmlcore.compile(packed)(*arrays), wanted)
        views = [strided(rng, a) for a in arrays]
        keywords = [m.python for m in op.inputs]
        values = {k: getattr(packed, k) for _, k, _ in packed.MEMBERS}
        values |= {
            k: dmlcore.TensorDesc(values[k].data_type, values[k].sizes, s) for k, (_, s) in zip(keywords, views, strict=True)
        }
        compare(op, dmlcore.compile(type(packed)(**values))(*(v for v, _ in views)), wanted)
        ran += 1
    assert ran or index_type is None


def compare(op, results, wanted) -> None:
    """The descriptor's result is padded with ones; of coordinates only the first rows count."""
    if op.python.rows:
        names = [m.name for m in op.outputs]
        rows = int(results[names.index(op.python.rows)].item())
        found = results[names.index(op.python.returns)]
        found = found.reshape(-1, found.shape[-1])
        assert rows == len(wanted) and not found[rows:].any()
        assert np.array_equal(found[:rows], wanted)
    else:
        assert same_bits(results.reshape(wanted.shape), wanted)


@pytest.mark.parametrize("op", [op for op in OPERATORS if op.kernel.indices], ids=lambda op: op.name)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "longlong", "ulonglong"])
def test_other_integer_indices(op, dtype, rng, each_way):
    """Narrow integers are converted; NumPy's second 64-bit integers are the same type to us."""
    for _ in range(TURNS):
        drawn = random_call(op, rng, data_types(op)[0], "INT64" if np.dtype(dtype).kind == "i" else "UINT64")
        arrays = drawn.arrays | {index_parameter(op): drawn.indices.astype(dtype)}
        assert same_bits(call(op, arrays, drawn.options), call(op, drawn.arrays, drawn.options))


def test_every_type_is_covered(each_way):
    """No data type of any table is left out, except those that NumPy does not have."""
    for op in OPERATORS:
        listed = {t for t in op.support[op.kernel.data][NEWEST.name].data_types}
        assert {d for o, d, _ in PAIRS if o is op} >= {t for t in listed if numpy_type(t) is not None}
        assert "BOOL" not in TYPES or "BOOL" in {d for o, d, _ in PAIRS if o is op}


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_larger(op, rng, each_way):
    """Sizes beyond one block of indices, with plain data."""
    for data_type in data_types(op):
        drawn = random_call(op, rng, data_type, index_types(op)[-1], max_rank=3, max_size=40, data=plain_data)
        assert same_bits(
            call(op, drawn.arrays, drawn.options), np.asarray(from_spec(op)(*drawn.arrays.values(), **drawn.options))
        )
