"""Injected faults: what a lying, crashing or silent solver cannot do to an answer."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from cases import brute_force

sys.path.insert(0, os.path.dirname(__file__))
from injected import FAULTS, OPTIMUM, SMALL, listed, outcome

from radcluster import Instance, solve
from radcluster.cli.support.writing import write_text
from radcluster.errors import InputError
from radcluster.methods.register import METHODS

COMMAND = [sys.executable, "-c", "from radcluster.cli import main; main()"]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault(fault, record_property):
    assert brute_force(SMALL) == OPTIMUM
    came_out = outcome(fault)
    record_property("injected faults", f"| {fault.name} | {came_out} |")
    assert came_out.startswith(fault.comes_out)
    assert came_out == listed()[fault.name]


@pytest.mark.parametrize("limit", [0, 0.001, 0.1, 1])
@pytest.mark.parametrize("method", METHODS)
def test_limits_in_every_method(method, limit):
    points = np.random.default_rng(0).normal(size=(40, 3))
    instance = Instance(points, 6, 2.2)
    solve(Instance(points[:8], 3), method)  # imported, and mostly compiled
    start = time.perf_counter()
    result = solve(instance, method, time_limit=limit)
    assert time.perf_counter() - start <= 1.1 * limit + 1.0
    assert result.status in ("optimal", "feasible", "time_limit")


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    """With a limit on the size of files the old content stays, and nothing is left beside it."""
    path = tmp_path / "labels.csv"
    path.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(InputError, match="cannot write"):
            write_text(path, "x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["labels.csv"]


def test_a_toml_file_names_code_only_with_leave(tmp_path):
    (tmp_path / "mine.py").write_text("def build(instance, labelling):\n    raise OSError('ran')\n")
    lines = ["points = [[0.0], [1.0]]", "n_clusters = 1", 'method = "milp"']
    (tmp_path / "e.toml").write_text("\n".join([*lines, 'formulation = "mine:build"']))
    for extra, said in (([], "--allow-code"), (["--allow-code"], "ran")):
        command = [*COMMAND, "run", "e.toml", *extra]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 2 and said in done.stderr


def test_a_full_disk_under_standard_output(tmp_path):
    (tmp_path / "points.csv").write_text("0\n1\n5\n")
    with open("/dev/full", "w") as full:
        command = [*COMMAND, "solve", "points.csv", "-k", "1", "--json"]
        done = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("radcluster: error:") and "Traceback" not in done.stderr


def test_a_plain_solve_runs_no_file_of_the_working_folder(tmp_path):
    (tmp_path / "points.csv").write_text("0\n1\n5\n")
    for name in ("secrets.py", "random.py", "json.py"):
        (tmp_path / name).write_text("raise SystemExit('executed')")
    script = "import sys; sys.path = [p for p in sys.path if p]; from radcluster.cli import main; "
    command = [sys.executable, "-P", "-c", script + "main()", "solve", "points.csv", "-k", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_a_solver_that_is_a_program(number, code, tmp_path):
    """cbc is ended, its files are removed, and the exit code tells the signal."""
    points = np.random.default_rng(0).uniform(size=(60, 2))
    np.savetxt(tmp_path / "points.csv", points, delimiter=",")
    env = os.environ | {"TMPDIR": str(tmp_path)}
    arguments = ["solve", "points.csv", "-k", "9", "-r", "0.3", "--method", "milp"]
    process = subprocess.Popen(
        [*COMMAND, *arguments, "--solver", "cbc"],
        cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("*.pyomo.lp")) and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(1.0)
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == code, err
    assert "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["points.csv"]
    running = subprocess.run(["pgrep", "-g", str(process.pid)], capture_output=True, text=True)
    assert running.stdout == ""


def test_an_infeasible_answer_carries_a_certificate_that_another_command_checks(tmp_path):
    (tmp_path / "points.csv").write_text("0\n1\n2\n3\n")
    solve_it = ["solve", "points.csv", "-k", "2", "-r", "0.3", "--certificate", "proof.json"]
    done = subprocess.run([*COMMAND, *solve_it], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 3
    assert json.loads((tmp_path / "proof.json").read_text())["certificate"]["kind"] == "clique"
    check = [*COMMAND, "check", "points.csv", "proof.json"]
    for extra, code in (([], 0), (["-k", "4"], 1), (["-r", "5"], 1)):
        done = subprocess.run([*check, *extra], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == code
