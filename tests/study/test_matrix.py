"""The solver matrix: every formulation with every solver that can be installed, run for real."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from radcluster.solvers.registry import SOLVERS
from radcluster.study import matrix

#: What no one can install without a licence of their own.
LICENSED = ("mosek",)
PAGE = Path(__file__).parents[2] / "docs" / "solver_matrix.md"


def in_words(row: str) -> list[str]:
    """The entries of a row of the table, without the version."""
    entries = [entry.strip() for entry in row.strip("| \n").split("|")]
    return entries[:2] + entries[3:]


def on_the_page() -> dict[tuple[str, str], list[str]]:
    rows = re.findall(r"^\| .* \|$", PAGE.read_text(), re.MULTILINE)
    listed = [in_words(row) for row in rows]
    return {(row[0], row[1]): row for row in listed if row[1] in SOLVERS}


def test_every_solver_has_a_row():
    assert matrix.without_a_row() == []


@pytest.mark.parametrize(("formulation", "solver"), matrix.pairs())
def test_cell(formulation, solver, record_property):
    """The row is printed after the tests, and it is the one that the documentation shows."""
    obstacle = SOLVERS[solver].obstacle
    if obstacle and (solver in LICENSED or not os.environ.get("RADCLUSTER_ALL_SOLVERS")):
        record_property("solver matrix", f"| {formulation} | {solver} | {obstacle} |")
        pytest.skip(f"{solver} {obstacle}")
    cell = matrix.cell(formulation, solver)
    row = matrix.to_markdown([cell]).splitlines()[-1]
    record_property("solver matrix", row)
    assert cell.holds, cell
    assert in_words(row) == on_the_page()[formulation, solver]


def test_the_page_has_every_cell_filled():
    page = on_the_page()
    assert set(page) == set(matrix.pairs())
    for (formulation, solver), entries in page.items():
        if solver not in LICENSED:
            assert set(entries[2:]) <= {"ok", "refused"}, (formulation, solver)


def test_the_table_has_a_line_per_cell():
    cells = [
        matrix.Cell("milp:linear", "highs", "1.0", *["ok"] * 6, "refused"),
        matrix.Cell("sdp:paper", "mosek", missing="is installed, but has no licence: put it"),
    ]
    lines = matrix.to_markdown(cells).splitlines()
    assert len(lines) == 4 and len({line.count("|") for line in lines}) == 1
    assert cells[0].holds and not cells[1].holds
