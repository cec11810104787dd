"""Sweeps: every combination once, in one file, whatever dies on the way."""

import os
import signal
import subprocess
import sys
import time

import dask
import numpy as np
import pytest
from dask import distributed

from radcluster import InputError, SolverFailure
from radcluster.cli import main
from radcluster.study import records, workers
from radcluster.study.sweeps import Sweep, run

POINTS = np.random.default_rng(0).random((12, 2))


def sweep(**changes):
    grid = {"radius": [0.3, 0.5], "n_clusters": [4, "fewest"], "method": ["exact", "heuristic"]}
    return Sweep(POINTS, grid | changes)


def squared(x, folder):
    """A task that leaves a mark each time it is run."""
    with open(os.path.join(folder, f"{x}.runs"), "ab") as file:
        file.write(b".")
    return {"square": x * x}


def runs(folder, x):
    return os.path.getsize(os.path.join(folder, f"{x}.runs"))


def dies_once(x, folder):
    """A task whose worker is killed, the first time that x is 3."""
    row = squared(x, folder)
    if x == 3 and runs(folder, 3) == 1:
        time.sleep(1.0)
        os.kill(os.getpid(), signal.SIGKILL)
    return row


def dies_always(x, folder):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_one_row_per_combination(tmp_path, suffix):
    path = tmp_path / f"sweep.{suffix}"
    rows = run(sweep(seed=[0, 1]), path)
    assert len(rows) == 16 and len({tuple(row.items())[:5] for row in rows}) == 16
    assert records.read(path) == rows
    for row in rows:
        assert row["status"] in ("optimal", "feasible", "infeasible")
        if row["status"] != "infeasible":
            assert row["max_radius"] <= row["radius"] * (1 + 1e-9)
            assert row["lower_bound"] <= row["objective"] * (1 + 1e-9)
    assert list(tmp_path.iterdir()) == [path]


def test_a_combination_that_cannot_run_says_why(tmp_path):
    rows = run(sweep(method=["heuristic"], solver=["highs"], radius=[0.5]), tmp_path / "s.csv")
    assert {row["status"] for row in rows} == {"failed"}
    assert "calls no solver" in rows[0]["note"]
    with pytest.raises(InputError, match="magic"):
        run(sweep(solver=["magic"]), tmp_path / "t.csv")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_finished_tasks_are_not_run_again(tmp_path, suffix):
    path = tmp_path / "out" / f"squares.{suffix}"
    tasks = [{"x": x, "folder": str(tmp_path)} for x in range(6)]
    records.run(path, tasks[:3], squared)
    rows = records.run(path, tasks, squared)
    assert [row["square"] for row in rows] == [0, 1, 4, 9, 16, 25]
    assert [runs(tmp_path, x) for x in range(6)] == [1] * 6


def interrupted(x, folder):
    if x == 4:
        raise KeyboardInterrupt
    return squared(x, folder)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_run_that_is_killed_keeps_what_was_finished(tmp_path, suffix):
    path = tmp_path / f"squares.{suffix}"
    tasks = [{"x": x, "folder": str(tmp_path)} for x in range(6)]
    with pytest.raises(KeyboardInterrupt):
        records.run(path, tasks, interrupted)
    assert len(records.run(path, tasks, squared)) == 6
    assert [runs(tmp_path, x) for x in range(6)] == [1] * 6


def test_a_killed_process_does_not_end_the_run(tmp_path):
    tasks = [{"x": x, "folder": str(tmp_path)} for x in range(8)]
    rows = records.run(tmp_path / "squares.csv", tasks, dies_once, n_jobs=2)
    assert sorted(row["square"] for row in rows) == [x * x for x in range(8)]
    assert runs(tmp_path, 3) == 2


def test_workers_that_always_die_are_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "ATTEMPTS", 1)
    tasks = [{"x": x, "folder": str(tmp_path)} for x in range(2)]
    with pytest.raises(SolverFailure, match="keep dying"):
        records.run(tmp_path / "squares.csv", tasks, dies_always, n_jobs=2)


def test_a_dask_cluster_of_which_one_worker_is_killed(tmp_path):
    tasks = [{"x": x, "folder": str(tmp_path)} for x in range(8)]
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 10}),
        distributed.LocalCluster(processes=True, **options) as cluster,
        workers.on_cluster(cluster.scheduler_address),
    ):
        rows = records.run(tmp_path / "squares.csv", tasks, dies_once)
        again = records.run(tmp_path / "squares.csv", tasks, dies_once)
    assert rows == again and [row["square"] for row in rows] == [x * x for x in range(8)]
    assert runs(tmp_path, 3) == 2


def test_a_scheduler_that_does_not_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "PATIENCE", 1)
    with (
        workers.on_cluster("tcp://127.0.0.1:1"),
        pytest.raises(InputError, match="does not answer within 1 s"),
    ):
        run(sweep(), tmp_path / "sweep.csv")


EXPERIMENT = """
points = "points.csv"
radius = [0.3, 0.5]
n_clusters = [4, "fewest"]
method = "heuristic"
seeds = 2
out = "found.csv"
"""


def write_experiment(folder, text=EXPERIMENT):
    np.savetxt(folder / "points.csv", POINTS, delimiter=",")
    (folder / "experiment.toml").write_text(text)
    return str(folder / "experiment.toml")


def test_the_command(tmp_path, capsys):
    experiment = write_experiment(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["sweep", experiment])
    assert ended.value.code == 0
    assert "found.csv" in capsys.readouterr().out
    assert len(records.read(tmp_path / "found.csv")) == 8


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("points = ", "not valid TOML"),
        ('radious = 1\npoints = "points.csv"', "radius"),
        ('points = "points.csv"\nseeds = 2\nseed = [1]', "not both"),
        ('points = "points.csv"\nradius = ["a"]', "radius must list numbers"),
        ('points = "points.csv"\nmethod = []', "no values"),
        ("radius = 1", "no points"),
    ],
)
def test_a_bad_experiment_is_one_line(tmp_path, capsys, change, message):
    experiment = write_experiment(tmp_path, change)
    with pytest.raises(SystemExit) as ended:
        main(["sweep", experiment])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error


def test_a_killed_command_resumes(tmp_path):
    experiment = write_experiment(tmp_path, EXPERIMENT + "\ntime_limit = 20\n")
    program = "from radcluster.cli import main; main()"
    command = [sys.executable, "-c", program, "sweep", experiment]
    found = tmp_path / "found.csv"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (found.exists() and found.stat().st_size > 100):
        time.sleep(0.05)
    process.kill()
    process.wait()
    kept = records.read(found)
    assert kept, "no row was written within two minutes"
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, timeout=240)
    rows = records.read(found)
    assert len(rows) == 8
    for row in kept:
        assert row in rows
