"""dmlcore itself: the array functions, allocating and with `out=`. Large results are allocated in two ways: in memory
that the last one left, and by NumPy's allocator each time, mostly in memory that is new to the process."""

import math

from . import Call

MODES = True
LARGE = 32 << 20  # bytes; NumPy's allocator gives as much back to the system


def load(threads):
    global dmlcore
    import dmlcore

    dmlcore.set_num_threads(threads)
    return dmlcore.__version__


def _fresh(name, call, nbytes):
    def new():
        dmlcore.set_memory_pool_limit(0)
        try:
            return call()
        finally:
            dmlcore.set_memory_pool_limit(None)

    yield Call(name, "fresh", call)
    if nbytes >= LARGE:
        yield Call(name, "new", new)


def _both(t, name, fresh, reused):
    yield from _fresh(name, fresh, math.prod(t.shape) * t.x.itemsize)
    yield Call(f"{name}(out=)", "reused", reused)


def gather(t):
    f, x, i, axis, out, mode = dmlcore.gather, t.x, t.i, t.cell.axis, t.empty(), t.cell.mode
    if mode != "raise":
        return _both(t, f"gather({mode})", lambda: f(x, i, axis, mode=mode), lambda: f(x, i, axis, mode=mode, out=out))
    return _both(t, "gather", lambda: f(x, i, axis), lambda: f(x, i, axis, out=out))


def gather_elements(t):
    f, x, i, axis, out, mode = dmlcore.gather_elements, t.x, t.i, t.cell.axis, t.empty(), t.cell.mode
    if mode != "raise":
        name = f"gather_elements({mode})"
        return _both(t, name, lambda: f(x, i, axis, mode=mode), lambda: f(x, i, axis, mode=mode, out=out))
    return _both(t, "gather_elements", lambda: f(x, i, axis), lambda: f(x, i, axis, out=out))


def gather_nd(t):
    f, x, i, out = dmlcore.gather_nd, t.x, t.i, t.empty()
    return _both(t, "gather_nd", lambda: f(x, i), lambda: f(x, i, out=out))


def scatter_elements(t):
    f, x, i, u, axis, out, how = dmlcore.scatter_elements, t.x, t.i, t.u, t.cell.axis, t.empty(), t.cell.reduction
    if how == "none":
        return _both(t, "scatter_elements", lambda: f(x, i, u, axis), lambda: f(x, i, u, axis, out=out))
    name = f"scatter_elements({how})"
    return _both(t, name, lambda: f(x, i, u, axis, reduction=how), lambda: f(x, i, u, axis, reduction=how, out=out))


def scatter_nd(t):
    f, x, i, u, out, mode = dmlcore.scatter_nd, t.x, t.i, t.u, t.empty(), t.cell.mode
    if mode != "raise":
        return _both(t, f"scatter_nd({mode})", lambda: f(x, i, u, mode=mode), lambda: f(x, i, u, mode=mode, out=out))
    return _both(t, "scatter_nd", lambda: f(x, i, u), lambda: f(x, i, u, out=out))


def nonzero_coordinates(t):
    f, x = dmlcore.nonzero_coordinates, t.x
    return _fresh("nonzero_coordinates", lambda: f(x), 4 * t.expected.size)
