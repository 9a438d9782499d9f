"""Turns the model of an operator into what the templates print: every expression spelled, every check numbered.

The model knows nothing of C or Cython, the templates only loop; all decisions between the two are made here.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from . import names, spell
from .checks import CheckView, make_checks
from .datatypes import array_types, data_type_views
from .model import Member, Operator, Spec
from .rules import LIST, Expr

OPTION_DEFAULTS = {
    "batch_dims": "0",
    "mode": '"raise"',
    "fill_value": "0",
    "reduction": '"none"',
    "duplicates": '"last"',
    "dtype": "None",
    "out": "None",
    "num_threads": "None",
}
OPTION_READERS = {  # functions of core/door.pxi
    "mode": {"GATHER": "read_mode", "SCATTER": "write_mode"},
    "fill_value": {"GATHER": "fill_option"},
    "reduction": {"SCATTER": "reduction_option"},
    "duplicates": {"SCATTER": "duplicates_option"},
}
STUB_OPTIONS = {
    "batch_dims": "batch_dims: int = 0",
    "mode": "mode: str = ...",
    "fill_value": "fill_value: Any = 0",
    "reduction": "reduction: str = ...",
    "duplicates": "duplicates: str = ...",
    "dtype": "dtype: DTypeLike | None = None",
    "out": "out: NDArray[T] | None = None",
    "num_threads": "num_threads: int | None = None",
}
MOVE_LISTS = ("index_strides", "table_strides", "stream_strides", "slice", "slice_table_strides", "slice_stream_strides")


@dataclass(frozen=True)
class TensorView:
    name: str
    parameter: str
    kind: str  # "input" | "output"
    index: bool
    number: int  # its row in the support tables
    rank: str | None  # the natural rank that the array door expects, spelled over natural tensors
    infer_sizes: str | None
    infer_data_type: str | None


@dataclass(frozen=True)
class UintView:
    name: str
    parameter: str
    axis_of: str | None  # parameter of the tensor whose dimensions an axis counts
    default: str | None  # spelled; None: required (descriptors) or 0 (axes of the array door)
    natural: str | None  # what the array door fills in when it is no parameter of the function


@dataclass(frozen=True)
class LetView:
    name: str
    variable: str
    ctype: str
    value: str


@dataclass(frozen=True)
class DescParameter:
    """A member of an operator descriptor as keyword argument."""

    name: str
    keyword: str
    kind: str
    type: str
    text: str
    member_text: str
    signature: str


@dataclass(frozen=True)
class FieldView:
    name: str
    value: str


@dataclass(frozen=True)
class OperatorView:
    model: Operator
    name: str
    snake: str
    desc_class: str
    tensors: tuple[TensorView, ...]
    uints: tuple[UintView, ...]
    checks: tuple[CheckView, ...]
    check_lets: tuple[LetView, ...]
    check_buffers: int
    infer_lets: tuple[LetView, ...]
    infer_buffers: int
    run_lets: tuple[LetView, ...]
    run_buffers: int
    fields: tuple[FieldView, ...]
    dimension_count: str | None
    door_buffers: int
    cells: tuple[tuple[str, tuple[str, ...]], ...]
    levels: int
    lists: tuple[tuple[str, str], ...]  # let name, Python spelling: for messages
    array_types: tuple[tuple[str, tuple[str, ...]], ...]
    support_rows: tuple[tuple[str, tuple[tuple[int, tuple[str, ...], int, int], ...]], ...]
    desc_parameters: tuple[DescParameter, ...]

    @property
    def inputs(self) -> tuple[TensorView, ...]:
        return tuple(t for t in self.tensors if t.kind == "input")

    @property
    def outputs(self) -> tuple[TensorView, ...]:
        return tuple(t for t in self.tensors if t.kind == "output")

    @property
    def data(self) -> TensorView:
        """The tensor whose data type the moved elements have."""
        return self.inputs[0]

    @property
    def index(self) -> TensorView | None:
        return next((t for t in self.tensors if t.index), None)

    def tensor(self, name: str) -> TensorView:
        return next(t for t in self.tensors if t.name == name)

    @property
    def axes(self) -> tuple[UintView, ...]:
        return tuple(u for u in self.uints if u.axis_of)

    @property
    def options(self) -> tuple[str, ...]:
        return tuple(self.model.python.options)

    @property
    def parameters(self) -> str:
        """The array function's signature."""
        parts = [t.parameter for t in self.inputs] + [f"{u.parameter}=0" for u in self.axes]
        return ", ".join([*parts, "*", *(f"{o}={OPTION_DEFAULTS[o]}" for o in self.options)])

    @property
    def kind(self) -> str:
        """Which side the indices address: enum dml_kind in operators.h."""
        return "NONZERO" if self.is_nonzero else "GATHER" if self.table.kind == "input" else "SCATTER"

    @property
    def message_parameters(self) -> tuple[tuple[str, str], ...]:
        """Members that the caller of the array function knows by a parameter's name."""
        chosen = self.model.python.parameters
        named = [(t.name, t.parameter) for t in self.inputs]
        named += [(u.name, chosen.get(u.name, u.parameter)) for u in self.array_parameters]
        if "out" in self.options:
            named.append((self.result.name, "out"))
        return tuple(named)

    @property
    def desc_example(self) -> str:
        """A valid descriptor, from the first example."""
        example = self.model.examples[0]
        parts = []
        for p in self.desc_parameters:
            value = example.desc.get(p.name)
            if p.kind == "input":
                parts.append(f'{p.keyword}=TensorDesc("{value.data_type}", {tuple(value.sizes)})')
            elif p.kind != "output" and value is not None:
                parts.append(f"{p.keyword}={value}")
        return f"{self.desc_class}({', '.join(parts)})"

    @property
    def stub_parameters(self) -> tuple[str, ...]:
        """The array function's signature with types; data keeps its dtype."""
        data = "NDArray[T]" if not self.is_nonzero else "ArrayLike"
        parts = [f"{t.parameter}: {'ArrayLike' if t.index else data}" for t in self.inputs]
        parts += [f"{u.parameter}: int = 0" for u in self.axes]
        return (*parts, "*", *(STUB_OPTIONS[o] for o in self.options))

    @property
    def stub_result(self) -> str:
        return "NDArray[Any]" if self.is_nonzero else "NDArray[T]"

    @property
    def array_parameters(self) -> tuple[UintView, ...]:
        """The integer members that a call of the array function gives."""
        chosen = self.model.python.parameters
        return tuple(u for u in self.uints if u.axis_of or u.name in chosen)

    @property
    def is_function(self) -> bool:
        """Whether the array function bears the operator's own name (GATHER_ND1 shares gather_nd)."""
        return self.model.python.function == self.snake

    @property
    def selector(self) -> str | None:
        """The option of the shared array function that chooses this operator when it is not 0 (GATHER_ND1: batch_dims)."""
        return None if self.is_function else next(iter(self.model.python.parameters.values()))

    @property
    def missing_lists(self) -> tuple[str, ...]:
        """Lists of the plan that the specification leaves empty."""
        return tuple(name for name in MOVE_LISTS if name not in self.model.kernel.fields)

    @property
    def has_tuples(self) -> bool:
        """Whether the last dimension of the indices holds the coordinates of a tuple."""
        return "coordinate_stride" in self.model.kernel.fields

    @property
    def docstring(self) -> str:
        from .docstrings import docstring

        return docstring(self)

    @property
    def slots(self) -> tuple[str, ...]:
        """The parameters of the array function in order."""
        return (*(t.parameter for t in self.inputs), *(u.parameter for u in self.axes), *self.options)

    def chooses(self, other: "OperatorView") -> bool:
        """Whether this operator's array function runs `other` for some value of an option."""
        return other is not self and other.model.python.function == self.snake

    @property
    def positional(self) -> int:
        return len(self.inputs) + len(self.axes)

    @property
    def option_readers(self) -> tuple[tuple[str, str], ...]:
        """Options that are read before anything else, and the function of core/door.pxi that reads each."""
        return tuple((o, OPTION_READERS[o][self.kind]) for o in self.options if o in OPTION_READERS)

    @property
    def is_nonzero(self) -> bool:
        return self.model.kernel.plan == "nonzero"

    @property
    def result(self) -> TensorView:
        """The output that the array function returns."""
        named = self.model.python.returns
        return self.tensor(named) if named else self.outputs[0]

    @property
    def count(self) -> TensorView | None:
        """The output that says how many rows of the result are used."""
        rows = self.model.python.rows
        return self.tensor(rows) if rows else None

    @property
    def source(self) -> TensorView | None:
        """Scatters: the tensor that the output starts as a copy of."""
        source = getattr(self.model.kernel, "source", None)
        return self.tensor(source) if source else None

    @property
    def table(self) -> TensorView:
        return self.tensor(self.model.kernel.table)

    @property
    def stream(self) -> TensorView:
        return self.tensor(self.model.kernel.stream)


def view(op: Operator, spec: Spec) -> OperatorView:
    tensors = {m.name: f"c.{names.member_snake(m.name)}" for m in op.tensors}
    scope = {u.name: f"c.{names.member_snake(u.name)}" for u in op.uints}
    variables = {let: names.snake(let) for let in op.let}

    def function() -> tuple[spell.Cython, list[LetView]]:
        cython = spell.Cython(tensors, {**scope, **variables})
        lets = [
            LetView(let.name, variables[let.name], "dml_list" if let.expr.type == LIST else "int64_t", cython(let.expr))
            for let in op.let.values()
        ]
        return cython, lets

    checking, check_lets = function()
    checks = tuple(make_checks(op, spec, checking))
    inferring, infer_lets = function()
    running, run_lets = function()
    door = spell.Cython(tensors, scope)

    numbers = {m.name: i for i, m in enumerate(op.tensors)}
    tensor_views = tuple(
        TensorView(
            m.name,
            names.member_snake(m.name),
            m.kind,
            m.index,
            numbers[m.name],
            door(op.python.ranks[m.name]) if m.name in op.python.ranks else None,
            _spelled(inferring, m.sizes or m.default_sizes) if m.kind == "output" else None,
            _inferred_type(m, spec, inferring) if m.kind == "output" else None,
        )
        for m in op.tensors
    )
    uints = tuple(
        UintView(
            m.name,
            names.member_snake(m.name),
            names.member_snake(m.axis_of) if m.kind == "axis" else None,
            _spelled(door, m.default),
            _spelled(door, op.python.members.get(m.name) or m.default),
        )
        for m in op.uints
    )
    fields = tuple(FieldView(name, running(let.expr)) for name, let in op.kernel.fields.items())
    return OperatorView(
        model=op,
        name=op.name,
        snake=names.operator_snake(op.name),
        desc_class=names.desc_class(op.name),
        tensors=tensor_views,
        uints=uints,
        checks=checks,
        check_lets=tuple(_used(check_lets, [c.condition or "" for c in checks])),
        check_buffers=checking.buffers,
        infer_lets=tuple(_used(infer_lets, [t.infer_sizes or "" for t in tensor_views])),
        infer_buffers=inferring.buffers,
        run_lets=tuple(_used(run_lets, [f.value for f in fields])),
        run_buffers=running.buffers,
        fields=fields,
        dimension_count=_spelled(door, op.python.dimension_count),
        door_buffers=door.buffers,
        cells=tuple((m.name, tuple(_cells(op, m, spec))) for m in op.tensors),
        levels=len(spec.levels),
        lists=tuple((let.name, spell.python(let.expr)) for let in op.let.values()),
        array_types=tuple((m.name, array_types(op, m.name, spec)) for m in op.tensors),
        support_rows=tuple((m.name, tuple(_support_rows(op, m, spec))) for m in op.tensors),
        desc_parameters=tuple(_desc_parameter(m) for m in op.members),
    )


def _spelled(cython: spell.Cython, expr: Expr | None) -> str | None:
    return None if expr is None else cython(expr)


def _used(lets: list[LetView], texts: list[str]) -> Iterable[LetView]:
    """The let variables that these texts mention, and those that such variables need themselves."""
    words = set(re.findall(r"\w+", " ".join(texts)))
    kept = []
    for let in reversed(lets):
        if let.variable in words:
            kept.append(let)
            words |= set(re.findall(r"\w+", let.value))
    return reversed(kept)


def _inferred_type(member: Member, spec: Spec, cython: spell.Cython) -> str:
    if member.data_type is not None:
        return cython(member.data_type)
    return str(spec.data_types[member.default_data_type].value)


def _cells(op: Operator, member: Member, spec: Spec) -> Iterable[str]:
    """One support table as C initialisers: a cell per level, then the array door's."""
    numbers = {t.name: t.value for t in data_type_views(spec)}

    def mask(types: Iterable[str]) -> str:
        return f"0x{sum(1 << numbers[t] for t in types):x}"

    cells = op.support[member.name]
    for level in spec.levels:
        cell = cells.get(level.name)
        yield f"{{{mask(cell.data_types)}, {cell.dims_min}, {cell.dims_max}}}" if cell else "{0, 0, 0}"
    yield f"{{{mask(array_types(op, member.name, spec))}, 0, DML_RANK_MAX}}"


def _support_rows(op: Operator, member: Member, spec: Spec) -> Iterable[tuple[int, tuple[str, ...], int, int]]:
    for level in spec.levels:
        cell = op.support[member.name].get(level.name)
        if cell:
            yield level.position, cell.data_types, cell.dims_min, cell.dims_max


def _desc_parameter(m: Member) -> DescParameter:
    keyword = names.member_snake(m.name)
    optional = m.kind == "output" or m.default is not None
    type_ = "TensorDesc" if m.is_tensor else "int"
    text = f"{m.name}. {m.text}"
    if m.kind == "output":
        text += " Inferred when left out."
    elif m.default is not None:
        text += f" Default: {spell.text(m.default)}."
    return DescParameter(
        name=m.name,
        keyword=keyword,
        kind=m.kind,
        type=type_ + (", optional" if optional else ""),
        text=text,
        member_text=m.text,
        signature=f"{keyword}: {type_}" + (" | None = None" if optional else ""),
    )
