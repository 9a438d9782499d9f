"""The generated files fit the specification, and rendering is a function of the specification alone."""

import subprocess
import sys

from specs import ROOT, SPEC

from codegen import load, outputs


def test_fresh():
    """`python -m codegen check` has nothing to say; when it has, the message is its diff."""
    done = subprocess.run([sys.executable, "-m", "codegen", "check"], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_deterministic():
    first, second = outputs.render_all(SPEC), outputs.render_all(load.load(ROOT))
    assert list(first) == list(second)
    for name in first:
        assert first[name] == second[name], name


def test_independent_of_hash_seed_and_place(tmp_path):
    """Another process with another hash seed, working elsewhere, renders the same bytes."""
    code = (
        "import sys, hashlib; sys.path.insert(0, sys.argv[1])\n"
        "from codegen import load, outputs\n"
        "files = outputs.render_all(load.load(sys.argv[1]))\n"
        "print(hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest())"
    )
    import hashlib

    wanted = hashlib.sha256(repr(sorted(outputs.render_all(SPEC).items())).encode()).hexdigest()
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code, str(ROOT)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": seed},
        )
        assert done.stdout.strip() == wanted, done.stderr


def test_no_stray_facts():
    """No generated text names a date, this machine or a folder of it."""
    for name, text in outputs.render_all(SPEC).items():
        assert str(ROOT) not in text and "\r" not in text and text.endswith("\n"), name
