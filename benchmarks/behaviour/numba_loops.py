"""The loops that a numba user would write: parallel where that is one word, bounds not checked, as is numba's default.

Negative indices are numba's own: it adds the length, once.
"""

import os

import numpy as np
from numba import njit, prange

PARALLEL = not os.environ.get("BEHAVIOUR_SERIAL")  # compiles faster, for the probes of types


@njit(parallel=PARALLEL)
def _gather(x, i, out):
    for n in prange(i.size):
        out[n] = x[i[n]]


@njit(parallel=PARALLEL)
def _gather_elements(x, i, out):
    for n in prange(i.shape[0]):
        for m in range(i.shape[1]):
            out[n, m] = x[i[n, m], m]


@njit(parallel=PARALLEL)
def _gather_nd(x, i, out):
    for n in prange(i.shape[0]):
        out[n] = x[i[n, 0]]


@njit(parallel=PARALLEL)
def _scatter_elements(y, i, u):
    for n in prange(i.shape[0]):
        for m in range(i.shape[1]):
            y[i[n, m], m] = u[n, m]


@njit(parallel=PARALLEL)
def _scatter_nd(y, i, u):
    for n in prange(i.shape[0]):
        y[i[n, 0]] = u[n]


@njit
def _nonzero(x, out):
    count = 0
    for n in range(x.shape[0]):
        for m in range(x.shape[1]):
            if x[n, m] != 0:
                out[count, 0], out[count, 1] = n, m
                count += 1
    return count


def gather(x, i, axis=0):
    out = np.empty((i.size, *x.shape[1:]), x.dtype)
    _gather(x, i, out)
    return out


def gather_elements(x, i, axis=0):
    out = np.empty(i.shape, x.dtype)
    _gather_elements(x, i, out)
    return out


def gather_nd(x, i):
    out = np.empty((len(i), *x.shape[1:]), x.dtype)
    _gather_nd(x, i, out)
    return out


def scatter_elements(x, i, u, axis=0):
    y = x.copy()
    _scatter_elements(y, i, u)
    return y


def scatter_nd(x, i, u):
    y = x.copy()
    _scatter_nd(y, i, u)
    return y


def nonzero_coordinates(x):
    out = np.empty((x.size, 2), np.int64)
    return out[: _nonzero(x, out)]


OPERATORS = {
    "gather": gather,
    "gather_elements": gather_elements,
    "gather_nd": gather_nd,
    "scatter_elements": scatter_elements,
    "scatter_nd": scatter_nd,
    "nonzero_coordinates": nonzero_coordinates,
}
