"""OpenVINO: a model of one operation, compiled for the CPU, sharing its inputs' and output's memory with NumPy."""

import math

import numpy as np

from . import Call, Refused


def load(threads):
    global ov, ops, _core
    import openvino as ov
    import openvino.opset15 as ops

    _core = ov.Core()
    _core.set_property("CPU", {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"})
    return ov.__version__


def _calls(t, make):
    arrays = [a for a in (t.x, t.i, t.u) if a is not None]
    cast = "" if t.i is None or t.i.dtype in (np.int32, np.int64) else "i.astype(int64), "

    def fit():
        return [arrays[0], arrays[1].astype(np.int64), *arrays[2:]] if cast else arrays

    parameters = [ops.parameter(a.shape, ov.Type(a.dtype)) for a in fit()]
    compiled = _core.compile_model(ov.Model([make(*parameters)], parameters), "CPU")
    request = compiled.create_infer_request()

    def run():
        return request.infer(fit(), share_inputs=True, share_outputs=True)

    value = (lambda y: y[0].T) if t.i is None else (lambda y: y[0])
    yield Call(f"{cast}infer", "fresh", lambda: request.infer(fit(), share_inputs=True), value)
    yield Call(f"{cast}infer(share_outputs)", "reused", run, value)


def gather(t):
    return _calls(t, lambda x, i: ops.gather(x, i, ops.constant(t.cell.axis)))


def gather_elements(t):
    return _calls(t, lambda x, i: ops.gather_elements(x, i, t.cell.axis))


def gather_nd(t):
    return _calls(t, lambda x, i: ops.gather_nd(x, i))


def scatter_elements(t):
    reduction = "sum" if t.cell.reduction == "add" else "none"
    return _calls(t, lambda x, i, u: ops.scatter_elements_update(x, i, u, t.cell.axis, reduction))


def scatter_nd(t):
    return _calls(t, lambda x, i, u: ops.scatter_nd_update(x, i, u))


def nonzero_coordinates(t):
    if math.prod(t.x.shape) >= 2**31:
        raise Refused("counts with 32 bits")
    return _calls(t, lambda x: ops.non_zero(x, "i64"))
