"""Images whose channels are last, and those whose channels are apart: a few columns that become rows, and such rows that become
columns, as a scatter copies them that updates nothing. Each against NumPy, with bytes around the output that have to stay.
"""

import numpy as np
import pytest
from oracle import same_bits

import dmlcore

DTYPES = ("uint8", "uint16", "float32", "float64", "complex128")
ISAS = ("baseline", "avx2", "avx512", "avx512-gathers")


def copied(x, threads, gap=0):
    """A copy with guards around it, its rows so many elements apart."""
    shape = (*x.shape[:-1], x.shape[-1] + gap)
    memory = np.full(np.prod(shape, dtype=int) * x.itemsize + 129, 0xA5, np.uint8)
    out = np.ndarray(shape, x.dtype, memory, 65)[..., : x.shape[-1]]
    nothing = np.empty((0, 1), "int64"), np.empty((0, *x.shape[1:]), x.dtype)
    dmlcore.scatter_nd(x, *nothing, out=out, num_threads=threads)
    assert (memory[:65] == 0xA5).all() and (memory[-64:] == 0xA5).all()
    rest = np.ndarray(shape, x.dtype, memory, 65)[..., x.shape[-1] :]
    assert (np.ascontiguousarray(rest).view(np.uint8) == 0xA5).all()
    return out


@pytest.mark.parametrize("isa", ISAS, indirect=True)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 20, 24, 32, 33))
def test_channels(rng, every_thread, isa, dtype, channels):
    """Of one image and of several, of a part of one, and of one that is turned about."""
    for size in (3, 127, 130, 2099):
        last = rng.integers(0, 256, (2, size, channels, np.dtype(dtype).itemsize), np.uint8).view(dtype)[..., 0]
        apart = np.ascontiguousarray(last.transpose(0, 2, 1))
        for x in (last, last[:1], last[:, : size * 2 // 3], last[:, ::-1], last[..., ::-1], last[..., 1:]):
            for threads in (1, 3):
                assert same_bits(copied(x.transpose(0, 2, 1), threads), np.ascontiguousarray(x.transpose(0, 2, 1)))
        for x in (apart, apart[:1], apart[:, :, : size * 2 // 3], apart[:, :, ::-1], apart[:, ::-1], apart[:, 1:]):
            for threads in (1, 3):
                for gap in (0, 2):
                    assert same_bits(copied(x.transpose(0, 2, 1), threads, gap), np.ascontiguousarray(x.transpose(0, 2, 1)))


@pytest.mark.parametrize("isa", ISAS, indirect=True)
@pytest.mark.parametrize("channels", (2, 3, 4, 12))
def test_large_images(rng, isa, channels):
    """Past the caches."""
    image = rng.integers(0, 256, (701, 60_000 // channels, channels), np.uint8)
    assert same_bits(copied(image.transpose(2, 0, 1), 2), np.ascontiguousarray(image.transpose(2, 0, 1)))
    image = image.reshape(channels, 701, -1)
    assert same_bits(copied(image.transpose(1, 2, 0), 2), np.ascontiguousarray(image.transpose(1, 2, 0)))
