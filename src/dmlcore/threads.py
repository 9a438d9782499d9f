"""How many threads to use: what was set, what the environment says, or what this process may really use.

The first that is given counts: `num_threads=` of a call, `set_num_threads`, DMLCORE_NUM_THREADS, OMP_NUM_THREADS, the CPUs of
the affinity mask and the cgroup quota. It is an upper bound; small work stays on one thread.
"""

import math
import os

__all__ = ["MOST", "available_cpus", "default_threads"]

MOST = 2**31 - 1  # what a C int holds


def default_threads(environ=os.environ) -> int:
    """The number of threads before anybody calls set_num_threads."""
    for name in ("DMLCORE_NUM_THREADS", "OMP_NUM_THREADS"):
        text = environ.get(name, "").split(",")[0].strip()
        if text:
            try:
                number = int(text)
            except ValueError:
                number = 0
            if number >= 1:
                return min(number, MOST)
            if name == "DMLCORE_NUM_THREADS":
                raise ValueError(f"{name} is {text!r}, expected a positive integer")
    return available_cpus()


def available_cpus() -> int:
    """The CPUs that this process may really use: affinity mask and cgroup quota, at least 1."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        count = os.cpu_count() or 1
    quota = _cgroup_quota()
    return max(1, count if quota is None else min(count, math.ceil(quota)))


def _cgroup_quota(root: str = "/sys/fs/cgroup") -> float | None:
    """CPUs that the control group allows, or None without a limit (version 2 first, then version 1)."""
    try:
        with open(f"{root}/cpu.max") as file:
            quota, period = file.read().split()[:2]
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        pass
    try:
        with open(f"{root}/cpu/cpu.cfs_quota_us") as file:
            quota = int(file.read())
        with open(f"{root}/cpu/cpu.cfs_period_us") as file:
            return quota / int(file.read()) if quota > 0 else None
    except (OSError, ValueError, ZeroDivisionError):
        return None
