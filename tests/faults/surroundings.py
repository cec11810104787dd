"""Faults of the surroundings: the machine, its folders, its programs and its licences.

Each is put around a command in a process of its own.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

COMMAND = [sys.executable, "-c", "from radcluster.cli import main; main()"]
#: A cbc that knows its version and nothing else.
HANGING = """#!/bin/sh
case "$*" in
    *.lp*) exec sleep 600 ;;
    *) echo "Version: 2.10.8" ;;
esac
"""
#: A kernel in a file of its own, so that its compilation is quick.
ONE_KERNEL = """
from radcluster.compiled import kernel

@kernel
def double(x):
    return 2 * x

print(double(21))
"""
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Surrounding:
    """A fault, how to put it around a command, and how what comes out begins."""

    name: str
    happens: Callable[[Path], str]
    comes_out: str


def _solve(folder: Path, *arguments: str, n: int = 60, **around) -> str:
    """What ``radcluster solve`` makes of random points: its exit code, and what it says."""
    points = np.random.default_rng(0).uniform(size=(n, 2))
    np.save(folder / "points.npy", points)
    command = [*COMMAND, "solve", "points.npy", *arguments]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False, **around
    )
    if "Traceback" in done.stderr:
        return "traceback: " + done.stderr.splitlines()[-1]
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    status = " ".join(done.stdout.split()[:2])
    left = sorted(path.name for path in folder.iterdir() if path.name.endswith((".lp", ".glp")))
    said = errors[0].partition("error: ")[2] if errors else status
    return f"exit {done.returncode}: {said}" + (f", and left {left}" if left else "")


def hanging_program(folder: Path) -> str:
    """A solver's program that does not stop at its limit of a second."""
    fake = folder / "bin" / "cbc"
    fake.parent.mkdir()
    fake.write_text(HANGING)
    fake.chmod(0o755)
    env = os.environ | {"PATH": f"{fake.parent}:{os.environ['PATH']}", "TMPDIR": str(folder)}
    start = time.monotonic()
    said = _solve(folder, "-k2", "--method=milp", "--solver=cbc", "--time-limit=1", n=8, env=env)
    # A second, the grace of five, and the start of Python.
    return f"{said}, in time" if time.monotonic() - start < 20 else f"{said}, late"


def little_memory(folder: Path) -> str:
    """Less memory than the distances of all pairs take."""
    most = 1100 * MEGABYTE

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (most, most))

    env = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    arguments = ("-k3300", "-r.01", "--method=milp")
    return _solve(folder, *arguments, n=10_000, env=env, preexec_fn=limit)


def no_home(folder: Path) -> str:
    env = {key: value for key, value in os.environ.items() if key != "HOME"}
    return _solve(folder, "-k2", "--method=milp", n=8, env=env)


def folder_not_writable(folder: Path) -> str:
    """Nobody can make a file in /proc, not even the one who may do all."""
    return _solve(folder, "-k2", "--method=milp", "--out=/proc/labels.csv", n=8)


def compiling_at_once(folder: Path) -> str:
    """Three processes, one empty cache."""
    script = folder / "one_kernel.py"
    script.write_text(ONE_KERNEL)
    env = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, str(script)]
    running = [
        subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    ended = [(process.communicate()[0].strip(), process.returncode) for process in running]
    kept = sorted(path.suffix for path in (folder / "cache").rglob("*.nb?"))
    return f"{ended.count(('42', 0))} right answers, cache of {' and '.join(kept)}"


def licence(solver: str) -> Callable[[Path], str]:
    """A model beyond the free licence, or any where there is none."""
    where = ("--method=pipeline",) if solver == "mosek" else ("--method=milp",)
    return lambda folder: _solve(folder, "-k9", "-r.3", *where, f"--solver={solver}")


#: Solvers whose free licence takes small models only.
SIZED = ("cplex", "gurobi", "xpress")
SURROUNDINGS = (
    Surrounding("a solver's program hangs", hanging_program, "exit 4: status time_limit, in time"),
    Surrounding("memory limited by ulimit -v", little_memory, "exit 1: out of memory"),
    Surrounding("no HOME", no_home, "exit 0: status optimal"),
    Surrounding("--out in a folder that takes no files", folder_not_writable, "exit 2: cannot wri"),
    Surrounding("processes that compile at once", compiling_at_once, "3 right answers"),
    *(
        Surrounding(f"a licence of {name} that is too small", licence(name), "exit 5: ")
        for name in SIZED
    ),
    Surrounding("no licence of mosek", licence("mosek"), "exit 5: solver mosek is"),
)
