"""Builds the one extension module: the generated Cython and the C kernels.

Refuses to build from generated files that do not fit the specifications, with the command that makes them fit. Everything
else about the package stands in pyproject.toml.
"""

import hashlib
import os
import platform
import re
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
PACKAGE = ROOT / "src" / "dmlcore"
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
LIMITED = not FREE_THREADED and not os.environ.get("DMLCORE_NO_LIMITED_API")
REGENERATE = "run: python -m codegen"


def check_fresh() -> None:
    """Compares specifications and generated files with the checksums that the generator left."""
    sums = PACKAGE / "_generated" / "SOURCES.sha256"
    if not sums.is_file():
        sys.exit(f"{sums.relative_to(ROOT)} is missing; {REGENERATE}")
    wrong, known = [], set()
    for line in sums.read_text().splitlines():
        digest, name = line.split("  ", 1)
        known.add(name)
        path = ROOT / name
        if not path.is_file():
            wrong.append(f"{name} is missing")
        elif hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest() != digest:
            wrong.append(f"{name} is not what the generated files were made from")
    for path in sorted((ROOT / "spec").rglob("*.yaml")):
        name = path.relative_to(ROOT).as_posix()
        if name not in known:
            wrong.append(f"{name} is new")
    if wrong:
        sys.exit("\n".join(["The generated files do not fit the specifications:", *wrong, REGENERATE]))


class BuildExt(build_ext):
    """Adds what the compiler at hand understands: warnings and optimisation, OpenMP where it links."""

    def build_extensions(self):
        unix = self.compiler.compiler_type == "unix"
        flags = ["-O3", "-std=c11", "-fno-strict-aliasing", "-g0", "-fvisibility=hidden"] if unix else ["/O2", "/std:c11"]
        if unix:
            flags.append("-fno-asynchronous-unwind-tables")  # nothing unwinds C; 23 KB of the wheel
        openmp = self.openmp()
        for extension in self.extensions:
            extension.extra_compile_args = [*flags, *openmp]
            extension.extra_link_args = [*openmp, *(["-Wl,-s"] if sys.platform == "linux" else [])] if unix else []
        if unix:
            self.compile_side_by_side()
        super().build_extensions()

    def compile_side_by_side(self):
        """The files of the one extension are compiled on all CPUs; setuptools would take them in turn."""
        one_after_the_other = self.compiler.compile
        x86 = platform.machine().lower() in ("x86_64", "amd64")
        # 24 KB of the wheel; 0.8 to 1.2x, on average as fast (328 calls on Emerald Rapids: 1.00)
        repeats_less = ["--param", "max-completely-peeled-insns=100"]
        wide = ["-mmove-max=256"]  # a line in two moves instead of four
        # Machines of ten years and more run baseline.c, but where there are no other loops: 32 KB of the wheel, 0.73 to 3x, on
        # average as fast
        vectors = ["-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic"]
        # What GCC takes for rare it makes small instead of fast: copies of 64 bytes by string instructions, five times as long
        all_hot = ["--param", "hot-bb-frequency-fraction=100000"]
        avx512, avx2, baseline = self.accepted(repeats_less), self.accepted(repeats_less, wide), self.accepted(vectors)
        own = {"avx512.c": avx512, "avx2.c": avx2, "baseline.c": baseline} if x86 else {}
        # They decide, and do nothing for every element, or gain nothing by unrolled loops: 12 KB of the wheel
        decide = "chains columns distinct in_order interleaved looked_up move overwritten policy_indices pool rows short_rows"
        decide += " straight strided tiles together turned turned_once whole"
        own |= {f"{name}.c": ["-O2"] for name in decide.split()}
        own |= {name: self.accepted(vectors) for name in ("boxes.c", "lenient.c")}  # which have long loops
        loops = ["-falign-loops=32", *self.accepted(all_hot)]

        def compile_one(source, options):
            # Where a short loop happens to lie across two lines of code, it takes up to a fifth longer. Calls of few elements
            # come from the generated module, which takes some nanoseconds longer if its loops are aligned; it has none to
            # unroll: 7 KB of the wheel.
            file = Path(source)
            more = [*loops, *own.get(file.name, [])] if file.parent.name in ("core", "isa") else ["-O2"]
            return one_after_the_other([source], **options | {"extra_postargs": [*options["extra_postargs"], *more]})

        def compile(sources, **options):
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                return [o for objects in pool.map(lambda s: compile_one(s, options), sources) for o in objects]

        self.compiler.compile = compile

    def openmp(self) -> list[str]:
        """The flag that switches OpenMP on, if a program with it compiles and links; else the build is serial."""
        flag = "/openmp" if self.compiler.compiler_type == "msvc" else "-fopenmp"
        link = [flag] if flag.startswith("-") else []
        if self.accepts([flag], "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n", link):
            return [flag]
        print("building without OpenMP", file=sys.stderr)
        return []

    def accepted(self, *groups: list[str]) -> list[str]:
        """The groups of flags that the compiler at hand knows, one after the other."""
        return [flag for group in groups if self.accepts(["-Werror", *group]) for flag in group]

    def accepts(self, flags: list[str], program: str = "int main(void) { return 0; }\n", link: Sequence[str] = ()) -> bool:
        """Whether a program compiles with these flags, and links with those."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "program.c")
            source.write_text(program)
            try:
                objects = self.compiler.compile([str(source)], output_dir=folder, extra_postargs=flags)
                self.compiler.link_executable(objects, str(Path(folder, "program")), extra_postargs=[*link])
            except Exception as error:  # whatever the compiler raises
                print(f"the compiler does not take {' '.join(flags)}: {error}", file=sys.stderr)
                return False
        return True


def extension() -> Extension:
    c_files = sorted(p.relative_to(ROOT).as_posix() for folder in ("core", "isa") for p in (PACKAGE / folder).glob("*.c"))
    headers = [p.relative_to(ROOT).as_posix() for p in PACKAGE.rglob("*") if p.suffix in (".h", ".inc", ".pxi")]
    macros = [("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"), ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION")]
    if LIMITED:
        macros.append(("Py_LIMITED_API", "0x030B0000"))
    return Extension(
        "dmlcore._generated.operators",
        ["src/dmlcore/_generated/operators.pyx", "src/dmlcore/capi.c", *c_files],
        include_dirs=["src/dmlcore", numpy.get_include()],
        define_macros=macros,
        depends=headers,
        py_limited_api=LIMITED,
    )


check_fresh()
directives = {
    "language_level": 3,
    "binding": False,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "embedsignature": True,
    "embedsignature.format": "clinic",  # the form that inspect.signature and help() read
    "freethreading_compatible": True,
}
setup(
    version=re.search(r'__version__ = "(.+)"', (PACKAGE / "version.py").read_text())[1],
    ext_modules=cythonize([extension()], build_dir="build/cython", compiler_directives=directives),
    cmdclass={"build_ext": BuildExt},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if LIMITED else {},
)
