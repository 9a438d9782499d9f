"""The array functions: natural shapes in, a NumPy array out."""

import numpy as np

import dmlcore

# gather_nd: each row of the indices is a tuple of coordinates; short tuples pick whole slices.
board = np.arange(12, dtype=np.float32).reshape(3, 4)
print(dmlcore.gather_nd(board, [[2], [0]]))  # rows 2 and 0
print(dmlcore.gather_nd(board, [[2, 3], [0, -1]]))  # elements; -1 counts from the end

# gather_elements: one element for each index, along one axis. Here: the two best scores of each row.
scores = np.array([[0.1, 0.7, 0.2], [0.5, 0.2, 0.3]], np.float32)
best = np.argsort(-scores, axis=1)[:, :2]
print(dmlcore.gather_elements(scores, best, axis=1))

# nonzero_coordinates: where, in row-major order. scatter_nd: put something there.
where = dmlcore.nonzero_coordinates(scores > 0.4)
print(where)
print(dmlcore.scatter_nd(scores, where, np.ones(len(where), np.float32)))

# out= takes an array of yours; the input itself is edited in place, without a copy.
dmlcore.scatter_nd(scores, [[0, 0]], np.float32([9]), out=scores)
print(scores)

# An index that is out of range is an error that says where it stands, and nothing has been written.
try:
    dmlcore.gather_nd(board, [[2], [3]])
except dmlcore.IndexOutOfRangeError as error:
    print(error)
    print(error.position, error.value, error.valid_range)
