"""What is said of a bad index: where it is repeated, where a mode takes all others, where it is gone when it is looked for."""

import threading

import numpy as np
import pytest

import dmlcore


def test_broadcast_indices():
    """The first bad one is found at once, however often it is repeated, and its number counts the repetitions."""
    x, many = np.zeros((4, 0), np.float32), 2**40
    for bad, position in (((0, 9), (1, 0, 0)), ((9, 0), (0, 0, 0))):
        indices = np.broadcast_to(np.array(bad)[:, None, None], (2, many, 1))
        with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
            dmlcore.gather_nd(x, indices)
        assert (caught.value.position, caught.value.value) == (position, 9)
    indices = np.broadcast_to(np.array([[3], [-5]]), (many, 2, 1))
    with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
        dmlcore.gather_nd(x, indices)
    assert (caught.value.position, caught.value.value) == ((0, 1, 0), -5)
    indices = np.lib.stride_tricks.as_strided(np.arange(5), (3, 7, 2, 1), (8, 0, 8, 8))
    with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
        dmlcore.gather_nd(np.zeros(3), indices)
    assert (caught.value.position, caught.value.value) == ((2, 0, 1, 0), 3)


def test_clip_names_the_empty_dimension():
    """Any index will do elsewhere."""
    with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
        dmlcore.gather_nd(np.zeros((3, 0, 2), np.float32), np.array([[7, 5]]), mode="clip")
    assert (caught.value.position, caught.value.value, caught.value.valid_range) == ((0, 1), 5, (0, -1))


def test_an_index_that_is_mended_meanwhile():
    """Another thread changes an index back and forth: the message never names an index that is in range."""
    table, indices, stop = np.zeros(1000, np.float32), np.zeros((200_000, 1), np.int64), threading.Event()

    def spoil_and_mend():
        while not stop.is_set():
            indices[150_000] = 5000
            indices[150_000] = 0

    helper = threading.Thread(target=spoil_and_mend)
    helper.start()
    try:
        for _ in range(20_000):
            try:
                dmlcore.gather_nd(table, indices, num_threads=1)
            except dmlcore.IndexOutOfRangeError as error:
                assert (error.position, error.value, error.valid_range[1]) == ((150_000, 0), 5000, 999)
            except IndexError as error:
                assert "changed during the call" in str(error)
                break
    finally:
        stop.set()
        helper.join()
