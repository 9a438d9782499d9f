"""The command line as a program of its own: entry point, exit statuses, signals, pipes, what an import costs."""

import os
import signal
import subprocess
import sys
import time
import tomllib
from functools import partial
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


def python(*arguments, **options):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)


def dmlcore(*arguments, **options):
    return python("-m", "dmlcore.cli", *arguments, **options)


def test_the_entry_point_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"dmlcore": "dmlcore.cli:main"}
    assert {line.split(">")[0] for line in project["optional-dependencies"]["cli"]} == {"typer", "rich"}


def test_statuses_of_a_real_process(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(3))
    np.save(tmp_path / "bad.npy", np.array([7]))
    assert dmlcore("ops", "--json").returncode == 0
    assert dmlcore("run", "gather", "--input", tmp_path / "x.npy", "--indices", tmp_path / "bad.npy").returncode == 1
    assert dmlcore("ops", "--nonsense").returncode == 2
    missing = dmlcore("check", tmp_path / "none.json")
    assert missing.returncode == 3 and "Traceback" not in missing.stderr


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra(missing):
    result = python("-c", f"import sys; sys.modules[{missing!r}] = None\nfrom dmlcore.cli import main\nmain()")
    assert (
        result.returncode == 4 and result.stderr == f"dmlcore: the command line needs {missing}: pip install 'dmlcore[cli]'\n"
    )


def test_importing_dmlcore_imports_none_of_this():
    names = {f"dmlcore.{name}" for name in ("cli", "graph", "vectors", "_generated.tools", "_generated.tables")}
    code = "import sys, numpy; before = set(sys.modules); import dmlcore; print(*set(sys.modules) - before)"
    new = set(python("-c", code).stdout.split())
    assert "dmlcore" in new and not new & (names | {"typer", "rich", "onnx", "json"})


def test_not_enough_memory_is_said(tmp_path):
    resource = pytest.importorskip("resource")
    np.save(tmp_path / "x.npy", np.zeros(1, np.float64))
    np.lib.format.open_memmap(tmp_path / "i.npy", "w+", np.uint32, (1 << 28,)).flush()

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29))

    result = dmlcore("run", "gather", "--input", tmp_path / "x.npy", "--indices", tmp_path / "i.npy", preexec_fn=limit)
    assert result.returncode == 5 and "not enough memory" in result.stderr and "Traceback" not in result.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c(tmp_path):
    command = [sys.executable, "-m", "dmlcore.cli", "vectors", "all", "-l", "all", "-o", str(tmp_path / "v")]
    listen = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a background job is born ignoring it
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=listen)
    while not (tmp_path / "v").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 130 and error.strip().endswith("interrupted") and "Traceback" not in error


@pytest.mark.skipif(os.name == "nt", reason="pipes")
def test_a_closed_pipe_is_no_traceback():
    text = subprocess.run(
        f"'{sys.executable}' -m dmlcore.cli show gather --json | head -c 1",
        shell=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert text.stdout == "{" and "Traceback" not in text.stderr


@pytest.mark.skipif(os.name == "nt", reason="terminals")
def test_progress_is_shown_on_a_terminal(tmp_path):
    """A bar appears when a command takes over a second, on standard error only."""
    import pty

    controller, terminal = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "dmlcore.cli",
        "vectors",
        "scatter_nd",
        "-l",
        "all",
        "-n",
        "30",
        "-o",
        str(tmp_path / "v"),
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=terminal, env={**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    )
    os.close(terminal)
    seen = b""
    while b"SCATTER_ND: making vectors" not in seen:
        seen += os.read(controller, 4096)
    process.terminate()
    process.wait(30)
    os.close(controller)


def test_completion_is_there():
    result = python("-c", "from dmlcore.cli.show import _complete_operator as c; print(c('gather_n'))")
    assert result.stdout == "['GATHER_ND', 'GATHER_ND1']\n"
    words = {"_DMLCORE_COMPLETE": "complete_bash", "COMP_WORDS": "dmlcore ver", "COMP_CWORD": "1"}
    result = dmlcore(env={**os.environ, **words})
    assert result.stdout.split() == ["verify"]
