"""Where a solver is caught out, ``--report`` leaves a file behind that repeats it."""

from __future__ import annotations

import json
import os
import sys

import pytest
from cases import brute_force

sys.path.insert(0, os.path.dirname(__file__))
from injected import FAULTS, injected

from radcluster import Instance, SolverFailure, solve
from radcluster.cli import main

BY_NAME = {fault.name: fault for fault in FAULTS}
#: The fault, what the solver claimed, and what contradicts it.
CAUGHT = {
    "optimal, though one move improves it": (
        "highs calls a partition of cost 5.16666667 optimal",
        "a partition costs 4.1875",
    ),
    "a bound above its objective": (
        "highs claims that no partition costs less than 99",
        "a partition costs 1.5",
    ),
    "infeasible, though a partition is known": (
        "highs calls the instance infeasible",
        "initial is a partition",
    ),
}


def run(fault, folder, monkeypatch, *more: str) -> int:
    """The exit code of ``radcluster solve`` with a fault injected."""
    monkeypatch.chdir(folder)
    points = fault.instance.points.ravel()
    (folder / "points.csv").write_text("".join(f"{x}\n" for x in points))
    (folder / "labels.csv").write_text("".join(f"{label}\n" for label in fault.known))
    command = ["solve", "points.csv", "--method", "milp", "--no-anchors", *more]
    command += ["-k", str(fault.instance.n_clusters), "-r", str(fault.instance.radius)]
    command += ["--initial", "labels.csv"]
    with injected(fault), pytest.raises(SystemExit) as end:
        main(command)
    return int(end.value.code)


@pytest.mark.parametrize("name", CAUGHT)
def test_a_report_on_request(name, tmp_path, monkeypatch, capsys):
    fault = BY_NAME[name]
    assert run(fault, tmp_path, monkeypatch) == 1
    assert not list(tmp_path.glob("radcluster-report-*"))
    assert run(fault, tmp_path, monkeypatch, "--report") == 1
    (path,) = tmp_path.glob("radcluster-report-*.json")
    said = capsys.readouterr().err
    assert path.name in said and "highs" in said
    report = json.loads(path.read_text())
    claim, contradiction = CAUGHT[name]
    assert report["solver"] == "highs" and report["solver_version"]
    assert (report["claim"], report["contradiction"]) == (claim, contradiction)
    assert {entry.name for entry in tmp_path.iterdir()} == {"points.csv", "labels.csv", path.name}


@pytest.mark.parametrize("name", CAUGHT)
def test_a_report_repeats_the_failure(name, tmp_path, monkeypatch):
    fault = BY_NAME[name]
    run(fault, tmp_path, monkeypatch, "--report")
    (path,) = tmp_path.glob("radcluster-report-*.json")
    report = json.loads(path.read_text())
    instance = Instance(**report["instance"])
    with injected(fault), pytest.raises(SolverFailure) as failure:
        solve(instance, **report["settings"])
    assert str(failure.value) == f"{report['claim']}, but {report['contradiction']}"
    honest = solve(instance, **report["settings"])
    assert honest.status == "optimal"
    assert honest.objective == pytest.approx(brute_force(instance), rel=1e-9)


def test_no_report_of_an_honest_solver(tmp_path, monkeypatch):
    assert run(BY_NAME["the truth"], tmp_path, monkeypatch, "--report") == 0
    assert not list(tmp_path.glob("radcluster-report-*"))


def test_a_folder_that_takes_no_report_is_refused_before_the_work(tmp_path, monkeypatch, capsys):
    fault = BY_NAME["optimal, though one move improves it"]
    reads = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and reads(path, mode))
    assert run(fault, tmp_path, monkeypatch, "--report") == 2
    assert "cannot write radcluster-report" in capsys.readouterr().err
