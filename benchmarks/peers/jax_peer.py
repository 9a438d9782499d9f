"""JAX, compiled, told that every index is in bounds: it does not check. It has no preallocated outputs."""

import numpy as np

from . import Call

IN_BOUNDS = "promise_in_bounds"
MODES = True


def load(threads):
    global jax, jnp
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    return jax.__version__


def _call(t, label, function, *arrays):
    """Arrays are JAX's own beforehand, except views, which it cannot hold: they are handed over in the call."""
    compiled = jax.jit(function)
    if t.plain:
        arrays = [jnp.asarray(a) for a in arrays]
    return Call(f"jit({label})", "fresh", lambda: compiled(*arrays).block_until_ready())


def _mode(t):
    return IN_BOUNDS if t.cell.mode == "raise" else t.cell.mode


def gather(t):
    before, mode = (slice(None),) * t.cell.axis, _mode(t)
    yield _call(t, "x.at[i].get", lambda x, i: x.at[(*before, i)].get(mode=mode), t.x, t.i)


def gather_elements(t):
    axis, mode = t.cell.axis, _mode(t)
    more = {"fill_value": 0} if mode == "fill" else {}
    yield _call(t, "take_along_axis", lambda x, i: jnp.take_along_axis(x, i, axis, mode=mode, **more), t.x, t.i)


def _tuple(i):
    return tuple(i[..., k] for k in range(i.shape[-1]))


def gather_nd(t):
    yield _call(t, "x.at[tuple].get", lambda x, i: x.at[_tuple(i)].get(mode=IN_BOUNDS), t.x, t.i)


def scatter_elements(t):
    axis = t.cell.axis
    if t.cell.reduction == "add":
        at = lambda x, i: x.at[i, jnp.arange(x.shape[1])]  # noqa: E731
        yield _call(t, "x.at[i, columns].add", lambda x, i, u: at(x, i).add(u, mode=IN_BOUNDS), t.x, t.i, t.u)
        return

    def put(x, i, u):
        return jnp.put_along_axis(x, i, u, axis, inplace=False, mode=IN_BOUNDS)

    yield _call(t, "put_along_axis", put, t.x, t.i, t.u)


def scatter_nd(t):
    mode = _mode(t)
    yield _call(t, "x.at[tuple].set", lambda x, i, u: x.at[_tuple(i)].set(u, mode=mode), t.x, t.i, t.u)


def nonzero_coordinates(t):
    x = jnp.asarray(t.x) if t.plain else t.x
    value = lambda y: tuple(map(np.asarray, y))  # noqa: E731
    count, find = jax.jit(jnp.count_nonzero), jax.jit(jnp.nonzero, static_argnames="size")
    # No slower than jnp.nonzero(x), for few elements 30 times as fast; compiled anew for every count.
    run = lambda: jax.block_until_ready(find(x, size=int(count(x))))  # noqa: E731
    yield Call("jit(count_nonzero), jit(nonzero)(size=)", "fresh", run, value)
