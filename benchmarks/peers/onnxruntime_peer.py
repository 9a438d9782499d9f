"""ONNX Runtime: a model of one node, run with NumPy arrays, and bound to a preallocated output."""

import warnings

import numpy as np

from . import Call

OPSET = 18

LINGERS = 0.05


def load(threads):
    global onnx, ort, _threads
    import onnx
    import onnx.helper
    import onnxruntime as ort

    _threads = threads
    ort.set_default_logger_severity(4)
    return ort.__version__


def _calls(t, node, i=None, **attributes):
    cast = "" if t.i is None or t.i.dtype in (np.int32, np.int64) else "i.astype(int64), "
    inputs = {"x": t.x, "i": t.i if i is None else i, "u": t.u}
    inputs = {name: array for name, array in inputs.items() if array is not None}

    def fit():
        return inputs | {"i": inputs["i"].astype(np.int64)} if cast else inputs

    session = _session(node, fit(), attributes)
    value = (lambda y: y[0].T) if node == "NonZero" else (lambda y: y[0])
    yield Call(f"{cast}run", "fresh", lambda: session.run(None, fit()), value)
    if node != "NonZero" and not cast and t.plain:
        out, binding = t.empty(), session.io_binding()
        for name, array in inputs.items():
            binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
        binding.bind_output("y", "cpu", 0, out.dtype, out.shape, out.ctypes.data)

        def run(kept=(out, inputs)):  # the binding knows addresses only
            session.run_with_iobinding(binding)
            return kept

        yield Call("run_with_iobinding", "reused", run, lambda kept: kept[0])


def _session(node, inputs, attributes):
    def info(name, array):
        kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        return onnx.helper.make_tensor_value_info(name, kind, array.shape)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = onnx.helper.make_node(node, list(inputs), ["y"], **attributes)
        kind = onnx.TensorProto.INT64 if node == "NonZero" else onnx.helper.np_dtype_to_tensor_dtype(inputs["x"].dtype)
        output = onnx.helper.make_tensor_value_info("y", kind, None)
        graph = onnx.helper.make_graph([made], "one", [info(k, v) for k, v in inputs.items()], [output])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=8)
    options = ort.SessionOptions()
    options.intra_op_num_threads = _threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def gather(t):
    return _calls(t, "Gather", axis=t.cell.axis)


def gather_elements(t):
    return _calls(t, "GatherElements", axis=t.cell.axis)


def gather_nd(t):
    # The tuples of GatherND must be int64.
    return _calls(t, "GatherND") if t.i.dtype == np.int64 else _calls_long(t, "GatherND")


def scatter_elements(t):
    return _calls(t, "ScatterElements", axis=t.cell.axis, **_reduction(t))


def scatter_nd(t):
    return _calls(t, "ScatterND") if t.i.dtype == np.int64 else _calls_long(t, "ScatterND")


def nonzero_coordinates(t):
    return _calls(t, "NonZero")


def _reduction(t):
    return {} if t.cell.reduction == "none" else {"reduction": t.cell.reduction}


def _calls_long(t, node):
    inputs = {name: array for name, array in (("x", t.x), ("i", t.i), ("u", t.u)) if array is not None}
    fit = lambda: inputs | {"i": t.i.astype(np.int64)}  # noqa: E731
    session = _session(node, fit(), {})
    yield Call("i.astype(int64), run", "fresh", lambda: session.run(None, fit()), lambda y: y[0])
