# Sets up what each target needs, in .venv inside the checkout, and says so while it takes long. Needs Python 3.11 or
# newer with pip and venv, a C compiler, and nothing else. Stamps (.venv/*.done) let the next run start at once.
#   make PYTHON=python3.12 demo      another Python
#   make test ARGS="-k gather_nd"    arguments for pytest
#   make test ARGS=--all             all combinations of the long tests' parameters
#   make test JOBS=1                 one test at a time; else as many as there are CPUs, up to four

PYTHON ?= python3
ARGS   ?=
BENCH  ?= bench
JOBS   ?= $(shell $(PYTHON) -c 'import os; print(min(4, os.cpu_count() or 1))')
VENV   := .venv
RUN    := $(VENV)/bin/python
PIP    := $(RUN) -m pip --disable-pip-version-check --quiet --no-input install
LOG    := build/build.log
TRANSLATIONS := es pt_BR zh_TW
SUMS   := src/dmlcore/_generated/SOURCES.sha256
FRESH  := $(SUMS) $(shell cut -c67- $(SUMS) 2>/dev/null)
SOURCES := setup.py pyproject.toml README.md LICENSE $(FRESH) $(shell find spec -name '*.yaml') \
           $(shell find src/dmlcore -name '*.[ch]' -o -name '*.pxi' -o -name '*.inc')
say = @printf '==> %s\n'

# An environment that was moved, or whose Python is gone, is made anew.
_ := $(shell [ "$$(cat $(VENV)/place 2>/dev/null)" = "$(CURDIR)" ] && $(RUN) -c '' 2>/dev/null || rm -f $(VENV)/*.done)

# Prints what `requires` in pyproject.toml lists, or an extra and the extras that it names.
define REQUIREMENTS
import re, sys, tomllib
toml = tomllib.load(open("pyproject.toml", "rb"))
project = toml["project"]
def of(name):
    for line in project["optional-dependencies"][name]:
        own = re.fullmatch(project["name"] + r"\[([\w, -]+)\]", line)
        yield from (r for e in own[1].split(",") for r in of(e.strip())) if own else [line]
print(*(toml["build-system"]["requires"] + project["dependencies"] if sys.argv[1] == "build" else of(sys.argv[1])), sep="\n")
endef
export REQUIREMENTS

.DEFAULT_GOAL := help
.PHONY: help demo test check regenerate bench bench-quick bench-charts clean docs docs-check docs-translations
.DELETE_ON_ERROR:

help:
	@echo 'make demo        run the operators on real data: recorded model tensors, a photograph, a descriptor'
	@echo 'make test        run the tests; ARGS="-k gather_nd" for some of them, ARGS=--all for all combinations'
	@echo 'make regenerate  write the generated code and pages anew, after a change in spec/ or codegen/'
	@echo 'make check       show which generated files are not up to date'
	@echo 'make bench       measure dmlcore beside its peers (a quarter of an hour with all of them), then charts and docs/benchmarks.md'
	@echo 'make bench-quick a few cells, in a minute; BENCH=bench-all for the large peers too, also above'
	@echo 'make fuzz        random calls beside NumPy under sanitizers; MINUTES=10, SEED=1'
	@echo 'make lint        check the style of all files'
	@echo 'make wheel       build the sdist and the wheel, repaired and checked, in dist/ (make sdist: the sdist alone)'
	@echo 'make test-installed   test wheel and sdist, installed, on every Python that is found, with the oldest and the'
	@echo '                 newest NumPy (40 minutes); the wheel meets all tests, the sdist those of the product'
	@echo 'make aarch64     cross-compile the C core and run it under qemu; make core-sanitized: with sanitizers (clang)'
	@echo 'make core-raced  run it with threads, looking for data races (Debian: clang libomp-dev)'
	@echo 'make docs        build the documentation site, in four languages, in docs/_build/html'
	@echo 'make docs-check  the same, then check links, anchors, translations and the Python blocks of the pages'
	@echo 'make docs-translations  bring the catalogues of the translations up to date with the pages'
	@echo 'make clean       remove everything that make has made, .venv included'

demo: $(VENV)/package.done $(VENV)/demo.done
	@$(RUN) examples/demo.py

test: $(VENV)/package.done $(VENV)/test.done
	$(say) 'Running the tests'
	@$(RUN) -m pytest -n $(JOBS) --dist worksteal $(ARGS)

regenerate: $(VENV)/codegen.done
	@$(RUN) -m codegen

check: $(VENV)/codegen.done
	@$(RUN) -m codegen check

bench: $(VENV)/package.done $(VENV)/$(BENCH).done
	@$(RUN) -m benchmarks $(ARGS)
	@$(MAKE) --no-print-directory bench-charts

bench-quick: $(VENV)/package.done $(VENV)/$(BENCH).done
	@$(RUN) -m benchmarks --quick $(ARGS)

bench-charts: $(VENV)/$(BENCH).done
	@$(RUN) -m benchmarks.plots
	@$(RUN) -m benchmarks.report

# English at the top, each translation in a folder of its own. Warnings are errors.
docs: $(VENV)/package.done $(VENV)/docs.done
	@for language in en $(TRANSLATIONS); do \
	  printf '==> Building the site: %s\n' $$language; \
	  [ $$language = en ] && place=docs/_build/html || place=docs/_build/html/$$language; \
	  $(RUN) -m sphinx -q -W --keep-going -b html -D language=$$language -d docs/_build/doctrees/$$language docs $$place || exit 1; \
	done
	@$(RUN) docs/translations.py count
	$(say) 'The site is ready: docs/_build/html/index.html'

docs-check: docs $(VENV)/test.done
	$(say) 'Checking the site: links, anchors, translations, Python blocks'
	@$(RUN) -m pytest tests/docs $(ARGS)

docs-translations: $(VENV)/package.done $(VENV)/docs.done
	@$(RUN) docs/translations.py update

clean:
	rm -rf $(VENV) build dist docs/_build examples/output .pytest_cache .hypothesis .mypy_cache .ruff_cache src/*.egg-info
	rm -f src/dmlcore/_generated/*.so
	find spec codegen src tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/venv.done:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'dmlcore needs Python 3.11 or newer; say which: make PYTHON=python3.12 $(MAKECMDGOALS)' >&2; exit 1; }
	$(say) 'Creating a virtual environment in $(VENV)'
	@$(PYTHON) -m venv --clear $(VENV) || \
	  { rm -rf $(VENV); echo 'Python cannot create virtual environments here; on Debian and Ubuntu install python3-venv.' >&2; exit 1; }
	@echo "$(CURDIR)" > $(VENV)/place
	@touch $@

$(VENV)/build.done: pyproject.toml | $(VENV)/venv.done
	$(say) 'Installing what the build needs: setuptools, Cython, NumPy'
	@$(RUN) -c "$$REQUIREMENTS" build > $(VENV)/build.txt
	@$(PIP) -r $(VENV)/build.txt
	@touch $@

# pip's own account of a failure is long; the reason stands in the log.
$(VENV)/package.done: $(SOURCES) $(VENV)/build.done
	$(say) 'Compiling dmlcore (about half a minute)'
	@mkdir -p build
	@$(PIP) --no-build-isolation --no-deps --editable . > $(LOG) 2>&1 || { \
	  grep -A99 'do not fit the specifications' $(LOG) | sed -n '1,/run: python -m codegen/s/^ *//p' >&2 || true; \
	  grep -q 'do not fit the specifications' $(LOG) || { grep -E -A3 '[0-9]+: (fatal )?error:|[A-Za-z]Error:' $(LOG) || tail -n 40 $(LOG); } >&2; \
	  echo 'The build failed; all of it is in $(LOG).' >&2; exit 1; }
	@touch $@

$(VENV)/%.done: pyproject.toml | $(VENV)/venv.done
	$(say) 'Installing what $* needs'
	@$(RUN) -c "$$REQUIREMENTS" $* > $(VENV)/$*.txt
	@$(PIP) -r $(VENV)/$*.txt
	@touch $@

$(FRESH):
	@echo '$@ is missing; run: python -m codegen   (or: make regenerate)' >&2; exit 1

# ---- packaging and style --------------------------------------------------------------------------------------------
.PHONY: fuzz lint sdist wheel test-installed aarch64 core-sanitized core-raced
CORE   = tests/packaging/core_smoke.c src/dmlcore/capi.c $(wildcard src/dmlcore/core/*.c src/dmlcore/isa/*.c)
CORE_C = -std=c11 -g -Wall -Wextra -Wno-type-limits -Isrc/dmlcore

# Variables that nobody has set hold a pattern: reading one may show here; core-sanitized is what looks for that.
SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined -ftrivial-auto-var-init=pattern
MINUTES ?= 10
SEED    ?= $(shell date +%s)

fuzz: $(VENV)/package.done $(VENV)/test.done
	$(say) 'Compiling dmlcore with sanitizers, in build/fuzz'
	@mkdir -p build/fuzz
	@CC='gcc $(SANITIZE)' $(RUN) setup.py -q build -b build/fuzz --build-lib build/fuzz/lib > build/fuzz/log.txt 2>&1 || \
	  { tail -n 20 build/fuzz/log.txt >&2; exit 1; }
	@LD_PRELOAD="$$(gcc -print-file-name=libasan.so)" ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=build/fuzz/lib:tests:. \
	  $(RUN) tests/campaign.py --minutes $(MINUTES) --seed $(SEED) $(ARGS)

lint: $(VENV)/lint.done
	$(say) 'ruff, cython-lint, clang-format, codespell, zizmor'
	@$(VENV)/bin/ruff check .
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(VENV)/bin/cython-lint src/dmlcore/capi.pxd src/dmlcore/core/door.pxi src/dmlcore/core/memory.pxi examples/c_api
	@$(VENV)/bin/clang-format --dry-run --Werror $(filter-out src/dmlcore/_generated/%,$(shell git ls-files '*.c' '*.h'))
	@$(VENV)/bin/codespell
	@$(VENV)/bin/zizmor --offline --quiet .github

sdist: $(VENV)/dist.done
	@rm -rf dist
	@$(RUN) -m build --sdist

wheel: $(VENV)/dist.done
	@rm -rf dist
	@$(RUN) -m build
	@$(VENV)/bin/validate-pyproject pyproject.toml
	@$(VENV)/bin/twine check --strict dist/*.tar.gz
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(RUN) packaging/check_wheel.py dist/*.whl

test-installed: wheel
	$(say) 'Pythons 3.11 to 3.14 are looked for on PATH and in ~/.pyenv; environments go to build/installed'
	@$(RUN) packaging/test_installed.py dist/*.whl --sdist dist/*.tar.gz -- $(ARGS)

aarch64:
	@mkdir -p build
	$(say) 'aarch64-linux-gnu-gcc, qemu-aarch64 (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)'
	aarch64-linux-gnu-gcc $(CORE_C) -O2 -fopenmp $(CORE) -o build/core-aarch64
	qemu-aarch64 -L /usr/aarch64-linux-gnu build/core-aarch64

core-sanitized:
	@mkdir -p build
	clang $(CORE_C) -O1 -fsanitize=address,undefined -fno-sanitize-recover=all $(CORE) -o build/core-sanitized
	build/core-sanitized
	clang $(CORE_C) -O1 -fsanitize=memory -fno-sanitize-recover=all $(CORE) -o build/core-sanitized
	build/core-sanitized

# Archer tells the sanitizer what OpenMP's own library orders.
core-raced:
	@mkdir -p build
	clang $(CORE_C) -O1 -fopenmp -fsanitize=thread $(CORE) -o build/core-raced
	OMP_TOOL_LIBRARIES=$$(clang -print-resource-dir)/../../libarcher.so TSAN_OPTIONS=ignore_noninstrumented_modules=1 build/core-raced
