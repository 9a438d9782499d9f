"""The clock: calls of one cell take turns, so that what disturbs the machine disturbs them all, and medians are kept.

The order is drawn anew for every round, so that none always follows the call that leaves it the fullest or emptiest caches;
those whose threads go on looking for work come last, and the next round waits for them.
A turn first runs its call unmeasured until caches and threads are its own again, then times a number of calls in a row.
Calls far behind are dropped after two turns, those behind after three; where the outcome is close, the others get more,
except the machine's limits.
"""

import gc
import math
import random
import statistics
import time
from dataclasses import dataclass, field
from itertools import repeat

from .peers import PRODUCT

WARM = 0.004  # seconds before the clock starts, unless a call is a long one
PASSES = 4  # calls before it starts, at least: until a large third-level cache holds what they use; longer than COLD / 2: one
BEHIND = 2.0  # so many times slower than the fastest peer: two turns are enough,
BEHIND_LATER = 1.4  # or, so many times slower, three,
LONG = 0.02  # and for calls of more seconds the first one,
FAR_BEHIND = 4.0  # or, so many times slower, the one whose answer was checked,
FIRST = 1.0  # less the seconds that a first call may take for new pages, starting and compiling
COLD = 0.02  # seconds: longer calls find no cache worth warming
CLOSE = (0.85, 1.15)
VERY_LATE = 5  # times the seconds of a cell: then two turns have to do, instead of three


order = random.Random(0)
cpu_clock = False  # for busy machines: with one thread, CPU time is what the wall clock would say on an idle one


@dataclass
class Entry:
    """One call of one peer, and the seconds per call of each of its turns."""

    peer: str
    label: str
    output: str
    run: object
    turns: list = field(default_factory=list)
    busy: list = field(default_factory=list)  # CPU seconds per call: what was paid, however busy the machine was
    repeats: int = 1
    warm: int = 1
    checked: float = 0.0  # seconds that the call whose answer was checked took, at least
    lingers: float = 0.0  # seconds for which its threads keep a CPU busy after a call

    @property
    def median(self) -> float:
        return statistics.median(self.busy if cpu_clock else self.turns)

    def as_dict(self) -> dict:
        """For the results file."""
        low, high = min(self.turns), max(self.turns)
        return {
            "peer": self.peer,
            "call": self.label,
            "output": self.output,
            "seconds": rounded(self.median),
            "range": [rounded(low), rounded(high)],  # of the wall clock
            "turns": len(self.turns),
            "cpu_seconds": rounded(statistics.median(self.busy)),
        }


def rounded(x: float) -> float:
    """Four digits are more than a clock gives."""
    return float(f"{x:.4g}")


def measure(entries: list[Entry], rounds: int, turn: float, seconds: float) -> None:
    """Fills `turns` of every entry: `rounds` rounds of `turn` seconds each, more if it is close, `seconds` in all."""
    started = time.perf_counter()
    first, best = {}, {"fresh": math.inf, "reused": math.inf}
    for entry in sorted(entries, key=lambda e: (e.lingers, e.checked)):
        peer = entry.peer not in (PRODUCT, "limit")
        if peer and not cpu_clock and entry.checked > max(FAR_BEHIND * best[entry.output], LONG):
            first[id(entry)] = once = entry.checked
            entry.turns, entry.busy = [once], [once]
            continue
        once, busy = _timed(entry.run, 1)
        first[id(entry)] = once = max(once, 1e-8)
        if peer:
            best |= {output: min(best[output], once) for output in {entry.output, "reused"}}
        if once >= COLD:
            entry.turns, entry.busy = [once], [busy]  # as good as any later one
        if once < 1e-3:
            once = max(_timed(entry.run, max(1, int(1e-3 / once)))[0], 1e-9)
        entry.repeats = max(1, int(turn / once))
        entry.warm = 0 if once >= COLD else max(PASSES if once < COLD / 2 else 1, math.ceil(WARM / once))
    enabled = gc.isenabled()
    gc.disable()
    try:
        racing = []
        for entry in entries:
            once = first[id(entry)]
            if entry.peer not in (PRODUCT, "limit") and once > max(BEHIND * best[entry.output], LONG):
                entry.turns, entry.busy = entry.turns or [once], entry.busy or [once]
            else:
                racing.append(entry)
        done = 0
        while racing:
            time.sleep(max(e.lingers for e in racing))
            for entry in sorted(order.sample(racing, len(racing)), key=lambda e: e.lingers):
                if len(entry.turns) <= done:
                    _turn(entry)
            done += 1
            if done >= 2:
                racing = [e for e in racing if _matters(e, entries, done, rounds)]
            spent = time.perf_counter() - started
            late, enough = spent > seconds, 2 if spent > VERY_LATE * seconds else 3
            if (done >= rounds and (late or not is_close(entries))) or (done >= enough and late) or done >= 4 * rounds:
                break
    finally:
        if enabled:
            gc.enable()


def overhead() -> float:
    """Seconds that the loop and an empty function cost: subtracted from every figure."""
    nothing = lambda: None  # noqa: E731
    return statistics.median(_timed(nothing, 20000)[0] for _ in range(15))


def best_peer(entries: list[Entry], output: str) -> Entry | None:
    """The fastest call of any peer; for a reused output, allocating ones count as well."""
    allowed = [e for e in entries if e.peer not in (PRODUCT, "limit") and e.turns and e.output in ("fresh", output)]
    return min(allowed, key=lambda e: e.median, default=None)


def product(entries: list[Entry], output: str) -> Entry | None:
    """Our own call."""
    return next((e for e in entries if e.peer == PRODUCT and e.output == output and e.turns), None)


def is_close(entries: list[Entry]) -> bool:
    """Whether more turns might change who wins."""
    for output in ("fresh", "reused"):
        ours, best = product(entries, output), best_peer(entries, output)
        if ours and best and CLOSE[0] < best.median / ours.median < CLOSE[1]:
            return True
    return False


def _matters(entry: Entry, entries: list[Entry], done: int, rounds: int) -> bool:
    if entry.peer == PRODUCT:
        return True
    if entry.peer == "limit":
        return entry.median < COLD and done < rounds
    best = best_peer(entries, entry.output)
    return best is None or entry.median < (BEHIND if done < 3 else BEHIND_LATER) * best.median


def _turn(entry: Entry) -> None:
    for _ in repeat(None, entry.warm):
        entry.run()
    seconds, busy = _timed(entry.run, entry.repeats)
    entry.turns.append(max(seconds - overhead.seconds, 1e-9))
    entry.busy.append(max(busy - overhead.seconds, 1e-9))


def _timed(run, repeats: int) -> tuple[float, float]:
    """Seconds per call: those of the clock, and those that the CPUs were busy."""
    clock = time.perf_counter
    turns = repeat(None, repeats)
    busy, start = time.process_time(), clock()
    for _ in turns:
        run()
    seconds = clock() - start
    return seconds / repeats, (time.process_time() - busy) / repeats


overhead.seconds = 0.0
