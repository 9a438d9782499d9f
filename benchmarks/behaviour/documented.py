"""What cannot be asked: DirectML's documentation, options of other engines, and answers that were measured earlier.

DirectML's types come from the specifications of this project; the sentences are ours, the sources stand on the operator pages.
"""

# ruff: noqa: E501  rows of tables are as long as they are

from dmlcore._generated import tables
from dmlcore._generated.enums import NUMPY_TYPES

OUT_OF_RANGE = {
    "gather": "wrong elements, no failure, no read outside the input; said to clamp",
    "gather_elements": "not documented; said to clamp",
    "gather_nd": "not documented; said not to read outside the input",
    "scatter_elements": "not documented; never writes outside the output",
    "scatter_nd": "not documented; never writes outside the output",
}

OPTIONS = {
    ("numpy", "gather"): "`np.take(mode=)` also has `clip` (a negative index becomes 0) and `wrap`",
    ("jax", "gather"): "`jnp.take(mode=)`: `fill`, `clip`, `wrap`",
    ("jax", "gather_elements"): "`mode=`: `fill`, `clip`, `promise_in_bounds`",
    ("jax", "gather_nd"): "`x.at[].get(mode=)`: `clip`, `fill`, `promise_in_bounds`",
    ("jax", "scatter_elements"): "`mode=`: `drop`, `clip`, `promise_in_bounds`",
    ("jax", "scatter_nd"): "`x.at[].set(mode=)`: `drop`, `clip`, `promise_in_bounds`",
}

MODES = """With `mode="raise"`, the default, nothing has been written when the error comes. A negative index counts from the end in
every mode, if its type is signed; `clip` takes the nearest valid index, 0 for one below -n. Never is memory outside the arrays
read or written. Elsewhere in the table: what index n does by default, and what can be asked for instead."""

BATCH = """## Batch dimensions

| | gather_nd |
| --- | --- |
| **dmlcore** | `batch_dims=`, any number (GATHER_ND1's BatchDimensionCount) |
| DirectML | GATHER_ND1, from feature level 3.0 |
| ONNX Runtime | `GatherND`'s `batch_dims` |
| TensorFlow | `tf.gather_nd(batch_dims=)` |
| NumPy, PyTorch | by hand: an `arange` for each batch dimension among the index arrays |
| JAX | by hand, or with `jax.vmap` |

Off the axis, the indices of gather_elements and scatter_elements have the sizes of the input in DirectML. ONNX lets them be
smaller, as do PyTorch and dmlcore's array functions; dmlcore's descriptors keep DirectML's rule."""

EARLIER = """## Engines that were asked earlier

Answers of OpenVINO 2026.4.1 and TensorFlow 2.21 on the CPU of a Linux x86_64 machine; `python -m benchmarks.behaviour`
does not ask them again.

| | negative | one past the end | far out | below -n | uint32 indices | repeated | wrong or refused |
| --- | --- | --- | --- | --- | --- | --- | --- |
| OpenVINO | right | gather_elements and scatters raise; gather_nd reads other memory | gather_nd crashes | gather_nd reads other memory; others raise | gather_nd only | the same each time, not the last | wrong values for float64 and int64 data |
| TensorFlow | raises | raises (`bad_indices_policy` can give zeros) | raises | raises | refused | the last stays | nonzero refuses float16 and takes subnormal float32 for zero |"""

ONNX = """## dmlcore.onnx and ONNX's own implementation

`dmlcore.onnx.OPS` takes the place of ONNX's reference implementation of these operators in `ReferenceEvaluator`. The answers
are the same, with these exceptions; dmlcore's side of each has a test:

| ONNX 1.23 | dmlcore |
| --- | --- |
| GatherElements takes no negative axis (but -1 is a common one), and only up to 64 places along the axis or less | takes both |
| GatherElements refuses indices that are smaller than the data off the axis, which ONNX's text allows | computes them |
| GatherElements wraps an index that is out of range around, without a word | `IndexOutOfRangeError` |
| ScatterElements with min and max keeps or drops a NaN by its place; ScatterND propagates it; ONNX's text is silent | propagates it in both, as `numpy.maximum.at` does |
| Scatter, the operator of opset 9, has no implementation | the same as ScatterElements |
| the scatters cut a fixed-width string to the data's width | keeps it whole |
| ScatterND broadcasts updates of the wrong shape | `ConstraintError` |

Types that dmlcore does not take (strings, 4-bit types; reductions of bool, complex and bfloat16) are handed to ONNX's
implementation."""


def _numpy_names(operator: str, tensor: str) -> list[str]:
    """The data types of a tensor at the newest feature level, in NumPy's words."""
    levels = _TABLES[operator].support[tensor]
    names = levels[max(levels)][0]
    return [str(NUMPY_TYPES[name]) for name in names]


def types(operator: str, tensor: str) -> str:
    """A cell with the data types that DirectML's page lists."""
    return ", ".join(sorted(_numpy_names(operator, tensor), key=_order))


def _order(name: str):
    return (["i", "u", "f"].index(name[0]), int("".join(c for c in name if c.isdigit())))


def directml(operator: str) -> list[str]:
    """DirectML's row: what its documentation says of an operator."""
    bad = OUT_OF_RANGE[operator]
    cells = [
        types(operator, "InputTensor"),
        types(operator, "IndicesTensor"),
        "from feature level 3.0, signed types",
        bad,
        "the same",
        "the same",
        "the same",
    ]
    return cells + (["not defined"] if operator.startswith("scatter") else [])


_TABLES = {entry.function: entry for entry in reversed(list(tables.OPERATORS.values()))}
