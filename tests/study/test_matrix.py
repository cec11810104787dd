"""The solver matrix: every formulation with every solver that can be installed, run for real."""

from __future__ import annotations

import os

import pytest

from radcluster.solvers.registry import SOLVERS
from radcluster.study import matrix

#: What no one can install without a licence of their own.
LICENSED = ("mosek",)


def test_every_solver_has_a_row():
    assert matrix.without_a_row() == []


@pytest.mark.parametrize(("formulation", "solver"), matrix.pairs())
def test_cell(formulation, solver):
    obstacle = SOLVERS[solver].obstacle
    if obstacle and (solver in LICENSED or not os.environ.get("RADCLUSTER_ALL_SOLVERS")):
        pytest.skip(f"{solver} {obstacle}")
    cell = matrix.cell(formulation, solver)
    assert cell.holds, cell


def test_the_table_has_a_line_per_cell():
    cells = [
        matrix.Cell("milp:linear", "highs", "1.0", *["ok"] * 6, "refused"),
        matrix.Cell("sdp:paper", "mosek", missing="is installed, but has no licence: put it"),
    ]
    lines = matrix.to_markdown(cells).splitlines()
    assert len(lines) == 4 and len({line.count("|") for line in lines}) == 1
    assert cells[0].holds and not cells[1].holds
