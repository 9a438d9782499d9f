"""The shape of an array function's result before it is called, from the generated rules of its descriptor."""

from .._generated.operators import CHECK
from .._generated.tables import OPERATORS
from .._generated.tools import TOOLS
from ..descs import TensorDesc
from ..graph import desc_class
from ..levels import NEWEST, POSITION
from ..vectors.natural import fact

__all__ = ["result_sizes"]


def result_sizes(operator: str, shapes: dict, options: dict) -> tuple[int, ...] | None:
    """Sizes of the result for inputs of these shapes; None where they have to be found by calling the function.

    What is wrong with the arguments is not told here; the function does that.
    """
    spec, tool = OPERATORS[operator], TOOLS[operator]
    inputs = {name: tuple(shapes[spec.parameters[name]]) for name, _, kind, _ in spec.members if kind == "input"}
    facts = {name: fact(TensorDesc("UINT8", sizes)) for name, sizes in inputs.items()}
    if any(len(sizes) > 8 or 0 in sizes for sizes in inputs.values()):
        return None
    numbers = {member: options.get(option, 0) for member, option in tool.option_of.items()}
    rank = tool.dimension_count(facts, numbers) if tool.dimension_count else None
    values = {}
    for name, keyword, kind, _ in spec.members:
        if kind == "input":
            own = inputs[name]
            values[keyword] = TensorDesc("UINT8", (1,) * ((rank or len(own)) - len(own)) + own)
        elif kind == "axis":
            own = len(inputs[spec.axes[name]])
            axis = options.get(spec.parameters.get(name, keyword), 0)
            values[keyword] = (axis + own if axis < 0 else axis) + (rank or own) - own
            if not -own <= axis < own:
                return None
        elif kind == "uint":
            values[keyword] = numbers[name] if name in numbers else tool.naturals[name](facts, numbers)
        if isinstance(values.get(keyword), int) and values[keyword] < 0:
            return None
    _, inferred, _ = CHECK[operator](desc_class(operator)(**values), POSITION[NEWEST])
    keyword = next(keyword for name, keyword, _, _ in spec.members if name == tool.returns)
    sizes = tuple(inferred[keyword][1])
    if tool.returns not in tool.ranks:
        return sizes
    own = tool.ranks[tool.returns](facts, numbers)
    return sizes[len(sizes) - own :] if 0 <= own <= len(sizes) else None
