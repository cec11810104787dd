"""The command line from tests: in this process, which is quick, or in one of its own."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from radcluster.cli import main

#: Starts the command line in a process of its own.
COMMAND = [sys.executable, "-c", "from radcluster.cli import main; main()"]


def called(folder: Path, *arguments) -> CompletedProcess:
    """The command, called in this process. What solvers write past Python is not seen."""
    words = [*map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        with pytest.raises(SystemExit) as end:
            main(words)
    return CompletedProcess(words, int(end.value.code or 0), out.getvalue(), err.getvalue())


def started(folder: Path, *arguments) -> CompletedProcess:
    """The command as a user starts it: a process, its exit code, its two streams."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
