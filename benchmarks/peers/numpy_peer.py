"""NumPy: the function of that name and the faster ways round it that its users know. It has one thread always."""

import numpy as np

from . import Call

MODES = True


def load(threads):
    return np.__version__


def gather(t):
    x, i, axis, out = t.x, t.i, t.cell.axis, t.empty()
    if t.cell.mode == "clip":
        yield Call('take(mode="clip")', "fresh", lambda: np.take(x, i, axis, mode="clip"))
    else:
        yield Call("take", "fresh", lambda: np.take(x, i, axis))
    if axis == 0 and t.cell.mode != "clip":
        yield Call("x[i]", "fresh", lambda: x[i])
    yield Call('take(mode="clip", out=)', "reused", lambda: np.take(x, i, axis, out=out, mode="clip"))


def gather_elements(t):
    x, i, axis = t.x, t.i, t.cell.axis
    if t.cell.mode == "fill":

        def fill():
            inside = (i >= -x.shape[axis]) & (i < x.shape[axis])
            return np.where(inside, np.take_along_axis(x, np.where(inside, i, 0), axis), x.dtype.type(0))

        return iter([Call("where, take_along_axis", "fresh", fill)])
    if x.ndim == 1:
        return gather(t)
    return iter([Call("take_along_axis", "fresh", lambda: np.take_along_axis(x, i, axis))])


def gather_nd(t):
    x, at, out = t.x, t.coordinates, t.empty()
    yield Call("x[tuple]", "fresh", lambda: x[at])
    if len(at) == 1:
        yield Call("take", "fresh", lambda: np.take(x, at[0], 0))
        yield Call('take(mode="clip", out=)', "reused", lambda: np.take(x, at[0], 0, out=out, mode="clip"))
    elif t.plain:
        flat, dims = _flat(x, at)
        ravel = np.ravel_multi_index
        yield Call("ravel_multi_index, take", "fresh", lambda: np.take(flat, ravel(at, dims), 0))
        flat_out = out.reshape(-1, *flat.shape[1:])
        run = lambda: np.take(flat, ravel(at, dims), 0, out=flat_out, mode="clip")  # noqa: E731
        yield Call("ravel_multi_index, take(out=)", "reused", run, lambda y: y.reshape(t.shape))


def scatter_elements(t):
    x, i, u, axis, out = t.x, t.i, t.u, t.cell.axis, t.empty()
    if t.cell.reduction == "add":
        columns = np.arange(x.shape[1])

        def add():
            y = x.copy()
            np.add.at(y, (i, columns), u)
            return y

        yield Call("copy, add.at", "fresh", add)
        return

    def put(y):
        if y.ndim == 1:
            y[i] = u
        else:
            np.put_along_axis(y, i, u, axis)
        return y

    yield from _written(x, out, "y[i] = u" if x.ndim == 1 else "put_along_axis", put)


def scatter_nd(t):
    x, at, u, out = t.x, t.coordinates, t.u, t.empty()

    def put(y):
        y[at] = u
        return y

    def drop(y):
        inside = (at[0] >= -x.shape[0]) & (at[0] < x.shape[0])
        y[at[0][inside]] = u[inside]
        return y

    if t.cell.mode == "drop":
        yield from _written(x, out, "y[i[inside]] = u[inside]", drop)
        return
    yield from _written(x, out, "y[tuple] = u", put)
    if len(at) > 1:
        dims = _flat(x, at)[1]

        def put_flat(y):
            y.reshape(-1, *x.shape[len(at) :])[np.ravel_multi_index(at, dims)] = u
            return y

        yield from _written(x, out, "ravel_multi_index, y[i] = u", put_flat)


def nonzero_coordinates(t):
    x = t.x
    if x.size < 1 << 20:  # nonzero, and then a copy of its answer: of many elements it takes a second
        yield Call("argwhere", "fresh", lambda: np.argwhere(x))
    yield Call("nonzero", "fresh", lambda: np.nonzero(x), tuple)
    if x.flags.c_contiguous:
        find = (lambda: np.flatnonzero(x)) if x.dtype == bool else (lambda: np.flatnonzero(x != 0))

        def divide():
            at, columns = find(), []
            for size in x.shape[:0:-1]:
                at, column = np.divmod(at, size)
                columns.append(column)
            return (at, *reversed(columns))

        yield Call("flatnonzero(x != 0), divmod", "fresh", divide, tuple)


def _flat(x, at):
    dims = x.shape[: len(at)]
    return x.reshape(-1, *x.shape[len(at) :]), dims


def _written(x, out, label, put):
    def fresh():
        return put(x.copy())

    def reused():
        np.copyto(out, x)
        return put(out)

    yield Call(f"copy, {label}", "fresh", fresh)
    yield Call(f"copyto, {label}", "reused", reused)
