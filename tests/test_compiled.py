"""Compiled operators: which arrays may be bound, strides and flat buffers, outputs that nobody asked to be written,
pickling.

Binding compares arrays with the descriptor alone; its rules were checked when it was compiled.
"""

import pickle

import numpy as np
import pytest
from arrays import random_call
from oracle import call, same_bits
from specs import MODES, NEWEST, OPERATORS, numpy_type, product_desc, without_outputs

import dmlcore
from dmlcore import TensorDesc

operators = pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)


def valid_call(op, rng, data_type="INT32"):
    """A call that is a valid descriptor too, its arrays padded."""
    while True:
        drawn = random_call(op, rng, data_type, "INT64" if op.kernel.indices else None, max_rank=3, max_size=4)
        if not op.violations(drawn.desc, NEWEST):
            return drawn, [drawn.arrays[m.python].reshape(drawn.desc[m.name].sizes) for m in op.inputs]


def first(result):
    return result[-1] if isinstance(result, tuple) else result


@operators
def test_wrong_arrays(op, rng):
    drawn, arrays = valid_call(op, rng)
    run = dmlcore.compile(product_desc(op, without_outputs(op, drawn.desc)))
    with pytest.raises(TypeError, match="array"):
        run(*arrays[1:])
    for i, m in enumerate(op.inputs):
        for wrong, error in (
            (arrays[i].astype(np.float64), TypeError),
            (arrays[i][..., None], ValueError),
            (arrays[i].astype(arrays[i].dtype.newbyteorder()), ValueError),
        ):
            with pytest.raises(error, match=rf"\b{m.python}\b"):
                run(*arrays[:i], wrong, *arrays[i + 1 :])
    results = run(*arrays)
    outputs = results if isinstance(results, tuple) else (results,)
    for i, m in enumerate(op.outputs):
        read_only = outputs[i].copy()
        read_only.flags.writeable = False
        for wrong in (outputs[i][..., None].copy(), outputs[i].astype("f8"), read_only, outputs[i].tolist()):
            out = (*(o.copy() for o in outputs[:i]), wrong, *(o.copy() for o in outputs[i + 1 :]))
            with pytest.raises((TypeError, ValueError), match=rf"\b{m.python}\b"):
                run(*arrays, out=out if len(out) > 1 else out[0])
    with pytest.raises((TypeError, ValueError)):
        run(*arrays, out=(*outputs, outputs[0]))


@operators
def test_compiled_operators_as_values(op, rng):
    drawn, arrays = valid_call(op, rng)
    for mode in MODES[op.name] if op.kernel.indices else ["raise"]:
        run = dmlcore.compile(product_desc(op, drawn.desc), mode=mode)
        again = pickle.loads(pickle.dumps(run))
        assert (again.desc, again.mode, again.feature_level) == (run.desc, run.mode, run.feature_level)
        assert same_bits(first(again(*arrays)), first(run(*arrays)))
        assert op.name in repr(run)
    with pytest.raises(ValueError, match="raise"):
        dmlcore.compile(product_desc(op, drawn.desc), mode="wrap")


@operators
def test_strides(op, rng):
    """A tensor with strides takes an array with those strides, or a flat buffer; nothing between the elements is
    written.
    """
    for _ in range(20):
        drawn, arrays = valid_call(op, rng)
        wanted = dmlcore.compile(product_desc(op, drawn.desc))(*arrays)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        tensors, buffers, views = {}, [], []
        for m in op.tensors:
            sizes, data_type = drawn.desc[m.name].sizes, drawn.desc[m.name].data_type
            strides, step = [], 1
            for size in reversed(sizes):
                step *= int(rng.integers(1, 3))
                strides.insert(0, step)
                step *= size
            tensor = tensors[m.python] = TensorDesc(data_type, sizes, strides, guaranteed_base_offset_alignment=0)
            buffers.append(np.full(tensor.total_tensor_size_in_bytes, 0x55, np.uint8))
            views.append(np.ndarray(sizes, tensor.dtype, buffers[-1], 0, [s * tensor.dtype.itemsize for s in strides]))
        for view, array in zip(views, arrays, strict=False):
            view[...] = array
        desc = product_desc(op, drawn.desc)
        run = dmlcore.compile(type(desc)(**{k: tensors.get(k, getattr(desc, k)) for _, k, _ in desc.MEMBERS}))
        n = len(op.inputs)
        for inputs in (views[:n], buffers[:n]):
            for buffer in buffers[n:]:
                buffer[...] = 0x55
            out = tuple(buffers[n:])
            run(*inputs, out=out if len(out) > 1 else out[0])
            for m, view, result in zip(op.outputs, views[n:], wanted, strict=True):
                rows = int(first(wanted[:1]).item()) if op.python.rows and m.name == op.python.returns else None
                assert (
                    np.array_equal(view[..., :rows, :], result[..., :rows, :])
                    if rows is not None
                    else np.array_equal(view, result)
                )
            touched = [np.zeros_like(b) for b in buffers[n:]]
            for m, mask in zip(op.outputs, touched, strict=True):
                tensor = tensors[m.python]
                strides = [s * tensor.dtype.itemsize for s in tensor.strides]
                np.ndarray((*tensor.sizes, tensor.dtype.itemsize), np.uint8, mask, 0, (*strides, 1))[...] = 1
            assert all((b[mask == 0] == 0x55).all() for b, mask in zip(buffers[n:], touched, strict=True))
        packed = [np.ascontiguousarray(v) for v in views[:n]]
        if any(p.strides != v.strides and p.size > 1 for p, v in zip(packed, views, strict=False)):
            try:
                run(*packed)
            except ValueError as error:
                assert "strides" in str(error)


@operators
def test_outputs_that_share_addresses(op):
    """An output with overlapping strides cannot be compiled, an input can."""
    for m in op.outputs:
        example = next((e for e in op.examples if np.prod(e.desc[m.name].sizes) > 1), None)
        if example is None:
            continue
        desc = product_desc(op, example.desc)
        tensor = getattr(desc, m.python)
        broadcast = TensorDesc(tensor.data_type, tensor.sizes, (0,) * len(tensor.sizes))
        with pytest.raises(ValueError, match=m.name):
            dmlcore.compile(type(desc)(**{k: getattr(desc, k) for _, k, _ in desc.MEMBERS} | {m.python: broadcast}))


@pytest.mark.parametrize("op", [op for op in OPERATORS if op.python.rows], ids=lambda op: op.name)
def test_rows_behind_the_count(op, rng):
    """Untouched in the caller's array, zero in one of ours; the outputs must not share memory."""
    for _ in range(30):
        drawn, arrays = valid_call(op, rng)
        run = dmlcore.compile(product_desc(op, without_outputs(op, drawn.desc)))
        count, coordinates = run(*arrays)
        found = call(op, drawn.arrays, drawn.options)
        flat = coordinates.reshape(-1, coordinates.shape[-1])
        assert count.item() == len(found) and np.array_equal(flat[: len(found)], found) and not flat[len(found) :].any()
        out = (np.full_like(count, 77), np.full_like(coordinates, 77))
        results = run(*arrays, out=out)
        assert results[0] is out[0] and results[1] is out[1] and np.array_equal(out[0], count)
        flat = out[1].reshape(-1, coordinates.shape[-1])
        assert np.array_equal(flat[: len(found)], found) and (flat[len(found) :] == 77).all()
    buffer = np.zeros(64, np.uint32)
    run = dmlcore.compile(product_desc(op, without_outputs(op, op.examples[0].desc)))
    shapes = [op.infer(without_outputs(op, op.examples[0].desc))[m.name].sizes for m in op.outputs]
    shared = tuple(buffer[: np.prod(shape)].reshape(shape) for shape in shapes)
    inputs = [np.zeros(op.examples[0].desc[m.name].sizes, numpy_type(op.examples[0].desc[m.name].data_type)) for m in op.inputs]
    with pytest.raises(ValueError, match="share memory"):
        run(*inputs, out=shared)


def test_a_flat_buffer_may_have_the_shape_of_the_sizes():
    """A buffer of bytes is one also where it looks like the tensor but for its data type."""
    desc = dmlcore.GatherElementsDesc(
        input=dmlcore.TensorDesc("INT8", (4,), (1,)), indices=dmlcore.TensorDesc("INT32", (4,)), axis=0
    )
    buffer = np.array([1, 2, 255, 4], np.uint8)
    result = dmlcore.compile(desc)(buffer, np.array([3, 2, 1, 0], np.int32))
    assert result.dtype == np.int8 and result.tolist() == [4, -1, 2, 1]
