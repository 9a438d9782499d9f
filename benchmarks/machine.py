"""What the figures were measured on: processor, caches, memory, system, versions. No names of hosts or folders."""

import os
import platform
import re
from pathlib import Path


def describe() -> dict:
    """The machine and the product's build, for the results file."""
    import numpy

    import dmlcore

    info = dmlcore.build_info()
    return {
        "cpu": _cpu(),
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "caches": _caches(),
        "memory_gib": _memory(),
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "virtual": "hypervisor" in _read("/proc/cpuinfo"),
        "huge_pages": _huge_pages(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "dmlcore": info["version"],
        "compiler": info["compiler"],
        "isa": info["isa"],
        "openmp": bool(info["openmp"]),
    }


def sentence(machine: dict) -> str:
    """The same in one line, for charts and pages."""
    caches = ", ".join(f"{name} {size}" for name, size in machine["caches"].items())
    virtual = " (virtual machine)" if machine["virtual"] else ""
    return f"{machine['cpu']}{virtual}, {machine['cpus']} CPUs, {caches}, {machine['memory_gib']} GiB"


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _cpu() -> str:
    text = _read("/proc/cpuinfo")
    found = {key: re.search(rf"^{key}\s*:\s*(.+)$", text, re.M) for key in ("model name", "cpu family", "model")}
    if not found["model name"]:
        return platform.processor() or platform.machine()
    name = re.sub(r"\s+", " ", found["model name"][1]).strip()
    if found["cpu family"] and found["model"]:
        name += f" family {found['cpu family'][1]} model {found['model'][1]}"
    return name


def _huge_pages() -> str:
    found = re.search(r"\[(\w+)\]", _read("/sys/kernel/mm/transparent_hugepage/enabled"))
    return found[1] if found else "unknown"


def _caches() -> dict:
    caches = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        if kind != "Instruction":
            kib = int(size.rstrip("K"))
            caches[f"L{level}"] = f"{kib // 1024} MiB" if kib >= 1024 else f"{kib} KiB"
    return caches


def _memory() -> int:
    found = re.search(r"MemTotal:\s*(\d+) kB", _read("/proc/meminfo"))
    return round(int(found[1]) / 1024 / 1024) if found else 0
