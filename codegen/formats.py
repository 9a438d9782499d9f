"""Says which keys the files of spec/ have and what type their values are. Text from the YAML becomes typed values here.

load.py reports what does not fit with its line; schema.py turns the same classes into the JSON schema for editors.
What a value means (does the level exist, does the rule parse) is checked afterwards, in link.py and verify.py.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from .scalars import Anything, Bool, Dimensions, Door, Int, LevelName, Name, Rule, RuleId, Text


class Format(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ErratumFormat(Format):
    where: Text = Field(description="The member or the section of Microsoft's page.")
    says: Text = Field(description="What the page prints, in our words.")
    but: Text = Field(description="Why that cannot be right.")
    so: Text = Field(description="The reading of this specification.")


class LevelFormat(Format):
    value: Int
    directml: Annotated[str, WithJsonSchema({"type": ["string", "number"]})]
    windows: Text | None = None
    text: Text
    operators: tuple[Name, ...] = Field(description="The operators that this level adds to DirectML.")


class LevelsFormat(Format):
    """spec/levels.yaml"""

    levels: dict[str, LevelFormat]
    errata: tuple[ErratumFormat, ...] = ()
    sources: tuple[Text, ...]


Kind = Literal["float", "int", "uint"]
Storage = Literal["u8", "u16", "u32", "u64", "u128"]


class DataTypeFormat(Format):
    value: Int
    introduced: LevelName
    bits: Int | None = None
    numpy: Text | None = None
    kind: Kind | None = None
    storage: Storage | None = None
    zero_mask: Int | None = Field(None, description="The bits that tell a zero; all of them when absent.")
    index: Literal["i32", "i64", "u32", "u64"] | None = None
    text: Text | None = None


class ExtensionFormat(Format):
    bits: Int
    numpy: Text
    kind: Literal["bool", "float", "complex"]
    storage: Storage
    zero_mask: Int | None = None
    text: Text


class DataTypesFormat(Format):
    """spec/dtypes.yaml"""

    data_types: dict[Name, DataTypeFormat]
    extensions: dict[Name, ExtensionFormat] = Field({}, description="Further NumPy types of the array functions.")
    errata: tuple[ErratumFormat, ...] = ()
    sources: tuple[Text, ...]


class TensorMemberFormat(Format):
    type: Text
    text: Text


class TensorRuleFormat(Format):
    id: RuleId
    field: Name
    text: Text
    formula: Text
    from_: LevelName | None = Field(None, alias="from")
    before: LevelName | None = None
    doors: Door = "descriptor"
    broken_by: dict[str, Anything]


class TensorFormat(Format):
    """spec/tensor.yaml"""

    struct: Name
    text: Text
    members: dict[Name, TensorMemberFormat]
    base: dict[str, Anything] = Field(description="The valid TensorDesc that every broken_by changes.")
    level: LevelName = Field(description="The level at which base is valid and the broken_by are tried.")
    rules: tuple[TensorRuleFormat, ...]
    errata: tuple[ErratumFormat, ...] = ()
    sources: tuple[Text, ...]


class MemberFormat(Format):
    kind: Literal["input", "output", "uint", "axis"]
    text: Text
    index: Bool = Field(False, description="The tensor holds indices.")
    data_type: Rule | None = None
    sizes: Rule | None = Field(None, description="The sizes that the tensor must have.")
    default_sizes: Rule | None = Field(None, description="The sizes of an output that is left out; not enforced.")
    default: Rule | None = None
    python: Name | None = Field(None, description="The parameter of the array function.")
    axis_of: Name | None = Field(None, description="kind axis: the tensor whose dimension it names; InputTensor.")


class CellFormat(Format):
    dimensions: Dimensions | None = None
    data_types: tuple[Name, ...] | None = None


class ConstraintFormat(Format):
    id: RuleId
    member: Name
    rule: Rule
    text: Text
    doors: Door = "both"
    from_: LevelName | None = Field(None, alias="from", description="The first level that has the rule.")
    before: LevelName | None = Field(None, description="The first level that no longer has it.")
    broken_by: dict[str, Anything] = Field(description="The smallest change to an example that breaks this rule alone.")
    example: str | None = Field(None, description="The example that broken_by changes; the first one.")


class KernelFormat(Format):
    T: Text = Field(description="storage(<tensor>): what a loop moves.")
    I: Text | None = Field(None, description="type(<tensor>): how a loop reads a coordinate.")  # noqa: E741
    plan: Name
    fields: dict[Name, Rule]
    table: Name | None = Field(None, description="The tensor that the indices address.")
    stream: Name | None = Field(None, description="The tensor that is walked in order.")
    source: Name | None = Field(None, description="Scatters: the tensor that the table starts as a copy of.")


class PythonFormat(Format):
    function: Name
    aliases: tuple[Name, ...] = ()
    options: tuple[Name, ...] = ()
    ranks: dict[Name, Rule] = Field({}, description="Natural ranks of the tensors that the function makes.")
    dimension_count: Rule | None = Field(None, description="Up to which rank the shapes get ones in front.")
    returns: Name | None = Field(None, description="The output that is returned, if there are several.")
    rows: Name | None = Field(None, description="The output that says how many rows of it are valid.")
    data_types: dict[Name, tuple[Name, ...]] = Field({}, description="Data types that only the array function takes.")
    members: dict[Name, Rule] = Field({}, description="Numbers that natural shapes give, where no default does.")
    parameters: dict[Name, Name] = Field({}, description="Numbers that are options of the function, and their options.")
    example: Text | None = Field(None, description="A doctest for the function's docstring.")


class ExampleFormat(Format):
    id: Annotated[str, WithJsonSchema({"type": "string"})]
    from_: LevelName = Field(alias="from", description="The lowest level that accepts it.")
    text: Text
    note: Text | None = None
    errata: Text | None = Field(None, description="How the page's own example differs.")
    desc: dict[Name, Anything]


class OperatorFormat(Format):
    """spec/operators/<operator>.yaml"""

    operator: Annotated[str, WithJsonSchema({"type": "string", "pattern": "^[A-Z][A-Z0-9_]*$"})]
    value: Int
    introduced: LevelName
    superseded_by: Name | None = None
    aliases: tuple[Name, ...] = ()
    struct: Name | None = Field(None, description="DirectML's struct, where its name is not the usual one.")
    summary: Text
    description: Text
    pseudocode: Text
    members: dict[Name, MemberFormat]
    let: dict[Name, Rule] = {}
    support: dict[LevelName, dict[Name, CellFormat]]
    constraints: tuple[ConstraintFormat, ...]
    kernel: KernelFormat
    python: PythonFormat
    examples: tuple[ExampleFormat, ...]
    numpy: Text
    behaviour: dict[Name, Text] = {}
    errata: tuple[ErratumFormat, ...] = ()
    sources: tuple[Text, ...]


class ExampleTensorFormat(Format):
    """A tensor inside an example."""

    data_type: Name
    sizes: tuple[Int, ...]
    strides: tuple[Int, ...] | None = None
    data: Anything = None
