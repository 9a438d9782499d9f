"""Every example of every operator, through the descriptor door and the array door.

Values that an example calls undefined are not compared; examples that give sizes only are checked and inferred.
"""

import numpy as np
import pytest
from arrays import describe, index_parameter, members_of_options, natural_sizes
from oracle import call
from specs import EXAMPLES, NEWEST, OPERATORS, example_array, example_id, product_desc, without_outputs

import dmlcore
from codegen.validate import TensorValue

pytestmark = pytest.mark.parametrize("pair", EXAMPLES, ids=example_id)


def levels(example):
    return [example.from_, NEWEST]


def test_accepted_from_its_level_on(pair):
    op, example = pair
    desc = product_desc(op, example.desc)
    accepting = [level.name for level in op.levels if not dmlcore.check(desc, level.name)]
    assert accepting == [level.name for level in op.levels if level.position >= example.from_.position]
    assert dmlcore.minimum_feature_level(desc).name == example.from_.python_name


def test_outputs_are_inferred(pair):
    op, example = pair
    given = without_outputs(op, example.desc)
    assert dmlcore.check(product_desc(op, given), example.from_.name) == []
    operator = dmlcore.compile(product_desc(op, given), example.from_.name)
    inferred = {keyword: tensor for keyword, tensor in operator._outputs}
    for m in op.outputs:
        wanted = example.desc[m.name] if m.sizes is not None else op.infer(given)[m.name]
        tensor = inferred[m.python]
        assert (tensor.data_type, tensor.sizes) == (wanted.data_type, wanted.sizes), m.name


def outputs_fit(op, example, results):
    for m, result in zip(op.outputs, results, strict=True):
        values, defined = example_array(example.desc[m.name])
        assert result.dtype == values.dtype and result.shape == values.shape
        np.testing.assert_array_equal(result[defined], values[defined], m.name)


def test_descriptor_door(pair, each_way):
    op, example = pair
    if example.desc[op.inputs[0].name].data is None:
        return
    inputs = [example_array(example.desc[m.name])[0] for m in op.inputs]
    before = [a.copy() for a in inputs]
    for level in levels(example):
        operator = dmlcore.compile(product_desc(op, example.desc), level.name)
        results = operator(*inputs)
        results = results if isinstance(results, tuple) else (results,)
        outputs_fit(op, example, results)
        out = tuple(np.ones_like(r) for r in results)
        assert operator(*inputs, out=out if len(out) > 1 else out[0]) is not None
        outputs_fit(op, example, out)
    assert all(np.array_equal(a, b) for a, b in zip(inputs, before, strict=True))


def natural_arrays(op, desc):
    """The example at natural ranks: ones are dropped from the front of each input until the padded one is the desc
    again.
    """
    choices = {}
    for m in op.inputs:
        sizes = desc[m.name].sizes
        ones = next((d for d, size in enumerate(sizes) if size != 1), len(sizes))
        choices[m.name] = [sizes[n:] for n in range(ones + 1)]
    uints = {m.name: desc[m.name] for m in op.uints}
    options = {option: desc[member] for option, member in members_of_options(op).items()}
    wanted = {m.name: (desc[m.name].sizes) for m in op.inputs}

    def search(names, natural):
        if not names:
            chosen = dict(options)
            first = natural[op.inputs[0].name].DimensionCount
            for m in op.uints:
                if m.kind == "axis":
                    chosen[m.python] = desc[m.name] - desc[m.axis_of].DimensionCount
            padded = describe(op, natural, chosen)
            numbers = {n: padded[n] for n in uints}
            fits = numbers == uints and {n: padded[n].sizes for n in wanted} == wanted
            return (natural, chosen) if fits and first is not None else None
        name, *rest = names
        for sizes in choices[name]:
            found = search(rest, {**natural, name: TensorValue(desc[name].data_type, sizes)})
            if found:
                return found
        return None

    return search(list(wanted), {})


def test_array_door(pair, each_way):
    op, example = pair
    found = natural_arrays(op, op.infer(without_outputs(op, example.desc)))
    if found is None or example.desc[op.inputs[0].name].data is None:
        return  # a padding that natural shapes do not need
    natural, options = found
    arrays = {m.python: example_array(example.desc[m.name])[0].reshape(natural[m.name].sizes) for m in op.inputs}
    result = call(op, arrays, options)
    member = op.python.returns or op.outputs[0].name
    values, defined = example_array(example.desc[member])
    if op.python.rows:  # natural coordinates have a column for each dimension of the input; their values are all found
        count, _ = example_array(example.desc[op.python.rows])
        assert len(result) == count.item()
        columns = values.shape[-1]
        values, defined = values.reshape(-1, columns)[: len(result)], defined.reshape(-1, columns)[: len(result)]
        result = result[:, result.shape[1] - columns :] if result.shape[1] >= columns else np.pad(result, ((0, 0), (1, 0)))
    sizes = (
        values.shape
        if op.python.rows
        else natural_sizes(op, member, values.shape, natural, {m.name: example.desc[m.name] for m in op.uints})
    )
    assert result.shape == sizes and result.dtype == values.dtype
    np.testing.assert_array_equal(result[defined.reshape(sizes)], values.reshape(sizes)[defined.reshape(sizes)])


def test_some_example_reaches_each_door(pair):
    """The tests above return early for some examples; no operator may slip through all of them."""
    op, _ = pair
    with_data = [e for e in op.examples if e.desc[op.inputs[0].name].data is not None]
    assert with_data, f"{op.name} has no example with data"
    assert any(natural_arrays(op, op.infer(without_outputs(op, e.desc))) for e in with_data)
    assert op in OPERATORS and (op.kernel.indices is None or index_parameter(op))
