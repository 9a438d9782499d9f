"""The way between a descriptor and what its operator means: natural arrays, the oracle's answer, the bounds of indices.

Everything that differs between operators stands in the generated tables; a descriptor comes in, arrays come out.
"""

import numpy as np

from .._generated import oracle
from .._generated.tables import DATA_TYPES, OPERATORS
from .._generated.tools import TOOLS
from ..descs import OperatorDesc, TensorDesc
from ..errors import TensorFact
from ..levels import NEWEST
from ..lists import packed
from ..validation import violated

__all__ = ["complete", "expected", "index_bounds", "natural_sizes"]


def fact(tensor: TensorDesc, sizes=None) -> TensorFact:
    """A tensor as rules see it, perhaps with other sizes."""
    sizes = tensor.sizes if sizes is None else sizes
    strides = packed(sizes) if tensor.strides is None or sizes is not tensor.sizes else tensor.strides
    return TensorFact(tensor.data_type_value, None, sizes, strides, desc=tensor)


def members(desc: OperatorDesc, *kinds: str) -> dict:
    """DirectML's name -> value of the members of these kinds."""
    return {name: getattr(desc, keyword) for name, keyword, kind in desc.MEMBERS if kind in kinds}


def complete(desc: OperatorDesc) -> OperatorDesc:
    """The descriptor with every member: outputs inferred, defaults written out."""
    _, inferred, uints = violated(desc, NEWEST)
    values = {}
    for _, keyword, kind in desc.MEMBERS:
        value = getattr(desc, keyword)
        if kind == "output" and value is None:
            number, sizes = inferred[keyword]
            value = TensorDesc(DATA_TYPES[number], sizes)
        values[keyword] = uints[keyword] if value is None and keyword in uints else value
    return type(desc)(**values)


def tensor_facts(desc: OperatorDesc) -> tuple[dict, dict]:
    """What rules are evaluated on: tensors and integers by DirectML's names. The descriptor is complete."""
    tensors = {name: fact(tensor) for name, tensor in members(desc, "input", "output").items()}
    return tensors, members(desc, "uint", "axis")


def natural_sizes(desc: OperatorDesc) -> dict[str, tuple[int, ...]]:
    """The sizes of each tensor without the ones that a descriptor has in front."""
    tool, (tensors, numbers) = TOOLS[desc.operator], tensor_facts(desc)
    sizes = {}
    for name, tensor in tensors.items():
        if name in tool.counted:
            count = numbers[tool.counted[name]]
            sizes[name] = tensor.Sizes[len(tensor.Sizes) - count :]
        elif name not in tool.ranks:
            sizes[name] = tensor.Sizes
    known = {
        name: fact(value, sizes[name]) for name, value in members(desc, "input", "output").items() if name in sizes
    }
    for name, rank in tool.ranks.items():
        count = rank(known, numbers)
        own = tensors[name].Sizes
        sizes[name] = (1,) * (count - len(own)) + own[max(len(own) - count, 0) :]
    return sizes


def arguments(desc: OperatorDesc) -> dict[str, int]:
    """The numbers of a descriptor as the array function takes them: axes of natural arrays, options."""
    tool, table, natural = TOOLS[desc.operator], OPERATORS[desc.operator], natural_sizes(desc)
    values = {}
    for name, keyword, kind in desc.MEMBERS:
        value = getattr(desc, keyword)
        if kind == "axis":
            padded = members(desc, "input")[table.axes[name]]
            values[table.parameters.get(name, keyword)] = value - (len(padded.sizes) - len(natural[table.axes[name]]))
        elif name in tool.option_of:
            values[tool.option_of[name]] = value
    return values


def meaning(desc: OperatorDesc, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """What the operator's meaning in NumPy makes of arrays in the descriptor's sizes: a natural array."""
    natural = natural_sizes(desc)
    inputs = [arrays[name].reshape(natural[name]) for name in members(desc, "input")]
    return np.asarray(getattr(oracle, TOOLS[desc.operator].oracle)(*inputs, **arguments(desc)))


def expected(desc: OperatorDesc, arrays: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """The outputs in the descriptor's sizes, and how many rows of each are defined, for outputs that have undefined
    ones (they are 0 here)."""
    tool, result = TOOLS[desc.operator], meaning(desc, arrays)
    outputs = members(desc, "output")
    main = outputs[tool.returns]
    if tool.rows is None:
        return {tool.returns: np.ascontiguousarray(result.reshape(main.sizes))}, {}
    count, columns = len(result), main.sizes[-1]
    rows = np.zeros((int(np.prod(main.sizes[:-1])), columns), main.dtype)
    rows[:count] = result[:, result.shape[1] - columns :]
    counter = outputs[tool.rows]
    values = {tool.rows: np.full(counter.sizes, count, counter.dtype), tool.returns: rows.reshape(main.sizes)}
    return {name: values[name] for name in outputs}, {tool.returns: count}


def index_bounds(desc: OperatorDesc) -> tuple[int, ...]:
    """The lengths of the dimensions that the coordinates of a tuple index; () for operators without indices."""
    tool = TOOLS[desc.operator]
    if tool.bounds is None:
        return ()
    tensors, numbers = tensor_facts(desc)
    return tuple(tool.bounds(tensors, OPERATORS[desc.operator].names(tensors, numbers)))


def layout(array: np.ndarray, tensor: TensorDesc) -> np.ndarray:
    """The buffer of a tensor: the elements where its strides put them, zeros in the gaps."""
    if tensor.strides is None:
        return np.ascontiguousarray(array).reshape(-1)
    reach = 1 + sum((n - 1) * s for n, s in zip(tensor.sizes, tensor.strides, strict=True))
    buffer = np.zeros(reach, array.dtype)
    strided(buffer, tensor)[...] = array
    return buffer


def strided(buffer: np.ndarray, tensor: TensorDesc) -> np.ndarray:
    """The elements of a tensor in its buffer."""
    if tensor.strides is None:
        return buffer[: int(np.prod(tensor.sizes, dtype=np.int64))].reshape(tensor.sizes)
    strides = tuple(s * buffer.itemsize for s in tensor.strides)
    return np.ndarray(tensor.sizes, buffer.dtype, buffer, 0, strides)


def free_tensors(operator: str) -> tuple[str, ...]:
    """The inputs whose data type no rule gives: a vector's combination of data types is one for each of them."""
    table = OPERATORS[operator]
    ruled = {check.member for check in table.checks if check.kind == "data-type"}
    return tuple(name for name, _, kind, _ in table.members if kind == "input" and name not in ruled)
