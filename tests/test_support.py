"""The support tables: every level x tensor x data type x rank is accepted exactly when its table says so.

The compiled answer is compared with the table's cell, and with the validator that codegen has in Python.
"""

import pytest
from specs import NEWEST, OPERATORS, SPEC, product_desc, rules, without_outputs

import dmlcore
from codegen.validate import TensorValue

RANKS = range(10)


@pytest.mark.parametrize("level", SPEC.levels, ids=lambda level: level.name)
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_each_tensor_alone(op, level):
    """One tensor of an example gets another data type and rank; its own two ids tell what its table thinks of that."""
    example = op.examples[0]
    known = [name for name in SPEC.data_types]
    for m in op.tensors:
        cell = op.support[m.name].get(level.name)
        for data_type in known:
            for rank in RANKS:
                desc = {**example.desc, m.name: TensorValue(data_type, (1,) * rank)}
                found = rules(dmlcore.check(product_desc(op, desc), level.name))
                where = f"{m.name} {data_type} rank {rank}: {found}"
                assert (f"{op.name}-FeatureLevel-support" in found) == (cell is None), where
                type_refused = f"{op.name}-{m.name}-DataType-support" in found
                rank_refused = f"{op.name}-{m.name}-DimensionCount-support" in found
                assert type_refused == (cell is not None and data_type not in cell.data_types), where
                assert rank_refused == (cell is not None and not cell.dims_min <= rank <= cell.dims_max), where
                assert found == op.violations(desc, level), where


def padded(op, desc, rank):
    """The inputs of a desc with ones in front up to a rank, axes moved along."""
    out = {}
    for m in op.members:
        value = desc.get(m.name)
        if m.kind == "input":
            out[m.name] = TensorValue(value.data_type, (1,) * (rank - len(value.sizes)) + value.sizes)
        elif m.kind == "axis":
            out[m.name] = value + rank - desc[m.axis_of].DimensionCount
        elif value is not None and m.kind == "uint":
            out[m.name] = value
    return out


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_whole_descriptors(op):
    """An example in every data type, index type and higher rank is valid at exactly the levels whose tables say so."""
    accepted = 0
    for example in op.examples[:2]:
        smallest = max(len(example.desc[m.name].sizes) for m in op.inputs)
        for rank in range(smallest, 10):
            base = padded(op, without_outputs(op, example.desc), rank)
            for data_type in SPEC.data_types:
                for index_type in SPEC.data_types if op.kernel.indices else [None]:
                    desc = {
                        m.name: TensorValue(index_type if m.index else data_type, base[m.name].sizes)
                        if m.kind == "input"
                        else base[m.name]
                        for m in op.members
                        if m.name in base
                    }
                    accepted += compare_levels(op, desc)
    assert accepted


def compare_levels(op, desc) -> int:
    full, accepted = op.infer(desc), 0
    product = product_desc(op, desc)
    for level in {op.introduced, *op.support_rows, NEWEST, SPEC.levels[op.introduced.position - 1]}:
        cells = [op.support[m.name].get(level.name) for m in op.tensors]
        wanted = level.position >= op.introduced.position and all(
            cell is not None
            and full[m.name].data_type in cell.data_types
            and cell.dims_min <= full[m.name].DimensionCount <= cell.dims_max
            for m, cell in zip(op.tensors, cells, strict=True)
        )
        found = rules(dmlcore.check(product, level.name))
        if wanted and found:  # a rule of this level alone may refuse what the tables take
            wanted = not set(found) <= {c.id for c in op.constraints if c.active(level) and (c.from_ or c.before)}
        assert (found == []) == wanted, (level.name, desc, found)
        accepted += wanted
    return accepted
