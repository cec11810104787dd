"""Limits that leave a solver without a solution, and tolerances that break one."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from radcluster import Instance, solve
from radcluster.models import milp
from radcluster.solvers import registry
from radcluster.solvers.mip import solve_model
from radcluster.solvers.options import Options

POINTS = np.random.default_rng(0).uniform(size=(60, 2))
COMMAND = [sys.executable, "-c", "from radcluster.cli import main; main()"]


def here(name: str) -> None:
    if not registry.get(name).installed:
        pytest.skip(registry.get(name).obstacle)


def test_cbc_at_its_limit_has_no_solution_rather_than_a_fractional_one():
    here("cbc")
    model = milp.build(Instance(POINTS[:30], 4, 0.6))
    outcome = solve_model(model, "cbc", Options(time_limit=0.001))
    assert (outcome.status, outcome.has_solution) == ("time_limit", False)


def test_cbc_at_a_limit_without_a_partition_is_exit_code_4(tmp_path):
    here("cbc")
    np.savetxt(tmp_path / "points.csv", POINTS, delimiter=",")
    arguments = ["solve", "points.csv", "-k", "9", "-r", "0.3", "--method", "milp"]
    done = subprocess.run(
        [*COMMAND, *arguments, "--solver", "cbc", "--time-limit", "1.5"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 4, done.stderr
    assert "time_limit" in done.stdout


def test_xpress_at_a_millisecond():
    here("xpress")
    model = milp.build(Instance(POINTS[:20], 3, 0.6))
    outcome = solve_model(model, "xpress", Options(time_limit=0.001))
    assert (outcome.status, outcome.has_solution) == ("time_limit", False)
    result = solve(Instance(POINTS[:20], 3, 0.6), "milp", "xpress", time_limit=0.001)
    assert result.status == "time_limit"


def test_clarabel_at_a_silly_tolerance():
    """At a tolerance of 1/2 a bound may be worth little, never too high."""
    for n, k in ((8, 2), (12, 3), (20, 4)):
        instance = Instance(POINTS[:n], k, 0.8)
        options = {"step1": "sdp:paper", "sdp": {"tolerance": 0.5}}
        result = solve(instance, "pipeline", {"step1": "clarabel"}, **options)
        best = solve(instance, "exact")
        assert result.objective >= best.objective * (1 - 1e-9)
        assert result.lower_bound <= best.objective * (1 + 1e-9)
