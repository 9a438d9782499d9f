"""Repairs a Linux wheel (the libraries that it needs go inside) and checks what a release has to hold.

    python packaging/check_wheel.py dist/dmlcore-*.whl        leaves the repaired wheel in its place

Checked: one file for all Pythons from 3.11 on (abi3audit), the metadata (twine), the contents (check-wheel-contents), less than
1 MB, stubs and headers inside.
"""

import subprocess
import sys
import zipfile
from pathlib import Path

LIMIT = 1_000_000
NEEDED = ("py.typed", "_generated/operators.pyi", "include/dmlcore.h", "core/kernel.h", "core/list.h", "capi.pxd")


def repair(wheel: Path) -> Path:
    """Asks auditwheel for the oldest manylinux that the wheel fits."""
    folder = wheel.parent / "repaired"
    subprocess.run([sys.executable, "-m", "auditwheel", "repair", "--strip", "-z", "9", "-w", folder, wheel], check=True)
    (repaired,) = folder.glob("*.whl")
    wheel.unlink()
    repaired = repaired.rename(wheel.parent / repaired.name)
    folder.rmdir()
    return repaired


def check(wheel: Path) -> list[str]:
    wrong = []
    tools = Path(sys.executable).parent
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    libraries = any(name.startswith("dmlcore.libs/") for name in names)
    commands = [
        [tools / "twine", "check", "--strict", wheel],
        # W009, W010: the folder of the libraries stands beside the package
        [tools / "check-wheel-contents", *(["--ignore", "W009,W010"] if libraries else []), wheel],
    ]
    if "-abi3-" in wheel.name:
        commands.append([tools / "abi3audit", "--strict", "--verbose", wheel])
    for command in commands:
        if subprocess.run(command).returncode:
            wrong.append(f"{Path(command[0]).name} is not content")
    wrong += [f"{name} is missing" for name in NEEDED if f"dmlcore/{name}" not in names]
    wrong += [f"{name} does not belong into a wheel" for name in names if name.endswith((".pyx", ".c", ".pxi", ".inc"))]
    size = wheel.stat().st_size
    if size >= LIMIT:
        wrong.append(f"{size:,} bytes, expected less than {LIMIT:,}")
    print(f"{wheel.name}: {size:,} bytes, {len(names)} files, libraries: {[n for n in names if '.libs/' in n] or 'none'}")
    return wrong


def main() -> int:
    failed = False
    for argument in sys.argv[1:]:
        wheel = Path(argument)
        if "-linux_" in wheel.name:
            wheel = repair(wheel)
        wrong = check(wheel)
        for line in wrong:
            print(f"{wheel.name}: {line}", file=sys.stderr)
        failed |= bool(wrong)
    return failed


if __name__ == "__main__":
    sys.exit(main())
