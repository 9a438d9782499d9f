"""Turns one slip at a time into the one line that must report it: file, line, what is wrong, what would be right."""

# ruff: noqa: E501
import pytest

ND, NZ, GE, SC = (f"operators/{name}.yaml" for name in ("gather_nd", "nonzero_coordinates", "gather_elements", "scatter_nd"))

# name: (file, old text, new text, lines below the start of the old text, parts of the message)
CASES = {
    "unknown key": (ND, "summary: G", "sumary: x\nsummary: G", 0, ["unknown key sumary", "did you mean summary?"]),
    "unknown nested key": (ND, "    index: true", "    indx: true", 0, ["unknown key indx in members.IndicesTensor", "did you mean index?"]),
    "unknown key without a likeness": (ND, "value: 108", "value: 108\nqqq: 1", 1, ["unknown key qqq", "allowed keys are operator, value"]),
    "duplicate key": (ND, "value: 108", "value: 108\nvalue: 109", 1, ["the key value stands twice (first in line 3)", "remove or rename"]),
    "missing key": (ND, "    text: At least the tuple dimension counts, and no more than there are.\n", "", -3, ["the key text is missing in constraints.2", "add text: ..."]),
    "missing key of the file": (ND, "value: 108\n", "", -1, ["the key value is missing in the file"]),
    "list for a text": (ND, "summary: Gathers", "summary: [Gathers]\n#", 0, ["summary is a list", "text is needed"]),
    "text for a list": (ND, "  options: [batch_dims, mode, fill_value, out, num_threads]", "  options: mode", 0, ['options is the text "mode"', "a list is needed"]),
    "not a number": (ND, "value: 108", "value: 1_08", 0, ['value is the text "1_08"', "a whole number is needed"]),
    "not a truth value": (ND, "    index: true", "    index: yes", 0, ["true or false is needed"]),
    "not dimensions": (NZ, "InputTensor:             {dimensions: 1 to 8}", "InputTensor: {dimensions: 8 to 1}", 0, ["8 to 1 is empty", "the smaller count comes first"]),
    "unknown kind": (ND, "  InputDimensionCount:\n    kind: uint", "  InputDimensionCount:\n    kind: unit", 1, ["kind is unit", "uint, axis is needed"]),
    "unknown level": (ND, "introduced: FL2.1", "introduced: FL2.2", 0, ["unknown feature level FL2.2", "did you mean FL2.1?"]),
    "unknown level of a row": (ND, "  FL4.1:\n", "  FL4.11:\n", 0, ["unknown feature level FL4.11", "did you mean FL4.1?"]),
    "unknown level of a rule": (NZ, "before: FL4.0 ", "before: FL9.0 ", 0, ["unknown feature level FL9.0"]),
    "unknown data type": (NZ, "OutputCountTensor:       {dimensions: 4 to 5, data_types: [UINT32]}", "OutputCountTensor: {dimensions: 4 to 5, data_types: [UINT23]}", 0, ["unknown data type UINT23", "did you mean UINT32?"]),
    "data type before its level": (ND, "    IndicesTensor: {dimensions: 4, data_types: [UINT32]}", "    IndicesTensor: {dimensions: 4, data_types: [UINT32, INT64]}", 0, ["INT64 does not exist at FL2.1", "remove it"]),
    "unknown tensor in a table": (ND, "    InputTensor:   {dimensions: 1 to 8}", "    InputTensro:   {dimensions: 1 to 8}", 0, ["unknown tensor InputTensro", "did you mean InputTensor?"]),
    "unknown member of a rule": (ND, "    member: InputDimensionCount", "    member: InputDimCount", 0, ["unknown member InputDimCount", "did you mean InputDimensionCount?"]),
    "unknown tensor in a rule": (ND, "  IndexTupleSize: IndicesTensor.Sizes[-1]", "  IndexTupleSize: IndexTensor.Sizes[-1]", 0, ["column 19: unknown tensor IndexTensor", "did you mean IndicesTensor?"]),
    "unknown name in a rule": (ND, "    rule: 1 <= IndexTupleSize <=", "    rule: 1 <= IndexTuple <=", 0, ["column 16: unknown name IndexTuple", "did you mean IndexTupleSize?"]),
    "unknown field": (ND, "DataSizes: InputTensor.Sizes[", "DataSizes: InputTensor.Size[", 0, ["unknown field Size", "Sizes, Strides, DimensionCount, DataType"]),
    "unknown function": (ND, "effective_rank(InputTensor.Sizes)", "rank(InputTensor.Sizes)", 0, ["unknown function rank", "effective_rank"]),
    "rule that does not parse": (ND, "    rule: OutputRank <= InputTensor.DimensionCount", "    rule: OutputRank <= <= 3", 0, ["column", "not an expression"]),
    "rule of the wrong type": (ND, "    rule: OutputRank <= InputTensor.DimensionCount", "    rule: OutputRank + 1", 0, ["this is an integer, a truth value is needed here"]),
    "rule that mixes types": (ND, "    rule: OutputRank <= InputTensor.DimensionCount", "    rule: OutputRank <= InputTensor.Sizes", 0, ["an integer is compared with a list"]),
    "rule that is not closed": (ND, "    rule: OutputRank <= InputTensor.DimensionCount", "    rule: __import__('os').system('x') == 1", 0, ["unknown function"]),
    "rule with a lambda": (ND, "    rule: OutputRank <= InputTensor.DimensionCount", "    rule: 'lambda: 1'", 0, ["Lambda is not part of the rule language"]),
    "long rule": (ND, "    rule: OutputRank <= InputTensor.DimensionCount", f"    rule: {'1+' * 300}1 == 1", 0, ["longer than 400 characters", "let"]),
    "let used too early": (ND, "  TupleSizes: Ind", "  Early: DataSizes[0]\n  TupleSizes: Ind", 0, ["DataSizes is used before it is defined", "move it up"]),
    "let that hides a member": (ND, "  TupleSizes: Ind", "  InputDimensionCount: 1\n  TupleSizes: Ind", 0, ["InputDimensionCount hides a member", "another name"]),
    "let that hides a function": (ND, "  TupleSizes: Ind", "  product: 1\n  TupleSizes: Ind", 0, ["product hides"]),
    "let of a truth value": (ND, "  TupleSizes: Ind", "  Odd: 1 == 2\n  TupleSizes: Ind", 0, ["Odd is a truth value", "an integer or a list"]),
    "default that uses an output": (ND, "    default: InputTensor.DimensionCount", "    default: OutputTensor.DimensionCount", 0, ["OutputTensor cannot be used here", "IndicesTensor, InputTensor"]),
    "sizes that need themselves": (ND, "    sizes: right_align(TupleSizes + SliceSizes, InputTensor.DimensionCount)", "    sizes: right_align(TupleSizes + SliceSizes, OutputTensor.DimensionCount)", 0, ["sizes of OutputTensor needs OutputTensor", "inputs and earlier outputs"]),
    "output without sizes": (GE, "    sizes: IndicesTensor.Sizes\n", "", -3, ["OutputTensor has neither sizes nor default_sizes"]),
    "output without a data type": (GE, "    data_type: InputTensor.DataType\n", "", -2, ["OutputTensor has no data_type", "several"]),
    "number with sizes": (GE, "    kind: axis\n", "    kind: axis\n    sizes: '[1]'\n", 1, ["Axis is of kind axis", "sizes belongs to tensors"]),
    "duplicated id": (ND, "  - id: IndexTupleSize-range", "  - id: InputDimensionCount-range", 0, ["the id InputDimensionCount-range stands twice", "every rule has its own"]),
    "id of an implied rule": (ND, "  - id: IndexTupleSize-range", "  - id: OutputTensor-Sizes", 0, ["OutputTensor-Sizes belongs to a rule that the tables and members imply"]),
    "malformed id": (ND, "  - id: IndexTupleSize-range", "  - id: range", 0, ["<Subject>-<what>"]),
    "no broken_by": (ND, "    broken_by: {IndicesDimensionCount: 1}\n", "", -4, ["the key broken_by is missing in constraints.6"]),
    "broken_by that breaks nothing": (ND, "    broken_by: {IndicesDimensionCount: 1}", "    broken_by: {IndicesDimensionCount: 2}", 0, ["this change to example-1 breaks no rule at FL3.0", "exactly GATHER_ND-IndicesTensor-leading-ones"]),
    "broken_by that breaks too much": (ND, "    broken_by: {IndicesTensor.Sizes: [2, 2], IndicesDimensionCount: 3}", "    broken_by: {IndicesDimensionCount: 3}", 0, ["breaks GATHER_ND-IndicesDimensionCount-range, GATHER_ND-OutputTensor-fits"]),
    "broken_by of an unknown member": (ND, "    broken_by: {IndicesDimensionCount: 1}", "    broken_by: {IndexDimensionCount: 1}", 0, ["unknown member IndexDimensionCount", "did you mean IndicesDimensionCount?"]),
    "broken_by of an unknown field": (ND, "    broken_by: {InputDimensionCount: 1, IndicesTensor.Sizes: [2, 1]}", "    broken_by: {InputDimensionCount: 1, IndicesTensor.Size: [2, 1]}", 0, ["IndicesTensor.Size cannot be changed", "IndicesTensor.Sizes"]),
    "broken_by of an unknown example": (NZ, "    broken_by: {OutputCountTensor.Sizes: [1, 1, 1, 2]}", "    broken_by: {OutputCountTensor.Sizes: [1, 1, 1, 2]}\n    example: example-9", 1, ["unknown example example-9", "did you mean example-"]),
    "broken_by where the rule does not hold": (NZ, "    broken_by: {OutputCountTensor.Sizes: [1, 1, 1, 1, 1]}", "    broken_by: {OutputCountTensor.Sizes: [1, 1, 1, 1, 1]}\n    example: example-2", 0, ["the rule does not hold at FL4.0"]),
    "example against a rule": (SC, "      UpdatesTensor: {data_type: UINT8, sizes: [1, 1, 1, 3]}", "      UpdatesTensor: {data_type: UINT8, sizes: [1, 1, 1, 4]}", 0, ["shape-2 breaks SCATTER_ND-UpdatesTensor-Sizes at FL2.1", "right_align(TupleSizes + SliceSizes"]),
    "example against a constraint": (GE, "      Axis: 2", "      Axis: 4", -2, ["shape-1 breaks GATHER_ELEMENTS-"]),
    "example against inferred sizes": (ND, "      OutputTensor: {data_type: FLOAT32, sizes: [1, 1, 2, 6, 7]}", "      OutputTensor: {data_type: FLOAT32, sizes: [1, 1, 5, 6, 7]}", 0, ["GATHER_ND-OutputTensor-Sizes", "gives [1, 1, 2, 6, 7]"]),
    "example against a data type rule": (ND, "      OutputTensor: {data_type: FLOAT32, sizes: [1, 1, 2, 6, 7]}", "      OutputTensor: {data_type: FLOAT16, sizes: [1, 1, 2, 6, 7]}", 0, ["GATHER_ND-OutputTensor-DataType", "InputTensor.DataType"]),
    "example against its table": (NZ, "      InputTensor: {data_type: INT8, sizes: [1, 1, 1, 1]}", "      InputTensor: {data_type: INT64, sizes: [1, 1, 1, 1]}", 0, ["NONZERO_COORDINATES-InputTensor-DataType-support", "the table allows FLOAT32, FLOAT16"]),
    "example from too high a level": (ND, "  - id: example-2\n    from: FL2.1", "  - id: example-2\n    from: FL3.0", 1, ["example-2 holds at FL2.1 already", "from is the lowest level"]),
    "example from too low a level": (GE, "  - id: example-2\n    from: FL3.0", "  - id: example-2\n    from: FL2.1", 4, ["example-2 breaks", "FL2.1", "the table allows 4 dimensions"]),
    "example of the wrong shape": (ND, "data: [[2, 3], [0, 1]]}", "data: [[2, 3]]}", 0, ["data has the shape [1, 2]", "sizes says [2, 2]"]),
    "ragged example": (ND, "data: [[2, 3], [0, 1]]}", "data: [[2, 3], [0]]}", 0, ["data is ragged"]),
    "value that does not fit": (NZ, "data: [[0, 0, 0, 0, 0, 7], [1, 0, 255, 0, 0, 0]]", "data: [[0, 0, 0, 0, 0, 7], [1, 0, 256, 0, 0, 0]]", 0, ['the text "256" is not a value of UINT8', "8 bits"]),
    "value that is no number": (ND, "data: [[2, 3], [0, 1]]}", "data: [[2, x], [0, 1]]}", 0, ['"x" is not a value of FLOAT32']),
    "example without a member": (GE, "      Axis: 2\n", "", -4, ["Axis is missing in shape-1"]),
    "example with an unknown member": (GE, "      Axis: 2\n", "      Axes: 2\n", 0, ["unknown member Axes", "did you mean Axis?"]),
    "example with data for some": (ND, ", data: [[2, 3], [0, 1]]}", "}", 0, ["OutputTensor has no data, other tensors have"]),
    "unknown key in an example's tensor": (ND, "{data_type: FLOAT32, sizes: [2, 2], data: [[2, 3], [0, 1]]}", "{data_type: FLOAT32, size: [2, 2], sizes: [2, 2], data: [[2, 3], [0, 1]]}", 0, ["unknown key size", "did you mean sizes?"]),
    "duplicated example": (ND, "  - id: example-2", "  - id: example-1", 0, ["the id example-1 stands twice"]),
    "rows out of order": (NZ, "  FL3.0:\n", "  FL4.1:\n    InputTensor: {dimensions: 1 to 8}\n  FL3.0:\n", 0, ["the first row is FL4.1", "FL3.0"]),
    "row below the introduction": (NZ, "  FL4.0:\n", "  FL2.1:\n", 0, ["FL2.1 stands behind FL3.0", "ascending order"]),
    "row that drops something": (ND, "    IndicesTensor: {dimensions: 1 to 8, data_types: [INT64, INT32, UINT64, UINT32]}", "    IndicesTensor: {dimensions: 1 to 3, data_types: [INT64, INT32, UINT64, UINT32]}", 0, ["this drops the dimension count 4", "levels only add"]),
    "incomplete first row": (NZ, "OutputCountTensor:       {dimensions: 4 to 5, data_types: [UINT32]}", "OutputCountTensor: {dimensions: 4 to 5}", 0, ["OutputCountTensor has no data_types at FL3.0"]),
    "file of another name": (ND, "operator: GATHER_ND\n", "operator: GATHER_ND1\n", 0, ["the file gather_nd.yaml describes GATHER_ND1", "name the file gather_nd1.yaml"]),
    "introduced elsewhere": (ND, "introduced: FL2.1", "introduced: FL2.0", 0, ["GATHER_ND was introduced at FL2.1, as spec/levels.yaml says"]),
    "value of another operator": (SC, "value: 109", "value: 108", 0, ["the value 108 is taken by", "every operator has its own"]),
    "unknown plan": (ND, "  plan: move ", "  plan: mvoe ", 0, ["unknown plan mvoe", "did you mean move?"]),
    "unknown field of a plan": (ND, "    bounds: D", "    bound: D", 0, ["unknown field of the plan move bound", "did you mean bounds?"]),
    "unknown storage": (ND, "  T: storage(InputTensor)", "  T: store(InputTensor)", 0, ["T is store(InputTensor)", "storage(<tensor>) is needed"]),
    "unknown option": (ND, "[batch_dims, mode,", "[batch_dim, mode,", 0, ["unknown option batch_dim", "did you mean batch_dims?"]),
    "unknown tensor of the function": (NZ, "  rows: OutputCountTensor", "  rows: OutputCounts", 0, ["unknown tensor OutputCounts"]),
    "two members of one parameter": (ND, "  InputDimensionCount:\n    kind: uint", "  InputDimensionCount:\n    python: input\n    kind: uint", 0, ["InputDimensionCount and InputTensor would be one parameter", "add python:"]),
    "option that the function lacks": (ND, "  ranks: ", "  parameters: {InputDimensionCount: batch}\n  ranks: ", 0, ["unknown option of this function batch", "did you mean batch_dims?"]),
    "number that is no number": (ND, "  ranks: ", "  members: {OutputTensor: 3}\n  ranks: ", 0, ["unknown number OutputTensor"]),
    "NumPy that is not Python": (ND, "      return input[tuple(", "      return input[tuple((", 0, ["this is not Python", "correct it"]),
    "NumPy of another function": (ND, "  def gather_nd(input, indices):", "  def gathernd(input, indices):", 0, ["it defines gathernd", "define gather_nd"]),
    "NumPy with other arguments": (ND, "  def gather_nd(input, indices):", "  def gather_nd(x, indices):", 0, ["gather_nd takes x, indices", "input, indices"]),
    "level and value disagree": ("levels.yaml", "    value: 0x3100", "    value: 0x3200", -1, ["FL3.1 has the value 0x3200, which is FL3.2"]),
    "data type of an unknown level": ("dtypes.yaml", "FLOAT64: {value: 9, introduced: FL3.0", "FLOAT64: {value: 9, introduced: FL3.5", 0, ["unknown feature level FL3.5"]),
    "two types of one value": ("dtypes.yaml", "INT16: {value: 7", "INT16: {value: 6", 0, ["INT16 and INT32 both have the value 6"]),
    "storage of another width": ("dtypes.yaml", "kind: int, storage: u16", "kind: int, storage: u32", 0, ["storage is u32 for 16 bits", "u16 is needed"]),
    "tensor rules out of order": ("tensor.yaml", "  - id: TENSOR-Sizes-range", "  - id: TENSOR-Sizes-limit", 0, ["rule 4 is TENSOR-Sizes-limit", "computes TENSOR-Sizes-range there"]),
    "tensor rule that breaks another": ("tensor.yaml", "    broken_by: {strides: [1]}", "    broken_by: {strides: [1, 0, 0, -1]}", 0, ["breaks TENSOR-Strides-count, TENSOR-Strides-range", "exactly TENSOR-Strides-count"]),
    "tensor rule of an unknown member": ("tensor.yaml", "    field: GuaranteedBaseOffsetAlignment", "    field: BaseOffsetAlignment", 0, ["unknown member BaseOffsetAlignment"]),
    "not YAML": (ND, "members: ", "members: ]", 0, ["not YAML", "correct the syntax"]),
    "left by a scaffold": (ND, "value: 108", "value: TODO the value of the enum", 0, ["value is still to be filled in; write the value of the enum"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_one_mistake_is_reported_with_its_line(copy, case):
    file, old, new, below, parts = case
    line = copy.edit(file, old, new) + below
    found = copy.mistakes()
    ours = [m for m in found if m.path == f"spec/{file}"]
    text = "\n".join(map(str, found))
    assert any(all(part in str(m) for part in parts) for m in ours), text
    first = next(m for m in ours if all(part in str(m) for part in parts))
    assert first.line == line, text
    assert ";" in first.message, text


def test_a_slip_has_no_echo(copy):
    """Mistakes that follow from another one are not reported."""
    line = copy.edit(ND, "  IndexTupleSize: IndicesTensor.Sizes[-1]", "  IndexTupleSize: IndicesTensor.Sizes[-")
    assert [m.line for m in copy.mistakes()] == [line]


def test_all_mistakes_of_all_files_at_once(copy):
    lines = {
        "spec/levels.yaml": copy.edit("levels.yaml", "    directml: 1.12.0", "    directx: 1.12.0"),
        f"spec/{ND}": copy.edit(ND, "pseudocode:", "psuedocode:"),
        f"spec/{GE}": copy.edit(GE, "    rule: Axis <", "    rule: Axes <"),
        f"spec/{NZ}": copy.edit(NZ, "before: FL4.0 ", "before: FL4.5 "),
        f"spec/{SC}": copy.edit(SC, "data: [[9, 10, 11, 12]]", "data: [[9, 10, 11]]"),
    }
    more = [
        copy.edit(ND, "    rule: OutputRank <=", "    rule: OutputRnk <="),
        copy.edit(ND, "[[2, 3], [0, 1]]", "[[2, 3], [0, q]]"),
    ]
    found = copy.mistakes()
    for path, line in lines.items():
        assert any(m.path == path and m.line == line for m in found), path
    for line in more:
        assert any(m.path == f"spec/{ND}" and m.line == line for m in found)


def test_two_kinds_of_mistake_in_one_file(copy):
    """What does not fit is left out and the rest is checked: examples too."""
    copy.edit(ND, "summary: G", "sumary: x\nsummary: G")
    line = copy.edit(ND, "sizes: [1, 1, 2, 6, 7]", "sizes: [1, 1, 2, 6, 8]")
    assert {m.line for m in copy.mistakes()} == {6, line}


def test_missing_files(copy):
    (copy.root / "spec" / "tensor.yaml").unlink()
    assert [str(m) for m in copy.mistakes()] == [
        "spec/tensor.yaml:1: cannot be read: No such file or directory; the file is needed"
    ]


def test_another_ending(copy):
    copy.write("operators/gather_x.yml", copy.text(ND))
    assert [str(m) for m in copy.mistakes()] == ["spec/operators/gather_x.yml:1: the name ends in .yml; .yaml is needed"]


def test_the_operator_that_supersedes_need_not_be_there(spec):
    assert spec.operator("GATHER_ND").superseded_by == "GATHER_ND1"
