# Generated from the folder spec/operators by `python -m codegen`; do not edit.
"""What each operator means, in NumPy: simple and slow, for tests and for reading."""

import numpy as np


# GATHER_ELEMENTS
def gather_elements(input, indices, axis=0):
    at = list(np.indices(indices.shape, sparse=True))
    at[axis] = indices
    return input[tuple(at)]


# GATHER_ND
def gather_nd(input, indices):
    return input[tuple(np.moveaxis(indices, -1, 0))]


# NONZERO_COORDINATES
def nonzero_coordinates(input):
    return np.argwhere(input != 0).astype(np.uint32)


# SCATTER_ND
def scatter_nd(input, indices, updates):
    output = input.copy()
    for position in np.ndindex(indices.shape[:-1]):
        output[tuple(indices[position])] = updates[position]
    return output
