"""PyTorch on the CPU. Its tensors share NumPy's memory; it wants int64 indices, others are converted in the call."""

import warnings

import numpy as np

from . import Call


def load(threads):
    global torch
    import torch

    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    return torch.__version__


def _tensor(array):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # broadcast indices are not writable, and nobody writes to them
        return torch.from_numpy(array)


def _indices(t, also=()):
    """The indices as a tensor, a function that makes them acceptable, and what to call that."""
    i = _tensor(t.i)
    if t.i.dtype == np.int64 or t.i.dtype in also:
        return i, lambda i: i, ""
    return i, lambda i: i.long(), "i.long(), "


def _value(y):
    return y.numpy()


def gather(t):
    x, axis, out = _tensor(t.x), t.cell.axis, _tensor(t.empty())
    i, fit, label = _indices(t, (np.int32,))
    yield Call(f"{label}index_select", "fresh", lambda: torch.index_select(x, axis, fit(i)), _value)
    yield Call(f"{label}index_select(out=)", "reused", lambda: torch.index_select(x, axis, fit(i), out=out), _value)
    if axis == 0:
        yield Call(f"{label}x[i]", "fresh", lambda: x[fit(i)], _value)


def gather_elements(t):
    x, axis, out = _tensor(t.x), t.cell.axis, _tensor(t.empty())
    i, fit, label = _indices(t)
    yield Call(f"{label}gather", "fresh", lambda: torch.gather(x, axis, fit(i)), _value)
    yield Call(f"{label}gather(out=)", "reused", lambda: torch.gather(x, axis, fit(i), out=out), _value)
    if x.ndim == 1:
        yield Call(f"{label}x[i]", "fresh", lambda: x[fit(i)], _value)


def gather_nd(t):
    x, out = _tensor(t.x), _tensor(t.empty())
    i, fit, label = _indices(t, (np.int32,))
    yield Call(f"{label}x[i.unbind(-1)]", "fresh", lambda: x[fit(i).unbind(-1)], _value)
    if t.cell.tuple_size == 1:
        yield Call(f"{label}index_select", "fresh", lambda: torch.index_select(x, 0, fit(i)[:, 0]), _value)
        run = lambda: torch.index_select(x, 0, fit(i)[:, 0], out=out)  # noqa: E731
        yield Call(f"{label}index_select(out=)", "reused", run, _value)


def scatter_elements(t):
    x, u, axis, out = _tensor(t.x), _tensor(t.u), t.cell.axis, _tensor(t.empty())
    i, fit, label = _indices(t)
    name = "scatter_add" if t.cell.reduction == "add" else "scatter"
    scatter = getattr(torch, name)
    yield Call(f"{label}{name}", "fresh", lambda: scatter(x, axis, fit(i), u), _value)
    yield Call(f"{label}{name}(out=)", "reused", lambda: scatter(x, axis, fit(i), u, out=out), _value)


def scatter_nd(t):
    x, u, out = _tensor(t.x), _tensor(t.u), _tensor(t.empty())
    i, fit, label = _indices(t)
    put = lambda y: y.index_put_(fit(i).unbind(-1), u)  # noqa: E731
    yield Call(f"{label}clone, index_put_", "fresh", lambda: put(x.clone()), _value)
    yield Call(f"{label}copy_, index_put_", "reused", lambda: put(out.copy_(x)), _value)
    if t.cell.tuple_size == 1:
        yield Call(f"{label}index_copy", "fresh", lambda: torch.index_copy(x, 0, fit(i)[:, 0], u), _value)
        yield Call(f"{label}copy_, index_copy_", "reused", lambda: out.copy_(x).index_copy_(0, fit(i)[:, 0], u), _value)


def nonzero_coordinates(t):
    x = _tensor(t.x)
    yield Call("nonzero", "fresh", lambda: torch.nonzero(x), _value)
