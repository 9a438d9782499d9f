"""Writes the two files that a new operator begins with: its specification and its kernel, with what is left to fill in.

Every value that only a person can know stands there as `TODO what belongs here`; load.py reports each of them, with its
line, until it is filled in. What spec/levels.yaml knows about the operator is filled in already.
"""

from pathlib import Path

from . import names
from .typed import TODO

SPECIFICATION = """\
# DML_OPERATOR_{operator}: every fact the project knows about it. spec/README.md explains keys and rules.
operator: {operator}
value: {todo} the value of {enum} in DirectML.h
introduced: {introduced}
summary: {todo} one sentence, what the operator does
description: |
  {todo} two to four sentences, in your own words
pseudocode: {todo} output[...] = ...

members:                                   # in the order of {struct}
  InputTensor:
    kind: input
    text: {todo} what the tensor holds
  IndicesTensor:
    kind: input
    index: true
    text: {todo} what the tensor holds
  OutputTensor:
    kind: output
    data_type: InputTensor.DataType
    sizes: {todo} a rule for the sizes, as IndicesTensor.Sizes
    text: {todo} what the tensor holds
  Axis:                                      # remove or rename; kind is axis or uint
    kind: axis
    text: {todo} what the number means

{support}
constraints:
  - id: Axis-range
    member: Axis
    rule: Axis < InputTensor.DimensionCount
    text: Axis names a dimension of InputTensor.
    broken_by: {{Axis: 2}}                   # the smallest change to the first example that breaks this rule alone

kernel:
  T: storage(InputTensor)                  # what src/dmlcore/kernels/{snake}.h moves
  I: type(IndicesTensor)                   # how it reads an index
  plan: move                               # core/kernel.h explains the fields
  fields:
    positions: {todo} the sizes of the array of index tuples
    index_strides: {todo} strides of IndicesTensor, one for each position dimension
    stream_strides: {todo} strides of OutputTensor, one for each position dimension
    bounds: {todo} the lengths of the dimensions that a tuple indexes
    steps: {todo} the strides of InputTensor along those dimensions
  table: InputTensor                       # the side that the indices address
  stream: OutputTensor                     # the side that is walked in order

python:
  function: {snake}
  options: [mode, fill_value, out, num_threads]

examples:                                  # the first one is what every broken_by changes
  - id: example-1
    from: {example_from}
    text: {todo} what the example shows
    desc:
      InputTensor: {{data_type: FLOAT32, sizes: [2, 2], data: [[1, 2], [3, 4]]}}
      IndicesTensor: {{data_type: UINT32, sizes: [2, 2], data: [[1, 0], [0, 1]]}}
      OutputTensor: {{data_type: FLOAT32, sizes: [2, 2], data: {todo} the result}}
      Axis: 0

numpy: |
  def {snake}(input, indices, axis=0):
      raise NotImplementedError("{todo} the same in NumPy; it is the oracle of the tests")

behaviour:
  out_of_range: {todo} what DirectML documents about indices that are out of range

sources:
  - {todo} repository@commit:path of the page or header
"""

SUPPORT = """\
support:                                   # a level inherits, cell by cell, from the one below it; to be checked
  {level}:
    InputTensor:   {{dimensions: {dimensions}, data_types: [{data}]}}
    IndicesTensor: {{dimensions: {dimensions}, data_types: [{indices}]}}
    OutputTensor:  {{dimensions: {dimensions}, data_types: [{data}]}}
"""

SUPPORT_LATER = """\
  FL3.0:
    InputTensor:   {dimensions: 1 to 8}
    IndicesTensor: {dimensions: 1 to 8, data_types: [INT64, INT32, UINT64, UINT32]}
    OutputTensor:  {dimensions: 1 to 8}
"""

DATA = "FLOAT32, FLOAT16, INT32, INT16, INT8, UINT32, UINT16, UINT8"

KERNEL = """\
/* {snake}.h: {todo} what one step of the loop does.
 * Included by _generated/loops.inc for each storage class T, index width I and instruction set. */

static int LOOP({snake})(const dml_plan *plan, dml_worker *worker, int64_t begin, int64_t end)
{{
    return GATHER_BOXES(plan, worker, begin, end); /* {todo} or SCATTER_BOXES, or a walk of its own, see core/walk.h */
}}
"""


def new_files(operator: str, introduced: str | None) -> dict[str, str]:
    """The two files of a new operator, by their paths from the root of the project."""
    level = introduced or "FL3.0"
    early = float(names.level_number(level)) < 3  # before FL3.0: four dimensions, UINT32 indices
    dimensions, indices = ("4", "UINT32") if early else ("1 to 8", "INT64, INT32, UINT64, UINT32")
    support = SUPPORT.format(level=level, dimensions=dimensions, data=DATA, indices=indices)
    values = {
        "operator": operator,
        "snake": names.operator_snake(operator),
        "enum": names.enum_name(operator),
        "struct": names.struct_name(operator),
        "introduced": level,
        "example_from": "FL3.0" if early else level,
        "support": support + (SUPPORT_LATER if early else ""),
        "todo": TODO,
    }
    specification = SPECIFICATION.format(**values)
    if introduced is None:
        specification = specification.replace(
            "introduced: FL3.0", f"introduced: {TODO} the first level that has it, as FL3.0", 1
        )
    return {
        f"spec/operators/{values['snake']}.yaml": specification,
        f"src/dmlcore/kernels/{values['snake']}.h": KERNEL.format(**values),
    }


def write_new(root: Path, operator: str, introduced: str | None) -> list[str]:
    """Writes those that are missing, and returns their paths; refuses when the specification exists already."""
    files = new_files(operator, introduced)
    specification = next(iter(files))
    if (root / specification).exists():
        raise FileExistsError(f"{specification} exists already; edit it, or remove it first")
    missing = [path for path in files if not (root / path).exists()]
    for path in missing:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(files[path], encoding="utf-8", newline="\n")
    return missing
