# Generated from the folder spec/operators by `python -m codegen`; do not edit.
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

T = TypeVar("T", bound=np.generic)

CHECK: dict[str, Callable[[Any, int], tuple[list[int], dict[str, Any], dict[str, int]]]]
MODES: dict[str, tuple[str, ...]]
RUN: dict[str, Callable[..., None]]
WRITES_ALL: dict[str, bool]

def set_num_threads(num_threads: int | None) -> None: ...
def get_num_threads() -> int: ...
def set_memory_pool_limit(limit: int | None) -> None: ...
def get_memory_pool_limit() -> int: ...
def build_info() -> dict[str, Any]: ...
def _select_isa(name: str | None) -> None: ...
def _set_grain(nanoseconds: int) -> None: ...
def empty_array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray: ...
def _pool_kept() -> int: ...
def gather(
    input: NDArray[T],
    indices: ArrayLike,
    axis: int = 0,
    *,
    mode: str = ...,
    fill_value: Any = 0,
    out: NDArray[T] | None = None,
    num_threads: int | None = None,
) -> NDArray[T]: ...
def gather_elements(
    input: NDArray[T],
    indices: ArrayLike,
    axis: int = 0,
    *,
    mode: str = ...,
    fill_value: Any = 0,
    out: NDArray[T] | None = None,
    num_threads: int | None = None,
) -> NDArray[T]: ...
def gather_nd(
    input: NDArray[T],
    indices: ArrayLike,
    *,
    batch_dims: int = 0,
    mode: str = ...,
    fill_value: Any = 0,
    out: NDArray[T] | None = None,
    num_threads: int | None = None,
) -> NDArray[T]: ...
def nonzero_coordinates(
    input: ArrayLike,
    *,
    dtype: DTypeLike | None = None,
    out: NDArray[T] | None = None,
    num_threads: int | None = None,
) -> NDArray[Any]: ...
def scatter_elements(
    input: NDArray[T],
    indices: ArrayLike,
    updates: NDArray[T],
    axis: int = 0,
    *,
    reduction: str = ...,
    mode: str = ...,
    duplicates: str = ...,
    out: NDArray[T] | None = None,
    num_threads: int | None = None,
) -> NDArray[T]: ...
def scatter_nd(
    input: NDArray[T],
    indices: ArrayLike,
    updates: NDArray[T],
    *,
    reduction: str = ...,
    mode: str = ...,
    duplicates: str = ...,
    out: NDArray[T] | None = None,
    num_threads: int | None = None,
) -> NDArray[T]: ...
