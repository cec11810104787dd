"""Ctrl-C and SIGTERM while a command works: its exit code, and nothing left behind."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

COMMAND = [sys.executable, "-c", "from radcluster.cli import main; main()"]
#: Seconds after which the command is at work. None of the cases ends so soon.
AT_WORK = 4.0
#: Exit codes; the shell calls the end by SIGTERM itself 143.
CODES = {signal.SIGINT: (130,), signal.SIGTERM: (143, -signal.SIGTERM)}

OUT = ("--out", "labels.csv")
FLAT = ("solve", "flat.npy", "-k", "9", "-r", "0.3", *OUT)
WIDE = ("solve", "wide.npy", "-k", "8", *OUT)
CASES = {
    "exact": WIDE,
    "sdp_tree": (*WIDE, "--method", "sdp_tree"),
    "colgen": ("solve", "wide.npy", "-k", "4", *OUT, "--method", "colgen"),
    "heuristic": ("solve", "many.npy", "-k", "800", "-r", "0.05", *OUT, "--method", "heuristic"),
    "milp": (*FLAT, "--method", "milp"),
    "milp by glpk": (*FLAT, "--method", "milp", "--solver", "glpk"),
    "minlp": (*FLAT, "--method", "minlp"),
    "pipeline": ("solve", "wide.npy", "-k", "12", *OUT, "--method", "pipeline"),
    "min-clusters": ("min-clusters", "many.npy", "-r", "0.1", *OUT),
    "min-radius": ("min-radius", "many.npy", "-k", "40", *OUT),
    "run": ("run", "run.toml", *OUT),
    "sweep": ("sweep", "sweep.toml"),
    "sweep on two": ("sweep", "sweep.toml", "--jobs", "2"),
    "reproduce": ("reproduce", "table1"),
    "check": ("check", "flat.npy", "fifo.json"),
}


def prepared(folder: Path) -> set[str]:
    """Put what the commands read into a folder; the names of the files."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    np.save(folder / "flat.npy", rng.uniform(size=(60, 2)))
    np.save(folder / "wide.npy", rng.normal(size=(150, 6)))
    np.save(folder / "many.npy", rng.uniform(size=(60_000, 2)))
    rows = rng.uniform(size=(60, 2)).tolist()
    text = f'points = {rows}\nmethod = "milp"\nradius = 0.3\n'
    (folder / "run.toml").write_text(text + "n_clusters = 9\n")
    np.savetxt(folder / "flat.csv", rows, delimiter=",")
    text = 'points = "flat.csv"\nmethod = "milp"\nradius = 0.3\n'
    (folder / "sweep.toml").write_text(text + "n_clusters = [9, 10, 11]\n")
    os.mkfifo(folder / "fifo.json")  # nobody writes to it
    return {path.name for path in folder.iterdir()}


def heed_interrupts() -> None:
    """In the new process: what runs the tests in the background may have it ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(case: str, folder: Path) -> subprocess.Popen:
    env = os.environ | {"TMPDIR": str(folder)}
    return subprocess.Popen(
        [*COMMAND, *CASES[case]], cwd=folder, env=env, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_interrupts,
    )  # fmt: skip


def running(group: int) -> list[str]:
    """Processes of a group that have not ended, after a second in which they may."""
    command = ["pgrep", "-r", "D,R,S,T", "-g", str(group)]
    for _ in range(10):
        found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
        if not found:
            break
        time.sleep(0.1)
    return found


def whole(folder: Path, before: set[str]) -> None:
    """What was written is whole, and is what was asked for."""
    new = {path.name for path in folder.iterdir()} - before
    assert new <= {"labels.csv", "sweep.csv", "results"}, new
    if "labels.csv" in new:
        assert len((folder / "labels.csv").read_text().split()) in (60, 150, 60_000)
    for path in [*folder.glob("sweep.csv"), *folder.glob("results/*")]:
        assert path.suffix == ".csv"
        with open(path, newline="") as file:
            assert len({len(row) for row in csv.reader(file)}) <= 1, path


@pytest.mark.parametrize("case", CASES)
def test_signals(case, tmp_path):
    folders = {number: tmp_path / number.name for number in CODES}
    before = {number: prepared(folder) for number, folder in folders.items()}
    started = {number: start(case, folder) for number, folder in folders.items()}
    time.sleep(AT_WORK)
    ended_before = [process.poll() for process in started.values()]
    for number, process in started.items():
        process.send_signal(number)
    for number, process in started.items():
        try:
            out, err = process.communicate(timeout=30)
        finally:
            left = running(process.pid)
            for each in left:
                os.kill(int(each), signal.SIGKILL)
        assert not left
        assert process.returncode in CODES[number], (number, process.returncode, err)
        assert "Traceback" not in err
        # An incumbent with its bound, or one line.
        assert "interrupted" in out + err or number == signal.SIGTERM
        whole(folders[number], before[number])
    assert ended_before == [None, None]
