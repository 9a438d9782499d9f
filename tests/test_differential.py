"""The compiled validator against the Python one of codegen, on random and mutated descriptors: the same ids in the
same order.

Sizes go to 2^32 - 1 and beyond 2^63, ranks from 0 to 9, strides, total sizes and alignments come and go. DMLCORE_FUZZ
sets how many checks each operator gets, three levels for a descriptor.
"""

import functools
import multiprocessing
import os
import random

import numpy as np
import pytest
from arrays import random_call
from specs import DESC_CLASSES, OPERATORS, SPEC, product_desc, rules, tensor_desc

import dmlcore
from codegen import validate
from codegen.validate import TensorValue
from dmlcore._generated import operators, tables

COUNT = int(os.environ.get("DMLCORE_FUZZ", 100_000))
WORKERS = min(4, len(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else 1
HUGE = (0, 2**16, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1, 2**32, 2**62, 2**63 - 1, -1)


class Draw:
    """Random tensors and numbers for one operator: mostly its own types and small sizes, sometimes anything."""

    def __init__(self, op, seed=0):
        self.op, self.random = op, random.Random(f"{op.name} {seed}")
        examples = [value for example in op.examples for value in example.desc.values() if not isinstance(value, int)]
        tensors = [TensorValue(t.data_type, t.sizes, t.strides) for t in examples]
        tensors += [self.tensor() for _ in range(3000)]
        self.pool = [(t, tensor_desc(t)) for t in tensors]
        calls = [random_call(op, np.random.default_rng([seed, i]), *self.types(i)) for i in range(100)]
        valid = [*(example.desc for example in op.examples), *(call.desc for call in calls)]
        self.valid = [{name: self.pair(value) for name, value in desc.items()} for desc in valid]
        self.likely = {m.name: [p for p in self.pool if self.fits(m.name, p[0])] for m in op.tensors}

    @staticmethod
    def pair(value):
        """A value for the two validators; of an example's tensor without its data."""
        if isinstance(value, int):
            return value, value
        plain = TensorValue(value.data_type, value.sizes, value.strides)
        return plain, tensor_desc(plain)

    def types(self, i: int) -> list:
        members = [self.op.kernel.data, self.op.kernel.indices]
        cells = [self.op.support[m][SPEC.newest.name].data_types if m else [None] for m in members]
        return [cell[i % len(cell)] for cell in cells]

    def fits(self, member: str, tensor: TensorValue) -> bool:
        cell = self.op.support[member][SPEC.newest.name]
        return tensor.data_type in cell.data_types and 0 < len(tensor.sizes) < 5 and all(0 < n < 6 for n in tensor.sizes)

    def size(self) -> int:
        r = self.random
        return r.choice(HUGE) if r.random() < 0.02 else r.randint(1, 3) if r.random() < 0.8 else r.randint(0, 6)

    def tensor(self) -> TensorValue:
        r = self.random
        rank = r.randint(0, 9) if r.random() < 0.3 else r.randint(1, 4)
        types = {t for cells in self.op.support.values() for cell in cells.values() for t in cell.data_types}
        data_type = r.choice(sorted(types)) if r.random() < 0.9 else r.choice(sorted(SPEC.data_types))
        sizes = [1] * r.randint(0, rank) if r.random() < 0.5 else []
        sizes += [self.size() for _ in range(rank - len(sizes))]
        strides = total = None
        alignment = 0
        if r.random() < 0.15:
            strides = tuple(self.size() for _ in range(rank if r.random() < 0.8 else r.randint(0, 9)))
        if r.random() < 0.1:
            total = r.choice((0, 3, 4, 16, 1000, 2**32, 2**64 - 1))
        if r.random() < 0.1:
            alignment = r.choice((1, 2, 3, 4, 8, 16, 2**31, 2**32 - 1))
        return TensorValue(data_type, tuple(sizes), strides, total, alignment)

    def number(self) -> int:
        return self.random.randint(0, 4) if self.random.random() < 0.95 else self.random.choice((8, 9, 2**31, 2**32 - 1))

    def desc(self) -> tuple[dict, object]:
        """The same descriptor for both validators."""
        return self.mutated() if self.random.random() < 0.5 else self.fresh()

    def mutated(self):
        """A valid one with up to two members changed, outputs given or not."""
        r, plain, product = self.random, {}, {}
        base, changes = r.choice(self.valid), r.choice((0, 1, 1, 2))
        changed = r.sample([m.name for m in self.op.members], changes)
        for m, (name, keyword, _) in zip(self.op.members, DESC_CLASSES[self.op.name].MEMBERS, strict=True):
            pair = base[name]
            if m.kind == "output" and r.random() < 0.5:
                continue
            if name in changed and m.is_tensor:
                pair = r.choice(self.pool) if r.random() < 0.5 else self.resized(pair[0])
            elif name in changed:
                pair = (self.number(),) * 2
            plain[name], product[keyword] = pair
        return plain, DESC_CLASSES[self.op.name](**product)

    def resized(self, tensor: TensorValue):
        sizes = list(tensor.sizes) or [1]
        sizes[self.random.randrange(len(sizes))] = self.size()
        value = TensorValue(tensor.data_type, tuple(sizes))
        return value, tensor_desc(value)

    def fresh(self):
        r, plain, product = self.random, {}, {}
        like = None
        for m, (name, keyword, _) in zip(self.op.members, DESC_CLASSES[self.op.name].MEMBERS, strict=True):
            if m.is_tensor:
                if m.kind == "output" and r.random() < 0.6:
                    continue
                pool = self.likely[name] if r.random() < 0.75 else self.pool
                pair = r.choice(pool)
                if like is not None and r.random() < 0.4:
                    value = TensorValue(pair[0].data_type, like)
                    pair = (value, tensor_desc(value))
                like = pair[0].sizes
                plain[name], product[keyword] = pair
            elif m.default is None or r.random() < 0.6:
                plain[name] = product[keyword] = self.number()
        return plain, DESC_CLASSES[self.op.name](**product)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_same_ids(op):
    shares = [(op.name, seed, COUNT // WORKERS) for seed in range(WORKERS)]
    with multiprocessing.get_context("fork").Pool(WORKERS) as pool:
        results = pool.map(compare, shares)
    for failure, _, _ in results:
        assert failure is None, "found {}, wanted {}: {} at {}".format(*failure)
    assert sum(valid for _, valid, _ in results) > COUNT / 20
    if COUNT >= 20_000:
        missing = {c.id for c in op.constraints if c.doors != "array"} - set().union(*(seen for _, _, seen in results))
        assert not missing, f"never broken: {missing}"


def remember() -> dict:
    """In a worker: the Python validator keeps what does not depend on the level until the dictionary is cleared, and
    the rules of a tensor alone for good, since the tensors come back often.
    """
    plain, evaluate, known = validate.tensor_violations, validate.evaluate, {}
    by_level = functools.cache(lambda tensor, position: plain(tensor, SPEC.levels[position], SPEC.levels, SPEC.data_types))

    def remembered(expr, tensors, names):
        if id(expr) not in known:
            known[id(expr)] = evaluate(expr, tensors, names)
        return known[id(expr)]

    validate.tensor_violations = lambda tensor, level, *_: by_level(tensor, level.position)
    validate.evaluate = remembered
    return known


def compare(share):
    """(first difference or None, how many descriptors are valid, which ids were seen) of one worker's share."""
    name, seed, count = share
    op = SPEC.operator(name)
    draw, compiled = Draw(op, seed), operators.CHECK[op.name]
    known = remember()
    checks = tables.OPERATORS[op.name].checks
    positions = sorted({op.introduced.position - 1, *(row.position for row in op.support_rows), len(SPEC.levels) - 1})
    positions = [position for position in positions if position >= 0]
    valid, seen = 0, set()
    for i in range(count):
        if i % 3 == 0:
            plain, product = draw.desc()
            known.clear()
        level = SPEC.levels[draw.random.choice(positions)]
        wanted = op.violations(plain, level)
        if wanted and i % 5:  # the numbers alone; every fifth goes through the explanations
            numbers, _, _ = compiled(product, level.position)
            found = blamed([checks[n] for n in numbers], op, plain)
        else:
            found = rules(dmlcore.check(product, level.name))
        if found != wanted:
            return (found, wanted, product, level.name), valid, seen
        valid += not wanted
        seen.update(wanted)
    return None, valid, seen


def blamed(found, op, desc) -> list[str]:
    """An output that was inferred is reported only when nothing else is."""
    inferred = {m.name for m in op.outputs if m.name not in desc}
    own = {c.id for c in op.constraints}
    rest = [check.id for check in found if check.member not in inferred or check.id in own]
    return rest or [check.id for check in found]


@pytest.mark.parametrize("size", [2**63, 2**64 - 1, 2**64, 2**200, -(2**63), -(2**200)])
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_sizes_beyond_64_bits(op, size):
    """They are kept as given, and refused like any other size that is no UINT."""
    for m in op.inputs:
        value = TensorValue(op.examples[0].desc[m.name].data_type, (size,))
        found = dmlcore.check(product_desc(op, {**op.examples[0].desc, m.name: value}))
        violation = next(v for v in found if v.rule == "TENSOR-Sizes-range")
        assert violation.member == m.name and violation.found == (size,) and str(size) in violation.message


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_minimum_feature_level(op):
    """It is the lowest level whose check is empty, and no higher level refuses again."""
    draw, some = Draw(op), 0
    for _ in range(COUNT // 200):
        plain, product = draw.desc()
        accepting = [level for level in dmlcore.FeatureLevel if not dmlcore.check(product, level)]
        minimum = dmlcore.minimum_feature_level(product)
        assert minimum == (accepting[0] if accepting else None)
        assert accepting == [level for level in dmlcore.FeatureLevel if minimum is not None and level >= minimum], plain
        some += bool(accepting)
    assert some


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_inference_agrees(op):
    """Outputs and numbers that are left out get the same values."""
    draw = Draw(op)
    for _ in range(COUNT // 50):
        plain, _ = draw.desc()
        for m in op.outputs:
            plain.pop(m.name, None)
        if any(not 0 <= n < 2**32 for m in op.inputs for n in plain[m.name].sizes):
            continue
        _, outputs, uints = operators.CHECK[op.name](product_desc(op, plain), 0)
        wanted = op.infer(plain)
        for m in op.outputs:
            value, sizes = outputs[m.python]
            assert (value, sizes) == (SPEC.data_types[wanted[m.name].data_type].value, wanted[m.name].sizes), plain
        assert uints == {m.python: wanted[m.name] for m in op.uints}
