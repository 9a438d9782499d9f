"""Runs the tests against an installed wheel: every Python that is found, with the oldest and the newest NumPy.

    python packaging/test_installed.py dist/dmlcore-*.whl [--sdist dist/dmlcore-*.tar.gz] [--only 3.12] [-- pytest's arguments]

Each combination gets an environment of its own in build/installed. With --sdist the tests are those of the sdist, unpacked
elsewhere, so that nothing of the checkout can be imported by mistake.
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


def environment(python: str, folder: Path, wheel: Path, numpy: str) -> Path:
    """A fresh virtual environment with the wheel, its test requirements and that NumPy."""
    subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
    run = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = [run, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input", "install"]
    subprocess.run([*pip, f"{wheel}", numpy], check=True)
    installed = subprocess.run([run, "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True, check=True).stdout
    names = {line.split("==")[0] for line in installed.split()} - {"pip", "setuptools", "wheel"}
    if names != {"dmlcore", "numpy"}:
        raise SystemExit(f"installing the wheel brought {', '.join(sorted(names))}; expected dmlcore and numpy alone")
    subprocess.run([*pip, f"{wheel}[test]", numpy, "setuptools>=77", "cython>=3.1"], check=True)
    return run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--sdist", type=Path, help="take the tests from here instead of from the checkout")
    parser.add_argument(
        "--only", action="append", metavar="VERSION", help="this Python, 3.12 for example; may be repeated"
    )
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

    wanted, found, failed = options.only or list(OLDEST_NUMPY), interpreters(), []
    for version in wanted:
        if version not in found:
            print(f"Python {version}: not found, not tested", flush=True)
            continue
        for label, numpy in (("oldest", f"numpy=={OLDEST_NUMPY[version]}.*"), ("newest", "numpy")):
            print(f"==> Python {version}, {label} NumPy", flush=True)
            start = time.monotonic()
            run = environment(found[version], where / f"{version}-{label}", options.wheel.resolve(), numpy)
            about = (
                "import sys, dmlcore, numpy, pathlib; assert 'site-packages' in dmlcore.__file__, dmlcore.__file__;"
                "print('Python', sys.version.split()[0], 'NumPy', numpy.__version__, dmlcore.build_info())"
            )
            subprocess.run([run, "-c", about], cwd=tests / "tests", check=True)
            done = subprocess.run([run, "-m", "pytest", "-q", *options.pytest], cwd=tests)
            print(f"==> {'passed' if done.returncode == 0 else 'FAILED'} in {time.monotonic() - start:.0f} s", flush=True)
            if done.returncode:
                failed.append(f"Python {version} with the {label} NumPy")
    tested = [v for v in wanted if v in found]
    print(f"Tested: {', '.join(tested) or 'nothing'}. Not found: {', '.join(v for v in wanted if v not in found) or 'none'}.")
    if failed:
        print(f"Failed: {'; '.join(failed)}.")
    return bool(failed) or not tested


if __name__ == "__main__":
    sys.exit(main())
