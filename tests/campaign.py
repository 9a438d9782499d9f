"""Random calls for as long as one likes: `make fuzz MINUTES=10 SEED=1`.

Each round draws an operator, types, sizes up to some hundred thousand elements, layouts, an instruction set and a number of
threads, and compares fresh results, `out=`, updates in place, modes, reductions and refused indices with the specification's
NumPy or with plain loops. A round that fails names itself; `make fuzz SEED=1 ARGS="--rounds 7 8"` runs round 7 again.
A crash tells no round; DMLCORE_VERBOSE=1 has each one told before it runs.
"""

import argparse
import itertools
import os
import time
import warnings

import numpy as np
from arrays import data_types, index_parameter, index_types, lay_out_inputs, random_call
from layouts import WRITABLE, lay_out, plain_data
from oracle import LOOPS, call, from_spec, same_bits, same_values
from specs import OPERATORS, TYPES

import dmlcore
from dmlcore._generated.operators import _select_isa, _set_grain

MOST = 400_000  # elements of a tensor
FEW = 2000  # of which so many go through plain loops
MODES = {"gather": ("clip", "fill"), "scatter": ("drop",)}


def one_round(rng) -> str:
    """A call of one operator in all its ways; the answer says which one it was."""
    op = OPERATORS[rng.integers(len(OPERATORS))]
    data_type, index_type = rng.choice(data_types(op)), rng.choice(index_types(op))
    most = int(np.exp(rng.uniform(np.log(50), np.log(MOST))))
    rank = int(rng.integers(1, 5))
    size = int(np.exp(rng.uniform(0, np.log(most)))) + 1
    drawn = None
    while drawn is None:
        try:
            drawn = random_call(op, rng, data_type, index_type, rank, size, plain_data, most, empty=0.15, tries=300)
        except AssertionError:
            size = size // 2 + 1  # hardly any tensors of these sizes fit each other
    if rng.random() < 0.1:
        leave_nothing(op, drawn)
    if rng.random() < 0.1:
        thin(op, drawn, rng)
    if rng.random() < 0.5:
        repeat(op, drawn, rng)
    if rng.random() < 0.2:
        follow(op, drawn, rng)
    arrays = lay_out_inputs(drawn, rng)
    options = drawn.options | {"num_threads": int(rng.choice((1, 2, 3, 5)))}
    isa = rng.choice(dmlcore.build_info()["isa_available"])
    _select_isa(str(isa))
    _set_grain(int(rng.integers(2)))  # 1: even the smallest work is shared out
    what = f"{op.name} {data_type} {index_type} {isa} {options} " + ", ".join(
        f"{name} {a.shape} strides {a.strides}" for name, a in arrays.items()
    )
    try:
        plain = [np.array(a) for a in arrays.values()]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", DeprecationWarning)  # older NumPy warns instead of raising
                wanted = np.asarray(from_spec(op)(*plain, **drawn.options))
        except (IndexError, DeprecationWarning):
            return what  # an index into a dimension of length 0 that nothing reads
        assert same_bits(call(op, arrays, options), wanted), "differs"
        source = op.member(op.kernel.source).python if op.kernel.source else None
        if "out" in op.python.options:
            out = lay_out(np.zeros(wanted.shape, wanted.dtype), rng, WRITABLE)
            call(op, arrays, options, out=out)
            assert same_bits(np.array(out), wanted), f"differs with out= of strides {out.strides}"
        if source:
            place = lay_out(np.array(arrays[source]), rng, WRITABLE)
            call(op, arrays | {source: place}, options, out=place)
            assert same_bits(np.array(place), wanted), f"differs in place, strides {place.strides}"
        if op.kernel.indices:
            refused(op, drawn, arrays, options, wanted, rng)
            ways(op, data_type, drawn, arrays, options, rng)
    except Exception as error:
        raise AssertionError(what) from error
    return what


def leave_nothing(op, drawn) -> None:
    """No positions at all, in place: random sizes hardly ever leave none where there is a large table."""
    name = index_parameter(op)
    if name and drawn.arrays[name].ndim > ("coordinate_stride" in op.kernel.fields) and not drawn.options.get("batch_dims"):
        for other in {name, "updates"} & set(drawn.arrays):
            drawn.arrays[other] = drawn.arrays[other][:0]


def thin(op, drawn, rng) -> None:
    """One index along some dimension, however many there were: random sizes hardly ever are one beside large ones."""
    name = index_parameter(op)
    if name and drawn.arrays[name].ndim and "coordinate_stride" not in op.kernel.fields:
        d = rng.integers(drawn.arrays[name].ndim)
        for other in {name, "updates"} & set(drawn.arrays):
            drawn.arrays[other] = drawn.arrays[other].take(range(min(1, drawn.arrays[other].shape[d])), d)


def repeat(op, drawn, rng) -> None:
    """The same indices all along the last dimensions, as where one per row was expanded to the shape of the data, along the
    first ones, or along any; stored anew.
    """
    name = index_parameter(op)
    if name:
        indices = drawn.arrays[name]
        rank = indices.ndim - ("coordinate_stride" in op.kernel.fields)
        cut, how = rng.integers(rank + 1), rng.integers(3)
        for d in range(rank):
            if (d >= cut, d < cut, rng.random() < 0.5)[how]:
                indices = np.broadcast_to(indices.take(range(min(1, indices.shape[d])), d), indices.shape)
        drawn.arrays[name] = indices.copy()


def follow(op, drawn, rng) -> None:
    """Ranges, in row-major order, as far as the largest index there was; and most often one that does not belong there."""
    name = index_parameter(op)
    if not name or "coordinate_stride" in op.kernel.fields or not drawn.arrays[name].size:
        return
    indices = drawn.arrays[name]
    last = int(indices.max())
    if last < 0:
        return
    follows = ((int(rng.integers(last + 1)) + np.arange(indices.size)) % (last + 1)).reshape(indices.shape)
    if rng.random() < 0.7:
        follows.flat[rng.integers(indices.size)] = rng.integers(last + 1)
    drawn.arrays[name] = follows.astype(indices.dtype)


def refused(op, drawn, arrays, options, wanted, rng) -> None:
    """An index out of range is named, and what it would have been written to stays as it was."""
    name = index_parameter(op)
    broken = np.array(arrays[name])
    if not broken.size or not wanted.size:
        return
    broken.flat[rng.integers(broken.size)] = np.iinfo(broken.dtype).max
    for more in ({}, {"out": np.full(wanted.shape, 7).astype(wanted.dtype)}):
        before = {key: out.tobytes() for key, out in more.items()}
        try:
            call(op, arrays | {name: broken}, options, **more)
        except dmlcore.IndexOutOfRangeError as error:
            assert str(np.iinfo(broken.dtype).max) in str(error), error
        else:
            raise AssertionError(f"accepts {np.iinfo(broken.dtype).max}")
        assert {key: out.tobytes() for key, out in more.items()} == before, "changed out="


def ways(op, data_type, drawn, arrays, options, rng) -> None:
    """Modes, with indices out of range, and reductions, against plain loops."""
    name, function = index_parameter(op), LOOPS.get(op.python.function)
    if function is None or max(a.size for a in arrays.values()) > FEW or TYPES[data_type].value is None:
        return
    loose = arrays | {name: np.array(arrays[name])}
    for at in rng.integers(0, max(1, loose[name].size), 3):
        if loose[name].size:
            loose[name].flat[at] = np.iinfo(loose[name].dtype).max - int(rng.integers(2))
    kind = "scatter" if op.kernel.source else "gather"
    if "mode" in op.python.options and not any(n == 0 for n in drawn.bounds):
        for mode in MODES[kind]:
            wanted = function(*map(np.array, loose.values()), **drawn.options, mode=mode)
            assert same_bits(call(op, loose, options, mode=mode), wanted), f"differs with mode={mode}"
    if "reduction" in op.python.options:
        for reduction in ("add", "mul", "min", "max"):
            wanted = function(*map(np.array, arrays.values()), **drawn.options, reduction=reduction)
            assert same_values(call(op, arrays, options, reduction=reduction), wanted), f"differs with {reduction}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--rounds", type=int, nargs=2, metavar=("FROM", "TO"), help="these rounds instead of minutes")
    options = parser.parse_args()
    end = float("inf") if options.rounds else time.monotonic() + 60 * options.minutes
    print(f"seed {options.seed}, loops for {', '.join(dmlcore.build_info()['isa_available'])}", flush=True)
    count, told = 0, time.monotonic()
    for number in range(*options.rounds) if options.rounds else itertools.count():
        if time.monotonic() > end:
            break
        if os.environ.get("DMLCORE_VERBOSE"):
            print(f"round {number}", flush=True)  # a crash leaves no other trace
        try:
            one_round(np.random.default_rng([options.seed, number]))
        except AssertionError as error:
            print(f"\nround {number} of seed {options.seed} failed: {error}", flush=True)
            raise
        count += 1
        if time.monotonic() - told > 30:
            told = time.monotonic()
            print(f"{count} rounds", flush=True)
    print(f"{count} rounds, no difference")


if __name__ == "__main__":
    main()
