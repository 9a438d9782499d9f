"""dmlcore itself: the array functions, allocating and with `out=`."""

from . import Call, Refused


def load(threads):
    global dmlcore
    import dmlcore

    dmlcore.set_num_threads(threads)
    return dmlcore.__version__


def _both(function, *arguments, out, **options):
    yield Call(function.__name__, "fresh", lambda: function(*arguments, **options))
    yield Call(f"{function.__name__}(out=)", "reused", lambda: function(*arguments, out=out, **options))


def gather(t):
    return _both(dmlcore.gather, t.x, t.i, t.cell.axis, out=t.empty())


def gather_elements(t):
    return _both(dmlcore.gather_elements, t.x, t.i, t.cell.axis, out=t.empty())


def gather_nd(t):
    return _both(dmlcore.gather_nd, t.x, t.i, out=t.empty())


def scatter_elements(t):
    if t.cell.reduction == "none":
        return _both(dmlcore.scatter_elements, t.x, t.i, t.u, t.cell.axis, out=t.empty())
    reduction = t.cell.reduction
    try:  # on two elements: is the option there?
        dmlcore.scatter_elements(t.x[:1, :1], t.i[:1, :1] * 0, t.u[:1, :1], reduction=reduction)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise Refused(f"reduction={reduction!r} is not there yet: {error}".splitlines()[0]) from None
    return _both(dmlcore.scatter_elements, t.x, t.i, t.u, t.cell.axis, reduction=reduction, out=t.empty())


def scatter_nd(t):
    return _both(dmlcore.scatter_nd, t.x, t.i, t.u, out=t.empty())


def nonzero_coordinates(t):
    yield Call("nonzero_coordinates", "fresh", lambda: dmlcore.nonzero_coordinates(t.x))
