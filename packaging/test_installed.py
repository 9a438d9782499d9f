"""Runs the tests against what is installed: every Python that is found, with the oldest and the newest NumPy.

    python packaging/test_installed.py dist/dmlcore-*.whl [--sdist dist/dmlcore-*.tar.gz] [--only 3.12] [-- pytest's arguments]

The wheel meets the whole suite. With --sdist each Python also builds the sdist, as pip does for a user without a wheel, and
that meets the tests of the product; those of the generator, of the pages and of the build itself look at the same files again
and are left out. The tests are then those of the sdist, unpacked elsewhere, so that nothing of the checkout is imported by
mistake. Each combination gets an environment of its own in build/installed; Pythons that are not found are named.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")
NOT_THE_PRODUCT = (
    "tests/codegen",
    "tests/docs",
    "tests/packaging/test_build.py",
    "tests/packaging/test_core_builds.py",
    "tests/test_benchmarks.py",
    "tests/test_contributing.py",
    "tests/test_generated.py",
)
OLDEST_NUMPY = {"3.11": "2.0", "3.12": "2.0", "3.13": "2.1", "3.14": "2.3"}  # the first with wheels for that Python


def interpreters() -> dict[str, str]:
    """Version -> a working interpreter, from PATH and from pyenv's folder."""
    found = {}
    for version in OLDEST_NUMPY:
        candidates = [shutil.which(f"python{version}")]
        candidates += sorted(map(str, Path("~/.pyenv/versions").expanduser().glob(f"{version}.*/bin/python")), reverse=True)
        for path in filter(None, candidates):
            probe = [path, "-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"]
            done = subprocess.run(probe, capture_output=True, text=True)
            if done.returncode == 0 and done.stdout.strip() == version:
                found[version] = path
                break
    return found


def environment(python: str, folder: Path, package: Path, numpy: str) -> Path:
    """A fresh virtual environment with the package, its test requirements and that NumPy."""
    subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
    run = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = [run, *PIP, "install"]
    subprocess.run([*pip, f"{package}", numpy], check=True)
    installed = subprocess.run([run, "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True, check=True).stdout
    names = {line.split("==")[0].split(" ")[0] for line in installed.splitlines()} - {"pip", "setuptools", "wheel"}
    if names != {"dmlcore", "numpy"}:
        raise SystemExit(f"installing {package.name} brought {', '.join(sorted(names))}; expected dmlcore and numpy alone")
    subprocess.run([*pip, f"{package}[test]", numpy, "setuptools>=77", "cython>=3.1"], check=True)
    return run


def build(python: str, sdist: Path, folder: Path) -> Path:
    """The wheel that a Python makes of the sdist, in an environment that pip sets up for it."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([python, "-m", "venv", "--clear", folder / "venv"], check=True)
    run = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    subprocess.run([run, *PIP, "wheel", "--no-deps", "--wheel-dir", folder, sdist.resolve()], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def tested(run: Path, tests: Path, arguments: list[str]) -> bool:
    """Whether the tests pass with what is installed in that environment."""
    about = (
        "import sys, dmlcore, numpy; assert 'site-packages' in dmlcore.__file__, dmlcore.__file__;"
        "print('Python', sys.version.split()[0], 'NumPy', numpy.__version__, dmlcore.build_info(), flush=True)"
    )
    subprocess.run([run, "-c", about], cwd=tests / "tests", check=True)
    return subprocess.run([run, "-m", "pytest", "-q", *arguments], cwd=tests).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--sdist", type=Path, help="build it with each Python too, and take the tests from there")
    parser.add_argument("--only", action="append", metavar="VERSION", help="this Python, 3.12 for example; may be repeated")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    own = sys.argv[1:]
    cut = own.index("--") if "--" in own else len(own)
    options = parser.parse_args(own[:cut])
    options.pytest = own[cut + 1 :]

    where, tests = ROOT / "build" / "installed", ROOT
    if options.sdist:
        shutil.rmtree(where / "sdist", ignore_errors=True)
        with tarfile.open(options.sdist) as tar:
            tar.extractall(where / "sdist", filter="data")
        (tests,) = (where / "sdist").iterdir()
    product = [f"--ignore={path}" for path in NOT_THE_PRODUCT]

    wanted, found, results = options.only or list(OLDEST_NUMPY), interpreters(), []
    for version in wanted:
        if version not in found:
            print(f"Python {version}: not found, not tested", flush=True)
            continue
        packages = [("wheel", options.wheel.resolve(), options.pytest)]
        if options.sdist:
            print(f"==> Python {version}: building the sdist", flush=True)
            built = build(found[version], options.sdist, where / f"{version}-built")
            packages.append(("sdist", built, [*product, *options.pytest]))
        for kind, package, arguments in packages:
            for label, numpy in (("oldest", f"numpy=={OLDEST_NUMPY[version]}.*"), ("newest", "numpy")):
                name = f"Python {version}, {label} NumPy, {kind}"
                print(f"==> {name}", flush=True)
                start = time.monotonic()
                try:
                    run = environment(found[version], where / f"{version}-{label}-{kind}", package, numpy)
                    passed = tested(run, tests, arguments)
                except subprocess.CalledProcessError as error:  # the others are still worth a try
                    print(f"==> failed: {error}", flush=True)
                    passed = False
                results.append((name, passed, time.monotonic() - start))
                print(f"==> {name}: {'passed' if passed else 'FAILED'}", flush=True)
    print()
    for name, passed, seconds in results:
        print(f"{'passed' if passed else 'FAILED'}  {seconds:5.0f} s  {name}")
    missing = [version for version in wanted if version not in found]
    print(f"Pythons that were not found: {', '.join(missing) or 'none'}.")
    return not results or not all(passed for _, passed, _ in results)


if __name__ == "__main__":
    sys.exit(main())
