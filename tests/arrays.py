"""Random calls of any operator, drawn with nothing but its specification.

A call has arrays of natural rank that the rules accept; `Call.desc` is the same as a padded descriptor.
"""

from dataclasses import dataclass

import numpy as np
from layouts import LAYOUTS, lay_out, random_data
from specs import NEWEST, TYPES, numpy_type

from codegen.rules import evaluate
from codegen.validate import Names, TensorValue, product


def lay_out_inputs(call: "Call", rng, layouts=LAYOUTS) -> dict[str, np.ndarray]:
    """All arrays of a call, each in a layout that is drawn. Broadcast indices are zeros: any others might leave their
    bounds.
    """
    arrays = {}
    for name, a in call.arrays.items():
        arrays[name] = lay_out(a, rng, layouts)
        if name == index_parameter(call.op) and 0 in arrays[name].strides and a.size and not np.array_equal(arrays[name], a):
            arrays[name] = np.broadcast_to(np.zeros((), a.dtype), a.shape)
    return arrays


@dataclass
class Call:
    """Arrays by parameter, options by name, and the descriptor that says the same."""

    op: object
    arrays: dict[str, np.ndarray]
    options: dict[str, int]
    desc: dict[str, object]
    bounds: tuple[int, ...]

    @property
    def indices(self) -> np.ndarray | None:
        """The array of indices, if the operator has one."""
        return self.arrays.get(index_parameter(self.op))


def index_parameter(op) -> str | None:
    return op.member(op.kernel.indices).python if op.kernel.indices else None


def members_of_options(op) -> dict[str, str]:
    """Options of the array function that are numbers of the descriptor: option -> member."""
    names = {m.name for m in op.members}
    pairs = op.python.parameters.items()
    return {(v if k in names else k): (k if k in names else v) for k, v in pairs}


def describe(op, natural: dict[str, TensorValue], options: dict) -> dict:
    """Natural tensors and options as a descriptor with ones in front, as the specification's python block says."""
    python, given = op.python, {m: options.get(o, 0) for o, m in members_of_options(op).items()}
    uints = {m.name: options[m.python] for m in op.uints if m.kind == "axis"} | given
    count = evaluate(python.dimension_count, natural, Names(op, natural, uints)) if python.dimension_count else None
    desc = {}
    for m in op.uints:
        rule = python.members.get(m.name)
        if m.kind == "axis":
            rank = natural[m.axis_of].DimensionCount
            axis = uints[m.name] + (rank if uints[m.name] < 0 else 0)
            desc[m.name] = 2**63 - 1 if axis < 0 else axis + (0 if count is None else count - rank)
        elif m.name in given:
            desc[m.name] = given[m.name] if given[m.name] >= 0 else 2**63 - 1
        else:
            desc[m.name] = evaluate(rule if rule is not None else m.default, natural, Names(op, natural, uints))
    for name, tensor in natural.items():
        rank = tensor.DimensionCount
        ones = 0
        if count is not None:
            ones = count - (evaluate(python.ranks[name], natural, Names(op, natural, uints)) if name in python.ranks else rank)
        sizes = (1,) * ones + tensor.sizes if ones >= 0 else tensor.sizes[-ones:]
        desc[name] = TensorValue(tensor.data_type, sizes)
    return desc


def rule_type(op, data_type: str) -> str:
    """What the rules take an extension for: they know DirectML's types alone."""
    return data_type if TYPES[data_type].value is not None else op.support[op.kernel.data][NEWEST.name].data_types[0]


def natural_sizes(op, member: str, sizes, natural: dict, numbers: dict) -> tuple[int, ...]:
    """Padded sizes without the ones in front of the natural rank."""
    rule = op.python.ranks.get(member)
    return sizes if rule is None else sizes[len(sizes) - max(0, evaluate(rule, natural, Names(op, natural, numbers))) :]


def _sizes(rng, max_size: int, count: int) -> tuple[int, ...]:
    """Where they may be large, 5 is as likely as 500: tensors of very different sizes along each dimension."""
    if max_size < 50:
        return tuple(int(n) for n in rng.integers(1, max_size + 1, count))
    sizes = np.exp(rng.uniform(0, np.log(max_size + 1), count)).astype(int)
    near = rng.random(count) < 0.2  # what limits are made of, and a little beside
    sizes[near] = np.minimum(max_size, np.exp2(np.round(np.log2(sizes[near]))) + rng.integers(-1, 2, near.sum())).astype(int)
    return tuple(int(n) for n in np.maximum(sizes, 1))


def _propose(rng, others: list[tuple], max_rank: int, max_size: int, empty: float) -> tuple[int, ...]:
    """Sizes of an input: at random, or like another one's with a change, or with its first sizes in common."""
    fresh = _sizes(rng, max_size, rng.integers(0 if rng.random() < 0.1 else 1, max_rank + 1))
    if rng.random() < empty:
        fresh = tuple(0 if rng.random() < 0.3 else n for n in fresh)
    how = rng.integers(3) if others else 0
    if how == 0:
        return fresh
    like = others[rng.integers(len(others))]
    if how == 1 and like:
        at = rng.integers(len(like))
        return (*like[:at], *_sizes(rng, max_size, 1), *like[at + 1 :])
    return (*like[: rng.integers(len(like) + 1)], *fresh)


def random_call(
    op,
    rng,
    data_type: str,
    index_type: str | None = None,
    max_rank=4,
    max_size=5,
    data=random_data,
    most=4000,
    empty=0.05,
    tries=10_000,
) -> Call:
    """A call that every rule of the array door accepts, with valid indices. `most`: elements of one tensor, sizes
    of zero taken for one; `empty`: how often sizes of zero are tried.
    """
    for _ in range(tries):
        natural, options = {}, {}
        for m in op.inputs:
            type_ = index_type if m.index else rule_type(op, data_type)
            if m.sizes is None:
                sizes = _propose(rng, [t.sizes for t in natural.values()], max_rank, max_size, empty)
                natural[m.name] = TensorValue(type_, sizes)
        for m in op.uints:
            if m.kind == "axis":
                rank = natural[m.axis_of].DimensionCount
                options[m.python] = int(rng.integers(-rank, rank)) if rank else 0
        for option in members_of_options(op):
            options[option] = int(rng.integers(0, max_rank))
        desc = describe(op, natural, options)
        numbers = {m.name: desc[m.name] for m in op.uints}
        for m in op.inputs:
            if m.sizes is not None:
                desc[m.name] = TensorValue(rule_type(op, data_type), evaluate(m.sizes, desc, Names(op, desc, numbers)))
                sizes = natural_sizes(op, m.name, desc[m.name].sizes, natural, numbers)
                natural[m.name] = TensorValue(rule_type(op, data_type), sizes)
        if op.violations(desc, NEWEST, "array"):
            continue
        arrays, bounds, full = {}, (), op.infer(desc)
        if any(product([max(1, n) for n in full[m.name].sizes]) > most for m in op.tensors):
            continue
        if "bounds" in op.kernel.fields:
            bounds = evaluate(op.kernel.fields["bounds"].expr, full, Names(op, full, numbers))
            if 0 in bounds and product(natural[op.kernel.indices].sizes):
                continue  # no index would be valid, also where there is nothing to move
        for m in op.inputs:
            shape, dtype = natural[m.name].sizes, numpy_type(index_type if m.index else data_type)
            arrays[m.python] = random_indices(op, rng, dtype, shape, bounds) if m.index else data(rng, dtype, shape)
        return Call(op, arrays, options, full, bounds)
    raise AssertionError(f"no valid call of {op.name} was found")


def random_indices(op, rng, dtype: np.dtype, shape, bounds) -> np.ndarray:
    """Indices within their bounds, negative ones too where the type has them."""
    limits = np.array(bounds if "coordinate_stride" in op.kernel.fields else bounds[:1])
    limits = np.maximum(limits, 1)
    low = -limits if dtype.kind == "i" else 0 * limits
    return rng.integers(low, limits, shape).astype(dtype) if np.prod(shape) else np.zeros(shape, dtype)


def data_types(op) -> list[str]:
    """Every data type that the array function takes as data."""
    member = op.kernel.data
    types = [*op.support[member][NEWEST.name].data_types, *op.python.data_types.get(member, ())]
    types += [name for name in TYPES if TYPES[name].value is None and numpy_type(name) is not None]
    return [name for name in dict.fromkeys(types) if numpy_type(name) is not None]


def index_types(op) -> list:
    """Every index type of the newest level; [None] where there are no indices."""
    return list(op.support[op.kernel.indices][NEWEST.name].data_types) if op.kernel.indices else [None]
