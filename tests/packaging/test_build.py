"""What setup.py refuses to build, and what it says then; which files an sdist carries."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A copy of what the build reads."""
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    folder = tmp_path_factory.mktemp("project")
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, folder)
    for name in ("spec", "src"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.so", "*.egg-info", "__pycache__"))
    return folder


@pytest.fixture
def project(original, tmp_path):
    return Path(shutil.copytree(original, tmp_path / "project"))


def setup(project, *arguments):
    return subprocess.run([sys.executable, "setup.py", "-q", *arguments], cwd=project, capture_output=True, text=True)


def generated() -> list[str]:
    sums = (ROOT / "src/dmlcore/_generated/SOURCES.sha256").read_text().split()
    return [name for name in sums[1::2] if name.startswith("src/")]


def test_every_generated_file_is_listed():
    here = {p.relative_to(ROOT).as_posix() for p in (ROOT / "src/dmlcore/_generated").iterdir() if p.is_file()}
    here = {name for name in here if not name.endswith((".so", ".pyd", "SOURCES.sha256"))}
    assert here == set(generated())


@pytest.mark.parametrize("name", ["operators.pyx", "loops.inc", "tables.py"])
def test_a_missing_generated_file_stops_the_build(project, name):
    path = f"src/dmlcore/_generated/{name}"
    (project / path).unlink()
    done = setup(project, "build_ext")
    assert done.returncode != 0
    assert f"{path} is missing" in done.stderr
    assert done.stderr.rstrip().endswith("run: python -m codegen")


def test_missing_checksums_stop_the_build(project):
    (project / "src/dmlcore/_generated/SOURCES.sha256").unlink()
    done = setup(project, "build_ext")
    assert done.returncode != 0
    assert "SOURCES.sha256 is missing; run: python -m codegen" in done.stderr


def test_an_edited_specification_stops_the_build(project):
    path = project / "spec/operators/gather_nd.yaml"
    path.write_text(path.read_text() + "# edited\n")
    done = setup(project, "build_ext")
    assert done.returncode != 0
    assert "spec/operators/gather_nd.yaml is not what the generated files were made from" in done.stderr
    assert done.stderr.rstrip().endswith("run: python -m codegen")


def test_a_new_specification_stops_the_build(project):
    shutil.copy(project / "spec/operators/gather.yaml", project / "spec/operators/another.yaml")
    done = setup(project, "build_ext")
    assert done.returncode != 0
    assert "spec/operators/another.yaml is new" in done.stderr


def test_line_ends_of_windows_do_not_count(project):
    for path in [project / name for name in generated()] + sorted((project / "spec").rglob("*.yaml")):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    done = setup(project, "--version")
    assert done.returncode == 0, done.stderr


def test_version_is_said_once(project):
    import dmlcore

    done = setup(project, "--version")
    assert done.stdout.split()[-1] == dmlcore.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+([abrc.dev\d]*)", dmlcore.__version__)


def test_sdist_carries_what_the_build_reads(project):
    import tarfile

    done = setup(project, "sdist", "-d", "dist")
    assert done.returncode == 0, done.stderr
    (archive,) = (project / "dist").iterdir()
    with tarfile.open(archive) as tar:
        inside = {name.split("/", 1)[1] for name in tar.getnames() if "/" in name}
    sources = [
        p.relative_to(project).as_posix() for p in (project / "src").rglob("*") if p.is_file() and "egg-info" not in str(p)
    ]
    specs = [p.relative_to(project).as_posix() for p in (project / "spec").rglob("*") if p.is_file()]
    assert not {*sources, *specs, "LICENSE", "setup.py", "pyproject.toml"} - inside
    assert not [name for name in inside if name.endswith((".so", ".pyd", ".pyc"))]


@pytest.mark.parametrize("free_threaded, variable, limited", [(0, "", True), (0, "1", False), (1, "", False)])
def test_stable_abi_and_free_threading(project, free_threaded, variable, limited):
    """One wheel for all Pythons, except where there is no stable ABI; the module always runs without the GIL."""
    code = f"""
import os, runpy, setuptools, sysconfig
import Cython.Build
variables, got = sysconfig.get_config_var, {{}}
sysconfig.get_config_var = lambda name: {free_threaded} if name == "Py_GIL_DISABLED" else variables(name)
Cython.Build.cythonize = lambda extensions, **options: got.update(options) or extensions
setuptools.setup = lambda **arguments: got.update(arguments)
os.environ["DMLCORE_NO_LIMITED_API"] = {variable!r}
runpy.run_path("setup.py")
(extension,) = got["ext_modules"]
limited = ("Py_LIMITED_API", "0x030B0000") in extension.define_macros
assert limited == extension.py_limited_api == ("bdist_wheel" in got["options"]) == {limited}
assert got["compiler_directives"]["freethreading_compatible"] is True
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
