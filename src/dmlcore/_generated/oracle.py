# Generated from the folder spec/operators by `python -m codegen`; do not edit.
"""What each operator means, in NumPy: simple and slow, for tests and for reading."""

import numpy as np


# GATHER
def gather(input, indices, axis=0):
    return input[(slice(None),) * (axis % input.ndim) + (indices,)]


# GATHER_ELEMENTS
def gather_elements(input, indices, axis=0):
    at = list(np.indices(indices.shape, sparse=True))
    at[axis] = indices
    return input[tuple(at)]


# GATHER_ND
def gather_nd(input, indices):
    return input[tuple(np.moveaxis(indices, -1, 0))]


# GATHER_ND1
def gather_nd1(input, indices, batch_dims=0):
    batch = indices.shape[:batch_dims]
    tuples = indices.shape[batch_dims:-1]
    output = np.empty(batch + tuples + input.shape[batch_dims + indices.shape[-1]:], input.dtype)
    for at in np.ndindex(batch):
        output[at] = input[at][tuple(np.moveaxis(indices[at], -1, 0))]
    return output


# NONZERO_COORDINATES
def nonzero_coordinates(input):
    return np.argwhere(input != 0).astype(np.uint32)


# SCATTER_ELEMENTS
def scatter_elements(input, indices, updates, axis=0):
    output = input.copy()
    for position in np.ndindex(indices.shape):
        at = list(position)
        at[axis] = indices[position]
        output[tuple(at)] = updates[position]
    return output


# SCATTER_ND
def scatter_nd(input, indices, updates):
    output = input.copy()
    for position in np.ndindex(indices.shape[:-1]):
        output[tuple(indices[position])] = updates[position]
    return output
