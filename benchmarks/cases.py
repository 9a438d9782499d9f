"""The cells of the benchmark: which operator, on what data, of which size. Nothing here knows a library.

A cell is a line of the table below; `task` makes its arrays and its right answer. Everything is drawn from the cell's
name, so that every run and every thread count sees the same numbers.
"""

import math
import zlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

KIB, MIB = 1024, 1024 * 1024
LEVELS = ("tiny", "L2", "L3", "DRAM")
USUAL = ("C", "random", "none", "raise")  # what a name does not tell
OUTSIDE = 0.005  # of the indices, above and below
COLUMNS = 64  # of the indices' rows, where they are one column
PERIOD = 1_000_003  # random values are repeated after so many: large arrays are made quickly


@dataclass(frozen=True)
class Cell:
    """One line of the table. `index_shape` is the shape of the indices, where there are tuples with these last."""

    op: str
    level: str
    dtype: str
    shape: tuple
    index_shape: tuple = ()
    index: str = "int64"
    axis: int = 0
    layout: str = "C"  # of the input: C, T (transposed), step (every second element); indices: F, broadcast, part, column
    pattern: str = "random"  # of the indices: random, negative, outside, permutation, few (16 targets), rows (all equal), ...
    density: float = 1.0  # nonzero_coordinates
    reduction: str = "none"
    mode: str = "raise"  # what becomes of indices out of range; those of the pattern "outside" are, one of a hundred
    quick: bool = False
    title: str = ""  # for the few cells that have a story

    @property
    def name(self) -> str:
        """What `--cells` is matched with; unique."""
        short = {"float": "f", "uint": "u", "int": "i", "bool": "b"}
        type_, index = (
            next(letter + t.removeprefix(word) for word, letter in short.items() if t.startswith(word))
            for t in (self.dtype, self.index)
        )
        words = [self.op, self.level, type_, "x".join(map(str, self.shape))]
        if self.op == "nonzero_coordinates":
            words.append(f"{self.density:g}")
        else:
            words += [index, "x".join(map(str, self.index_shape))]
        if self.op in ("gather", "gather_elements", "scatter_elements"):
            words.append(f"axis{self.axis}")
        words += [word for word in (self.layout, self.pattern, self.reduction, self.mode) if word not in USUAL]
        return "-".join(words)

    @property
    def tuple_size(self) -> int:
        """How many coordinates address one slice (gather_nd, scatter_nd)."""
        return self.index_shape[-1] if self.op.endswith("_nd") else 1

    @property
    def slice_bytes(self) -> int:
        """The bytes that one index moves together."""
        item = np.dtype(self.dtype).itemsize
        if self.op.endswith("_nd"):
            return item * math.prod(self.shape[self.tuple_size :])
        if self.op == "gather":
            return item * math.prod(self.shape[self.axis + 1 :])
        return item


@dataclass
class Task:
    """The arrays of a cell: x, i (indices), u (updates), and the shape of the answer."""

    cell: Cell
    x: np.ndarray
    i: np.ndarray | None = None
    u: np.ndarray | None = None
    shape: tuple | None = None
    made: dict = field(default_factory=dict)

    @property
    def plain(self) -> bool:
        """Whether every array lies in C order."""
        return all(a is None or a.flags.c_contiguous for a in (self.x, self.i, self.u))

    @property
    def coordinates(self) -> tuple:
        """The indices as one array per dimension, views."""
        return tuple(self.i[..., k] for k in range(self.i.shape[-1]))

    def empty(self) -> np.ndarray:
        """A preallocated output, its pages touched."""
        out = np.empty(self.shape, self.x.dtype)
        out.fill(1)
        return out

    @cached_property
    def inside(self) -> np.ndarray:
        """Which single indices are in range."""
        size = self.x.shape[self.cell.axis]
        return (self.i >= -size) & (self.i < size)

    @cached_property
    def expected(self) -> np.ndarray:
        """The right answer, by NumPy's plainest means; for nonzero_coordinates (count, ndim)."""
        x, i, cell = self.x, self.i, self.cell
        if cell.op == "gather":
            return np.take(x, i, cell.axis, mode=cell.mode)
        if cell.op == "gather_elements" and cell.mode == "fill":
            return np.where(self.inside, np.take_along_axis(x, np.where(self.inside, i, 0), cell.axis), x.dtype.type(0))
        if cell.op == "gather_elements":
            return np.take_along_axis(x, i, cell.axis)
        if cell.op == "gather_nd":
            return x[self.coordinates]
        if cell.op == "nonzero_coordinates":
            return np.argwhere(x)
        y = x.copy()
        if cell.mode == "drop":
            y[i[self.inside]] = self.u[self.inside[..., 0]]
        elif cell.op == "scatter_nd":
            y[self.coordinates] = self.u
        elif cell.reduction == "add":  # the indices of this cell are equal along a row
            order = np.argsort(i[:, 0], kind="stable")
            rows, starts = np.unique(i[order, 0], return_index=True)
            y[rows] += np.add.reduceat(self.u[order], starts, axis=0)
        else:
            np.put_along_axis(y, i, self.u, cell.axis)
        return y

    @property
    def traffic(self) -> int:
        """Bytes read and written by a perfect program: what the copy limit is measured with."""
        op = self.cell.op
        if op == "nonzero_coordinates":
            return self.x.nbytes + 4 * self.expected.size
        out = math.prod(self.shape) * self.x.itemsize
        if op.startswith("gather"):
            return self.i.nbytes + 2 * out
        return self.i.nbytes + 2 * self.u.nbytes + 2 * out


def task(cell: Cell) -> Task:
    """Makes the arrays of a cell."""
    rng = np.random.default_rng(zlib.crc32(cell.name.encode()))
    x = _lay_out(_values(rng, cell.dtype, _stored(cell)), cell)
    if cell.op == "nonzero_coordinates":
        return Task(cell, x)
    i = _indices(rng, cell)
    if cell.op == "gather":
        shape = cell.shape[: cell.axis] + i.shape + cell.shape[cell.axis + 1 :]
        return Task(cell, x, i, None, shape)
    if cell.op == "gather_elements":
        return Task(cell, x, i, None, i.shape)
    if cell.op == "gather_nd":
        return Task(cell, x, i, None, i.shape[:-1] + cell.shape[cell.tuple_size :])
    if cell.reduction != "none":  # small whole numbers: their sums do not depend on the order
        return Task(cell, x, i, rng.integers(0, 8, i.shape, np.uint8).astype(cell.dtype), cell.shape)
    # What is written depends on the target alone, so that the order of duplicates cannot be seen.
    source = _values(rng, cell.dtype, cell.shape)
    plain = Cell("gather_nd" if cell.op == "scatter_nd" else "gather_elements", **_data_of(cell))
    u = np.ascontiguousarray(Task(plain, source, i % cell.shape[0] if cell.mode == "drop" else i).expected)
    return Task(cell, x, i, u, cell.shape)


def _data_of(cell: Cell) -> dict:
    return {k: getattr(cell, k) for k in ("level", "dtype", "shape", "index_shape", "index", "axis")}


def _stored(cell: Cell) -> tuple:
    """The shape of the array that the input is a view of."""
    if cell.layout == "T":
        return cell.shape[::-1]
    return (*cell.shape[:-1], 2 * cell.shape[-1]) if cell.layout == "step" else cell.shape


def _lay_out(stored: np.ndarray, cell: Cell) -> np.ndarray:
    x = stored
    if cell.op == "nonzero_coordinates" and cell.density < 1:
        x[np.resize(np.random.default_rng(7).random(PERIOD) >= cell.density, x.shape)] = 0
    if cell.layout == "T":
        return x.T
    return x[..., ::2] if cell.layout == "step" else x


def _values(rng, dtype: str, shape: tuple) -> np.ndarray:
    """Random values that every type holds exactly and that are never zero."""
    if dtype == "bool":
        return np.ones(shape, bool)
    return np.resize(rng.integers(1, 120, PERIOD, np.uint8).astype(dtype), shape)


def _indices(rng, cell: Cell) -> np.ndarray:
    shape, dtype = cell.index_shape, np.dtype(cell.index)
    if cell.op.endswith("_nd"):
        i = np.empty(shape, dtype)
        for k, size in enumerate(cell.shape[: cell.tuple_size]):
            i[..., k] = _draw(rng, cell.pattern, size, shape[:-1])
        return _place(i, cell.layout, True)
    size = cell.shape[cell.axis]
    if cell.layout == "broadcast":  # one row of indices for all rows
        return np.broadcast_to(_draw(rng, cell.pattern, size, shape[-1:]).astype(dtype), shape)
    if cell.pattern == "rows":
        return np.repeat(rng.integers(0, size, (shape[0], 1)).astype(dtype), shape[1], axis=1)
    return _place(_draw(rng, cell.pattern, size, shape).astype(dtype, copy=False), cell.layout, False)


def _place(i: np.ndarray, layout: str, tuples: bool) -> np.ndarray:
    """Indices in memory: in Fortran order; a part of rows that have one more, or half as many again if they are long; the
    first of 64 columns, as tuples their first ones."""
    if layout == "F":
        return np.asfortranarray(i)
    if layout == "column":
        wider = np.zeros((*i.shape[:-1], COLUMNS) if tuples else (*i.shape, COLUMNS), i.dtype)
        columns = wider[..., : i.shape[-1]] if tuples else wider[..., 0]
        columns[...] = i
        return columns
    if layout != "part":
        return i
    size = i.shape[-1]
    wider = np.zeros((*i.shape[:-1], size + max(1, size // 2)), i.dtype)
    wider[..., :size] = i
    return wider[..., :size]


def _draw(rng, pattern: str, size: int, shape: tuple) -> np.ndarray:
    if pattern == "permutation":
        return rng.permutation(size)[: math.prod(shape)].reshape(shape)
    if pattern == "few":
        return rng.integers(0, 16, shape) * (size // 16)
    if pattern == "range":
        return np.arange(math.prod(shape)).reshape(shape) % size
    if pattern == "sorted":
        return np.sort(rng.integers(0, size, shape, np.int32), axis=-1)
    if pattern == "negative":
        return rng.integers(-size, size, shape)
    i = rng.integers(0, size, shape, np.int64 if size > 2**31 else np.int32)
    if pattern == "outside":
        i[rng.random(shape) < OUTSIDE] = size + 1
        i[rng.random(shape) < OUTSIDE] = -size - 1
    return i


def _nonzero(level, dtype, shape, *densities, **more):
    return [Cell("nonzero_coordinates", level, dtype, shape, density=d, **more) for d in densities]


def _table() -> list[Cell]:
    c = Cell
    g, e, n, se, sn = "gather", "gather_elements", "gather_nd", "scatter_elements", "scatter_nd"
    f16, f32, f64, i8, u8, i32, u32 = "float16", "float32", "float64", "int8", "uint8", "int32", "uint32"
    big = 64 * MIB  # elements: 256 MiB of float32
    return [
        # gather
        c(g, "tiny", f32, (2, 4), (2,), quick=True),
        c(g, "L2", f32, (65536,), (32768,)),
        c(g, "L2", f32, (4096, 16), (4096,), i32),
        c(g, "L2", f32, (4096, 25), (4096,), i32),
        c(g, "L2", f16, (64, 1024), (256,), axis=1),
        c(g, "L2", f32, (65536,), (100, 300), layout="part"),
        c(g, "L2", f32, (65536,), (16384,), layout="column"),
        c(g, "L2", f32, (10, 8192), (8000,), axis=1, layout="column"),
        c(g, "L2", f32, (65536,), (32768,), mode="clip"),
        c(g, "L2", f32, (65536,), (32768,), mode="clip", pattern="outside"),
        c(g, "L2", f32, (4096, 16), (4096,), i32, mode="clip", pattern="outside"),
        c(g, "L3", f32, (512, 4096), (1024,), axis=1),
        c(g, "L3", u8, (16384, 256), (16384,), i32),
        c(g, "L3", f32, (16 * MIB,), (20_000,)),
        c(g, "L3", f32, (50, 60, 8), (5000,), layout="T"),
        c(g, "L3", f32, (1000, 500), (2000,), layout="T"),
        c(g, "L3", f32, (1024, 1024), (100,), layout="T"),
        c(g, "L3", f32, (8, 512, 512), (8,), layout="T"),
        c(g, "DRAM", f32, (big,), (4 * MIB,), i32),
        c(g, "DRAM", f32, (1 * MIB, 64), (256 * KIB,)),
        c(g, "DRAM", f16, (65536, 2048), (16384,)),
        c(g, "DRAM", f32, (2000, 32768), (13,), axis=1),
        # gather_elements
        c(e, "tiny", f32, (2, 4), (2, 2), axis=1, quick=True),
        c(e, "L2", f32, (64, 512), (64, 512), axis=1, quick=True),
        c(e, "L2", f16, (64, 512), (64, 512), i32, axis=1),
        c(e, "L2", u8, (256, 512), (256, 512), i32, axis=1),
        c(e, "L2", f64, (64, 512), (64, 512), axis=1),
        c(e, "L2", f32, (64, 512), (64, 512), u32, axis=1),
        c(e, "L2", f32, (64, 512), (64, 512), axis=1, pattern="negative"),
        c(e, "L2", f32, (64, 512), (64, 512), axis=0),
        c(e, "L2", f32, (16, 64, 32), (16, 64, 32), axis=1),
        c(e, "L2", f32, (8192, 32), (8192, 4), axis=1),
        c(e, "L2", f32, (65536,), (65536,)),
        c(e, "L2", f32, (2000, 8), (2000, 8), u32, axis=1, layout="F"),
        c(e, "L2", f32, (4000, 8), (4000, 8), axis=1),
        c(e, "L2", f32, (7500, 16), (7500, 8), axis=1, layout="part"),
        c(e, "L2", u8, (2048, 222), (2048, 341), u32, axis=1),
        c(e, "L2", f32, (50, 20), (50, 20), axis=1, layout="part"),
        c(e, "L2", f32, (200, 200), (200, 200), axis=1, layout="part"),
        c(e, "L2", f32, (64, 512), (64, 512), axis=1, mode="fill", pattern="outside"),
        c(e, "L3", f32, (50000, 40), (50000, 20), axis=1, layout="part"),
        c(e, "L3", f32, (2048, 1024), (2048, 1024), axis=1),
        c(e, "L3", f32, (1024, 2048), (1024, 2048), axis=0),
        c(e, "L3", f64, (64, 256, 64), (64, 256, 64), i32, axis=1),
        c(e, "L3", f32, (1024, 2048), (1024, 2048), axis=1, layout="T"),
        c(e, "L3", f32, (1024, 1024), (1024, 1024), i32, axis=1, layout="step"),
        c(e, "L3", f32, (1024, 1024), (1024, 1024), axis=1, layout="F"),
        c(e, "L3", f32, (1024, 2048), (1024, 2048), axis=1, layout="broadcast"),
        c(e, "DRAM", f32, (8192, 2048), (8192, 2048), i32, axis=1),
        c(e, "DRAM", f64, (2048, 4096), (2048, 4096), i32, axis=1),
        c(e, "DRAM", f32, (2048, 4096), (2048, 4096), axis=0),
        c(e, "DRAM", f64, (32, 1024, 256), (32, 1024, 256), i32, axis=1),
        c(e, "DRAM", f32, (big,), (4 * MIB,), i32),
        c(e, "DRAM", f32, (big,), (4 * MIB,), pattern="range"),
        c(e, "DRAM", f32, (big,), (16 * MIB,), i32, pattern="sorted"),
        # gather_nd
        c(n, "tiny", f32, (2, 4), (2, 2), quick=True),
        c(n, "L2", f32, (65536,), (32768, 1)),
        c(n, "L2", f32, (256, 256), (32768, 2), quick=True),
        c(n, "L2", f32, (256, 256), (32768, 2), layout="F"),
        c(n, "L2", f32, (256, 256), (32768, 2), layout="part"),
        c(n, "L2", f32, (256, 256), (16384, 2), layout="column"),
        c(n, "L2", f16, (64, 32, 32), (32768, 3)),
        c(n, "L2", u8, (16, 16, 16, 16), (32768, 4), i32),
        c(n, "L2", f32, (4096, 16), (4096, 1)),
        c(n, "L2", f32, (32, 32, 64), (1024, 2), i32),
        c(n, "L2", f32, (64, 1024), (64, 1)),
        c(n, "L3", f32, (2048, 2048), (512 * KIB, 2), i32),
        c(n, "L3", f32, (512, 512, 16), (64 * KIB, 2), u32),
        c(n, "L3", f32, (2048, 1024), (512 * KIB, 2), layout="step"),
        c(n, "L3", f32, (2048, 1024), (512 * KIB, 2), layout="part"),
        c(n, "L3", f64, (8, 796), (1000, 1), layout="step"),
        c(n, "L3", f32, (4000, 3000), (512 * KIB, 2), pattern="negative"),
        c(n, "DRAM", f32, (big,), (4 * MIB, 1), i32),
        c(n, "DRAM", f32, (8192, 8192), (4 * MIB, 2)),
        c(n, "DRAM", f32, (4096, 4096), (512 * KIB, 2), quick=True),
        c(n, "DRAM", f32, (4096, 4096), (512 * KIB, 2), layout="F"),
        c(n, "DRAM", f32, (256, 512, 512), (4 * MIB, 3), i32),
        c(n, "DRAM", f32, (4 * MIB, 16), (1 * MIB, 1)),
        c(n, "DRAM", f32, (2048, 2048, 16), (1 * MIB, 2)),
        c(n, "DRAM", f32, (256 * KIB, 256), (64 * KIB, 1)),
        c(n, "DRAM", f32, (65536, 1024), (16 * KIB, 1)),
        c(n, "DRAM", f32, (1024, 65536), (256, 1)),
        # scatter_elements
        c(se, "tiny", f32, (2, 4), (2, 2), axis=1, quick=True),
        c(se, "L2", f32, (64, 512), (64, 512), axis=1, quick=True),
        c(se, "L2", f16, (64, 512), (64, 512), i32, axis=1),
        c(se, "L2", f32, (64, 512), (64, 512), axis=0),
        c(se, "L2", f32, (65536,), (65536,), pattern="few"),
        c(se, "L2", f32, (200, 200), (200, 200), axis=1, layout="column"),
        c(se, "L3", f32, (1000, 1000), (1000, 1000), axis=1, layout="part"),
        c(se, "L3", f64, (4096, 16, 8), (4096, 16, 6), axis=2, layout="part"),
        c(se, "L3", f32, (2048, 1024), (2048, 1024), i32, axis=1),
        c(se, "L3", f32, (1024, 2048), (1024, 2048), axis=0),
        c(se, "L3", f32, (4 * MIB,), (512 * KIB,)),
        c(se, "L3", f32, (215, 6999), (12, 6999), axis=0),
        c(se, "L3", f32, (40, 40_000), (40, 40_000), axis=0),
        c(se, "DRAM", f32, (8192, 2048), (8192, 512), axis=1),
        c(se, "DRAM", f32, (2048, 4096), (2048, 4096), axis=0),
        c(se, "DRAM", f32, (big,), (4 * MIB,), i32),
        c(
            se, "DRAM", f32, (556416, 80), (481385, 80), pattern="rows", reduction="add",
            title="onnxruntime issue 28584: ScatterElements add on axis 0",
        ),
        # scatter_nd
        c(sn, "tiny", f32, (2, 4), (2, 2), quick=True),
        c(sn, "L2", f32, (65536,), (32768, 1)),
        c(sn, "L2", f16, (64, 32, 32), (32768, 3), quick=True),
        c(sn, "L2", f32, (4096, 16), (4096, 1), pattern="permutation"),
        c(sn, "L2", f32, (4096, 16), (4096, 1), pattern="few"),
        c(sn, "L2", u8, (300, 300, 4), (10, 1), layout="T"),
        c(sn, "L2", f32, (65536,), (32768, 1), mode="drop", pattern="outside"),
        c(sn, "L3", f32, (65536, 16), (655, 1), pattern="permutation"),
        c(sn, "L3", f32, (512, 512, 16), (64 * KIB, 2), i32),
        c(sn, "L3", f32, (2048, 512), (64 * KIB, 2), layout="F"),
        c(sn, "L3", f32, (2048, 512), (64 * KIB, 2), layout="part"),
        c(sn, "L2", f32, (7, 4096, 8), (10, 1), layout="T"),
        c(sn, "L3", f32, (300_000, 3), (3000, 1), layout="T"),
        c(sn, "L3", f64, (1024, 1024), (100, 1), layout="T"),
        c(sn, "DRAM", f32, (8192, 4096), (2 * MIB, 2)),
        c(sn, "DRAM", f32, (1 * MIB, 32), (1 * MIB, 1), pattern="permutation"),
        c(sn, "DRAM", f32, (1 * MIB, 32), (100 * KIB, 1), pattern="permutation"),
        c(sn, "DRAM", f32, (32768, 1024), (16384, 1), i32, pattern="permutation"),
        # nonzero_coordinates
        *_nonzero("tiny", f32, (2, 4), 0.5, quick=True),
        *_nonzero("L2", f32, (4, 64, 4), 0.01, 0.5),
        *_nonzero("L2", f32, (262144,), 0.001, 0.5),
        *_nonzero("L2", f32, (512, 512), 0.1, quick=True),
        *_nonzero("L2", f32, (512, 512), 0.5, 1.0),
        *_nonzero("L2", u8, (1024, 1024), 0.01, 0.5),
        *_nonzero("L2", "bool", (1024, 1024), 0.1),
        *_nonzero("L2", f16, (64, 64, 64), 0.5),
        *_nonzero("L2", f32, (87381, 3), 0.5),
        *_nonzero("L2", f32, (8, 16, 32, 64), 0.5),
        *_nonzero("L3", i32, (2048, 2048), 0.1),
        *_nonzero("L3", f64, (1024, 1024), 0.5, layout="T"),
        *_nonzero("L3", i8, (4, 8, 16, 64, 256), 1.0),
        *_nonzero("DRAM", f32, (8192, 4096), 0.001),
        *_nonzero("DRAM", f32, (4096, 4096), 0.5),
        *_nonzero("DRAM", f32, (4096, 4096), 1.0),
        *_nonzero("DRAM", u8, (512, 512, 256), 0.05),
    ]  # fmt: skip


def _sizes() -> list[Cell]:
    """The same work at every size, for the chart of cost per item."""
    cells = []
    for k in (*range(3, 24, 2), 24):
        n = 2**k
        rows, columns = 2 ** (k // 2), 2 ** (k - k // 2)
        cells.append(Cell("gather_elements", "size", "float32", (rows, columns), (rows, columns), axis=1))
        cells.append(Cell("gather_nd", "size", "float32", (rows, columns), (max(2, n // 4), 2)))
        cells.append(Cell("scatter_nd", "size", "float32", (max(1, n // 16), 16), (max(1, n // 64), 1)))
        cells.append(Cell("nonzero_coordinates", "size", "float32", (rows, columns), density=0.1))
    return cells


CELLS = _table()
SIZES = _sizes()
