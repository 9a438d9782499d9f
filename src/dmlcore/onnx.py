"""dmlcore under ONNX's own evaluator: ``OPS`` for ``onnx.reference.ReferenceEvaluator``, and a ``Backend`` that uses them.

An operator runs in dmlcore where dmlcore takes the data type. For the others (strings, 4-bit types; reductions of bool,
complex and bfloat16) it hands the node to ONNX's reference implementation. Needs the package onnx, which the extra ``onnx``
brings.
"""

try:
    import onnx
    from onnx.backend import base
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.op_run import OpRun
    from onnx.reference.ops import _op_list as reference
except ImportError as error:
    raise ImportError("dmlcore.onnx needs the onnx package: pip install 'dmlcore[onnx]'") from error

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import gather, gather_elements, gather_nd, nonzero_coordinates, scatter_elements, scatter_nd
from .errors import DmlcoreError

Inputs = NDArray[Any] | Sequence[NDArray[Any]] | Mapping[str, NDArray[Any]]

__all__ = ["OPS", "Backend", "BackendRep", "prepare", "run_model", "run_node", "supports_device"]


class _Operator:
    """What all of them share: dmlcore first; for what it does not take ONNX's class, the next among the bases.
    Each has its computation in `_compute`.
    """

    op_domain = ""

    def run(self, *args, **kwargs):
        """OpRun.run hides a TypeError behind one of its own; dmlcore's says more."""
        try:
            return super().run(*args, **kwargs)
        except TypeError as error:
            if isinstance(error.__cause__, DmlcoreError):
                raise error.__cause__ from None
            raise

    def _run(self, *inputs, **attributes):
        try:
            return (self._compute(*inputs, **_given(attributes)),)
        except TypeError as error:  # a type that dmlcore does not take, or not with this reduction
            members = {violation.member for violation in getattr(error, "violations", ())}
            if members and ("InputTensor" not in members or "IndicesTensor" in members):
                raise  # of the others ONNX has no more than dmlcore
        return super()._run(*inputs, **attributes)


def _given(attributes: dict) -> dict:
    """Without the attributes that have no value: a default that is not written in the operator's schema."""
    return {name: value for name, value in attributes.items() if value is not None}


def _joined(data, updates):
    """Strings as one type: NumPy's fixed width would cut an update that is longer than the data."""
    if data.dtype.kind in "US" and updates.dtype.kind == data.dtype.kind:
        return data.astype(np.result_type(data, updates))
    return data


class Gather(_Operator, reference.Gather):
    """Gather, opsets 1, 11 and 13."""

    def _compute(self, data, indices, axis=0):
        return gather(data, indices, axis)


class GatherElements(_Operator, reference.GatherElements):
    """GatherElements, opsets 11 and 13; the indices may be smaller than the data off the axis."""

    def _compute(self, data, indices, axis=0):
        return gather_elements(data, indices, axis)


class GatherND(_Operator, reference.GatherND):
    """GatherND, opsets 11, 12 and 13."""

    def _compute(self, data, indices, batch_dims=0):
        return gather_nd(data, indices, batch_dims=batch_dims)


class ScatterElements(_Operator, reference.ScatterElements):
    """ScatterElements, opsets 11, 13, 16 and 18; of updates with the same target the last one stays."""

    def _compute(self, data, indices, updates, axis=0, reduction="none"):
        return scatter_elements(data, indices, updates, axis, reduction=reduction)

    def _run(self, data, indices, updates, axis=0, reduction="none"):
        return super()._run(_joined(data, updates), indices, updates, axis=axis, reduction=reduction)


class ScatterND(_Operator, reference.ScatterND):
    """ScatterND, opsets 11, 13, 16 and 18; of updates with the same target the last one stays."""

    def _compute(self, data, indices, updates, reduction="none"):
        return scatter_nd(data, indices, updates, reduction=reduction)

    def _run(self, data, indices, updates, reduction="none"):
        return super()._run(_joined(data, updates), indices, updates, reduction=reduction)


class Scatter(ScatterElements):
    """Scatter, opset 9: the old name of ScatterElements, for which ONNX has no implementation any more."""


class NonZero(_Operator, reference.NonZero):
    """NonZero, opsets 9 and 13: coordinates as columns, int64; without rows for a scalar."""

    def _compute(self, data):
        return nonzero_coordinates(data, dtype=np.int64).T


OPS: list[type[OpRun]] = [Gather, GatherElements, GatherND, NonZero, Scatter, ScatterElements, ScatterND]
"""Implementations for ``onnx.reference.ReferenceEvaluator(model, new_ops=OPS)``.

Examples
--------
>>> import numpy as np, onnx.parser, onnx.reference
>>> from dmlcore.onnx import OPS
>>> model = onnx.parser.parse_model('''
...     <ir_version: 8, opset_import: ["": 18]>
...     rows (float[3, 2] x, int64[n] i) => (float[n, 2] y) { y = Gather(x, i) }''')
>>> session = onnx.reference.ReferenceEvaluator(model, new_ops=OPS)
>>> session.run(None, {"x": np.float32([[1, 2], [3, 4], [5, 6]]), "i": np.array([-1, 0])})
[array([[5., 6.],
       [1., 2.]], dtype=float32)]
"""


class BackendRep(base.BackendRep):
    """A model that is ready to run; made by :meth:`Backend.prepare`."""

    def __init__(self, model: onnx.ModelProto, **options: Any) -> None:
        self.session = ReferenceEvaluator(model, new_ops=OPS, **options)
        graph = getattr(model, "graph", None)
        stored = {tensor.name for tensor in graph.initializer} if graph is not None else set()
        names = self.session.input_names
        self._names, self._free = names, [name for name in names if name not in stored]

    def run(self, inputs: Inputs, **kwargs: Any) -> tuple[Any, ...]:
        """Runs the model on an array, a sequence of arrays in the order of its inputs, or a dictionary by name.

        Inputs that the model has values for may be left out, all of them together.
        """
        if not isinstance(inputs, Mapping):
            values = [inputs] if isinstance(inputs, np.ndarray) else list(inputs)
            names = self._names if len(values) == len(self._names) else self._free
            if len(values) != len(names):
                raise ValueError(f"{len(values)} inputs given, expected {len(names)}: {', '.join(names)}")
            inputs = dict(zip(names, values, strict=True))
        return tuple(self.session.run(None, inputs, **kwargs))


class Backend(base.Backend):
    """ONNX's back end interface: a model is checked and runs in ONNX's evaluator, its indexing operators in dmlcore.

    Examples
    --------
    >>> import numpy as np, onnx.helper
    >>> from dmlcore.onnx import Backend
    >>> node = onnx.helper.make_node("NonZero", ["x"], ["y"])
    >>> Backend.run_node(node, [np.array([[0, 7], [8, 0]])])
    (array([[0, 1],
           [1, 0]]),)
    """

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> BackendRep:
        """Checks a model and returns it ready to run; further arguments are ReferenceEvaluator's."""
        cls._check_device(device)
        super().prepare(model, device)
        return BackendRep(model, **kwargs)

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Inputs, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        """Prepares a model and runs it once; of a model that runs often, keep what :func:`prepare` returns."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls, node: onnx.NodeProto, inputs: Inputs, device: str = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> tuple[Any, ...]:
        """Checks a single node and runs it; ``opset_version=`` says by which opset, the newest by default."""
        cls._check_device(device)
        super().run_node(node, inputs, device, outputs_info, **kwargs)
        opset = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        graph = onnx.helper.make_graph(
            [node],
            node.op_type,
            [onnx.ValueInfoProto(name=name) for name in dict.fromkeys(node.input) if name],
            [onnx.ValueInfoProto(name=name) for name in node.output if name],
        )
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid(node.domain, opset)])
        return BackendRep(model, **kwargs).run(inputs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether a device is the CPU: there is no other.

        >>> from dmlcore.onnx import supports_device
        >>> supports_device("CPU"), supports_device("CUDA:1")
        (True, False)
        """
        return device.partition(":")[0] == "CPU"

    @classmethod
    def _check_device(cls, device: str) -> None:
        if not cls.supports_device(device):
            raise ValueError(f"device is {device!r}, expected 'CPU'")


prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device
