"""TensorFlow, eagerly. It has no preallocated outputs and no scatter of single elements along an axis."""

import contextlib

import numpy as np

from . import Call, Refused


def load(threads):
    global tf
    import tensorflow as tf

    with contextlib.suppress(RuntimeError):  # already running, with the environment's numbers
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    return tf.__version__


def _calls(t, label, function, *arrays, value=lambda y: y.numpy()):
    """Arrays are tensors beforehand, except views, which it cannot hold: they are handed over in the call."""
    cast = "" if t.i is None or t.i.dtype in (np.int32, np.int64) else "cast(i), "
    tensors = [tf.constant(a) if t.plain else a for a in arrays]

    def run():
        return function(tensors[0], tf.cast(tensors[1], tf.int64), *tensors[2:]) if cast else function(*tensors)

    yield Call(f"{cast}{label}", "fresh", run, value)


def gather(t):
    return _calls(t, "gather", lambda x, i: tf.gather(x, i, axis=t.cell.axis), t.x, t.i)


def gather_elements(t):
    axis, last = t.cell.axis, t.x.ndim - 1
    if axis == last:
        yield from _calls(t, "gather(batch_dims=)", lambda x, i: tf.gather(x, i, axis=last, batch_dims=last), t.x, t.i)
    along = tf.experimental.numpy.take_along_axis
    yield from _calls(t, "take_along_axis", lambda x, i: along(x, i, axis), t.x, t.i)


def gather_nd(t):
    return _calls(t, "gather_nd", lambda x, i: tf.gather_nd(x, i), t.x, t.i)


def scatter_elements(t):
    raise Refused("has no such operator")


def scatter_nd(t):
    return _calls(t, "tensor_scatter_nd_update", lambda x, i, u: tf.tensor_scatter_nd_update(x, i, u), t.x, t.i, t.u)


def nonzero_coordinates(t):
    return _calls(t, "where", lambda x: tf.where(x), t.x)
