"""dmlcore itself: the array functions, allocating and with `out=`."""

from . import Call


def load(threads):
    global dmlcore
    import dmlcore

    dmlcore.set_num_threads(threads)
    return dmlcore.__version__


def _both(name, fresh, reused):
    yield Call(name, "fresh", fresh)
    yield Call(f"{name}(out=)", "reused", reused)


def gather(t):
    f, x, i, axis, out = dmlcore.gather, t.x, t.i, t.cell.axis, t.empty()
    return _both("gather", lambda: f(x, i, axis), lambda: f(x, i, axis, out=out))


def gather_elements(t):
    f, x, i, axis, out = dmlcore.gather_elements, t.x, t.i, t.cell.axis, t.empty()
    return _both("gather_elements", lambda: f(x, i, axis), lambda: f(x, i, axis, out=out))


def gather_nd(t):
    f, x, i, out = dmlcore.gather_nd, t.x, t.i, t.empty()
    return _both("gather_nd", lambda: f(x, i), lambda: f(x, i, out=out))


def scatter_elements(t):
    f, x, i, u, axis, out, how = dmlcore.scatter_elements, t.x, t.i, t.u, t.cell.axis, t.empty(), t.cell.reduction
    if how == "none":
        return _both("scatter_elements", lambda: f(x, i, u, axis), lambda: f(x, i, u, axis, out=out))
    name = f"scatter_elements({how})"
    return _both(name, lambda: f(x, i, u, axis, reduction=how), lambda: f(x, i, u, axis, reduction=how, out=out))


def scatter_nd(t):
    f, x, i, u, out = dmlcore.scatter_nd, t.x, t.i, t.u, t.empty()
    return _both("scatter_nd", lambda: f(x, i, u), lambda: f(x, i, u, out=out))


def nonzero_coordinates(t):
    f, x = dmlcore.nonzero_coordinates, t.x
    yield Call("nonzero_coordinates", "fresh", lambda: f(x))
