"""The paper's instance by the anchored MILP, its certificate, and the rounding programs."""

from __future__ import annotations

import time

import numpy as np
from rich.console import Console
from rich.table import Table

from radcluster.datasets import two_moons
from radcluster.graph.conflicts import analyse
from radcluster.models import milp, rounding
from radcluster.problem.instance import Instance
from radcluster.solvers.mip import solve_model


def run(console: Console) -> None:
    """Print seconds to build and to solve, values and bounds."""
    points, _ = two_moons()
    console.print(_milp_table(points))
    console.print(_certificate_line(points))
    console.print(_rounding_table(points))


def _milp_table(points) -> Table:
    table = Table(title="milp:linear, anchored, two moons, K=16")
    for column in ("r", "solver", "build s", "solve s", "objective", "bound"):
        table.add_column(column, justify="right")
    for radius in (0.189, 0.18):
        for solver in ("highs", "scip"):
            start = time.perf_counter()
            instance = Instance(points, 16, radius)
            model = milp.build(instance, analyse(instance).labelling)
            built = time.perf_counter() - start
            outcome = solve_model(model, solver)
            table.add_row(
                f"{radius}",
                solver,
                f"{built:.2f}",
                f"{outcome.seconds:.2f}",
                f"{outcome.objective:.9f}",
                f"{outcome.bound:.9f}",
            )
    return table


def _certificate_line(points) -> str:
    start = time.perf_counter()
    certificate = analyse(Instance(points, 15, 0.189)).certificate
    seconds = time.perf_counter() - start
    return (
        f"K=15, r=0.189: infeasible by a {certificate['kind']} of "
        f"{len(certificate['points'])} points, {seconds:.3f} s"
    )


def _rounding_table(points) -> Table:
    instance = Instance(points, 16, 0.189)
    labelling = analyse(instance).labelling
    scores = -instance.sq_distances[:, list(labelling.anchors)]
    table = Table(title="Step 2 at N=100, K=16, from distances to the anchors")
    for column in ("pairs", "constraints", "solver", "build s", "solve s", "value"):
        table.add_column(column, justify="right")
    for pairs, chosen in (("admissible", labelling), ("all", None)):
        for constraints, solver in (
            ("clique", "highs"),
            ("conflict", "highs"),
            ("quadratic", "scip"),
        ):
            start = time.perf_counter()
            model = rounding.build_step2(instance, scores, chosen, constraints=constraints)
            built = time.perf_counter() - start
            outcome = solve_model(model, solver, problem_class=rounding.PROBLEM_CLASS[constraints])
            table.add_row(
                pairs,
                constraints,
                solver,
                f"{built:.2f}",
                f"{outcome.seconds:.2f}",
                f"{outcome.objective:.6f}" if outcome.has_solution else str(np.nan),
            )
    return table
