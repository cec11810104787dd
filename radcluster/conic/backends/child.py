"""A solver that can crash the process it runs in, run in a process of its own.

The process is started at the first task and serves the following ones; after a crash the next task
starts another. It ends when this process does, because its input ends then.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
from dataclasses import replace

from radcluster.conic.backends import through_cvxpy
from radcluster.conic.program import ConicProgram, ConicSolution, ConicStatus
from radcluster.errors import InputError
from radcluster.solvers import registry
from radcluster.solvers.options import Options

#: Seconds that a process may take to start and to hand over, beyond the solver's time limit.
_GRACE = 30.0

_COMMAND = "from radcluster.conic.backends.child import serve; serve()"
_LENGTH = struct.Struct("<Q")

_running: subprocess.Popen | None = None
_one_at_a_time = threading.Lock()


def solve(
    program: ConicProgram, solver: str, options: Options, tolerance: float | None, memory=None
) -> ConicSolution:
    """Solve through CVXPY in another process; a crash there is an error here."""
    cones = [replace(cone, source=None) for cone in program.cones]
    bare = replace(program, columns=[], rows=[], cones=cones)
    task = pickle.dumps((bare, solver, replace(options, native=dict(options.native)), tolerance))
    limit = _limit(solver, options.time_limit)
    with _one_at_a_time:
        process = _process()
        try:
            found = _asked(process, task, limit)
        except BaseException:  # an interrupt, too, leaves no solver running
            _end(process)
            raise
    if found is None and process.poll() is None:
        _end(process)
        message = f"{solver} did not stop at its time limit and was ended"
        return ConicSolution(ConicStatus.TIME_LIMIT, None, None, message)
    if found is None:
        code = process.wait()
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return ConicSolution(ConicStatus.ERROR, None, None, f"{solver} crashed ({how})")
    if isinstance(found, InputError):
        raise found
    return found


def _limit(solver: str, seconds: float | None) -> float | None:
    """When the process is ended: at the limit, or later where the solver knows it itself."""
    if seconds is None:
        return None
    knows = "time_limit" in registry.get(solver).conic.option_names
    return seconds + (_GRACE if knows else 0.0)


def _process() -> subprocess.Popen:
    global _running
    if _running is None or _running.poll() is not None:
        _running = subprocess.Popen(
            [sys.executable, "-c", _COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
    return _running


def _end(process: subprocess.Popen) -> None:
    process.kill()
    process.wait()


def _asked(process: subprocess.Popen, task: bytes, limit: float | None):
    """The answer to a task; None when the process ended without one, or the limit passed."""
    answers: list = []

    def exchange():
        try:
            process.stdin.write(_LENGTH.pack(len(task)) + task)
            process.stdin.flush()
            answers.append(_read(process.stdout))
        except (BrokenPipeError, EOFError):
            process.wait()

    thread = threading.Thread(target=exchange, daemon=True)
    thread.start()
    thread.join(limit)
    return answers[0] if answers else None


def _read(stream):
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    return pickle.loads(stream.read(length))


def serve() -> None:
    """What the other process does: read tasks from its input, write solutions to its output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who asks decides what an interrupt ends
    # What solvers print goes to the error output, so that answers stay apart from it.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            program, solver, options, tolerance = _read(sys.stdin.buffer)
        except EOFError:
            return
        try:
            found = through_cvxpy.solve(program, solver, options, tolerance)
        except InputError as error:
            found = error
        text = pickle.dumps(found)
        answers.write(_LENGTH.pack(len(text)) + text)
        answers.flush()
