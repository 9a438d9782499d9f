"""The operators as a user of each engine would write them: NumPy arrays in, a NumPy array out.

An engine is a function that imports it and returns its operators; whatever an operator raises is its answer.
"""

import importlib.metadata
import importlib.util

import numpy as np

OPERATORS = ("gather", "gather_elements", "gather_nd", "scatter_elements", "scatter_nd", "nonzero_coordinates")
PACKAGES = {name: name for name in ("dmlcore", "numpy", "torch", "onnxruntime", "numba", "jax")}


def installed() -> list[str]:
    """The engines that can be probed here."""
    return [name for name, package in PACKAGES.items() if importlib.util.find_spec(package)]


def version(name: str) -> str:
    if name == "dmlcore":
        import dmlcore

        return dmlcore.__version__
    return importlib.metadata.version(PACKAGES[name])


def tuples(i):
    """A tuple of index arrays from an array of tuples."""
    return tuple(np.moveaxis(i, -1, 0))


def dmlcore():
    import dmlcore

    return {name: getattr(dmlcore, name) for name in OPERATORS}


def numpy():
    def scatter_elements(x, i, u, axis=0):
        y = x.copy()
        np.put_along_axis(y, i, u, axis)
        return y

    def scatter_nd(x, i, u):
        y = x.copy()
        y[tuples(i)] = u
        return y

    return {
        "gather": lambda x, i, axis=0: np.take(x, i, axis),
        "gather_elements": lambda x, i, axis=0: np.take_along_axis(x, i, axis),
        "gather_nd": lambda x, i: x[tuples(i)],
        "scatter_elements": scatter_elements,
        "scatter_nd": scatter_nd,
        "nonzero_coordinates": np.argwhere,
    }


def torch():
    import torch

    def tensor(a):
        if a.dtype.name == "bfloat16":
            return torch.from_numpy(a.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(a)

    def array(t):
        if t.dtype == torch.bfloat16:
            import ml_dtypes

            return t.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
        return t.numpy()

    def call(function):
        return lambda *arrays, **options: array(function(*(tensor(np.ascontiguousarray(a)) for a in arrays), **options))

    return {
        "gather": call(lambda x, i, axis=0: torch.index_select(x, axis, i)),
        "gather_elements": call(lambda x, i, axis=0: torch.gather(x, axis, i)),
        "gather_nd": call(lambda x, i: x[i.unbind(-1)]),
        "scatter_elements": call(lambda x, i, u, axis=0: x.scatter(axis, i, u)),
        "scatter_nd": call(lambda x, i, u: x.index_put(i.unbind(-1), u)),
        "nonzero_coordinates": call(lambda x: torch.nonzero(x)),
    }


def onnxruntime():
    import onnx
    import onnxruntime
    from onnx import helper

    onnxruntime.set_default_logger_severity(4)
    sessions = {}

    def session(op, arrays, attributes):
        kinds = [helper.np_dtype_to_tensor_dtype(a.dtype) for a in arrays]
        key = (op, *kinds, *(a.ndim for a in arrays), *attributes.items())
        if key not in sessions:
            ins = [
                helper.make_tensor_value_info(n, k, [None] * a.ndim)
                for n, k, a in zip("xiu", kinds, arrays, strict=False)
            ]
            kind = onnx.TensorProto.INT64 if op == "NonZero" else kinds[0]
            names = [value.name for value in ins]
            node = helper.make_node(op, names, ["y"], **attributes)
            graph = helper.make_graph([node], "one", ins, [onnx.ValueInfoProto(name="y")])
            graph.output[0].type.tensor_type.elem_type = kind
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
            options = onnxruntime.SessionOptions()
            options.log_severity_level, options.intra_op_num_threads = 4, 2
            sessions[key] = onnxruntime.InferenceSession(
                model.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
        return sessions[key]

    def call(op):
        def run(*arrays, **attributes):
            made = session(op, arrays, attributes)
            return made.run(None, dict(zip("xiu", arrays, strict=False)))[0]

        return run

    names = ("Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND")
    found = {operator: call(op) for operator, op in zip(OPERATORS, names, strict=False)}
    return found | {"nonzero_coordinates": lambda x: call("NonZero")(x).T}


def numba():
    from . import numba_loops

    return numba_loops.OPERATORS


def jax():
    import jax.numpy as jnp

    def index(i):
        return tuple(jnp.moveaxis(jnp.asarray(i), -1, 0))

    return {
        "gather": lambda x, i, axis=0: np.asarray(jnp.take(jnp.asarray(x), jnp.asarray(i), axis)),
        "gather_elements": lambda x, i, axis=0: np.asarray(jnp.take_along_axis(jnp.asarray(x), jnp.asarray(i), axis)),
        "gather_nd": lambda x, i: np.asarray(jnp.asarray(x)[index(i)]),
        "scatter_elements": lambda x, i, u, axis=0: np.asarray(
            jnp.put_along_axis(jnp.asarray(x), jnp.asarray(i), jnp.asarray(u), axis, inplace=False)
        ),
        "scatter_nd": lambda x, i, u: np.asarray(jnp.asarray(x).at[index(i)].set(jnp.asarray(u))),
        "nonzero_coordinates": lambda x: np.asarray(jnp.argwhere(jnp.asarray(x))),
    }


def operators(name: str) -> dict:
    """The operators of an engine by dmlcore's names."""
    return globals()[name]()
