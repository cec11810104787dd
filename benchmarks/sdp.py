"""The relaxed SDP: compile times beside CVXPY's, values and safe bounds on the paper's instance."""

from __future__ import annotations

import time

import numpy as np
from rich.console import Console
from rich.table import Table

from radcluster.benchmarks.cones import cones_table
from radcluster.conic.compiling.compiler import compile_model
from radcluster.datasets import two_moons
from radcluster.graph.conflicts import analyse
from radcluster.models import sdp
from radcluster.models.parts.cuts import KINDS
from radcluster.problem.instance import Instance, diameter_limit
from radcluster.relaxation.sdp import solve_sdp


def run(console: Console) -> None:
    """Print the tables; about four minutes."""
    console.print(cones_table())
    points, _ = two_moons()
    console.print(_compile_table(Instance(points, 16, 0.189)))
    console.print(_value_table(points))
    console.print(_paper_table(Instance(points, 16, 0.189)))
    console.print(_cut_table(Instance(points, 16, 0.189)))


def _compile_table(instance: Instance) -> Table:
    """The paper's program, 16 blocks of order 101, lower RLT: from data to solver arrays.

    CVXPY is timed on four ways to write the two families of 79,200 rows: for whole matrices
    (which states every pair twice), for whole triangles, row by row of each matrix, and entry by
    entry as Pyomo does; of the last, one block of the 16 has to do, and counts 16 times.
    """
    table = Table(title="sdp:paper, K=16, N=100, lower RLT: processor seconds, data to arrays")
    for column in ("by", "build", "compile", "total", "columns", "rows", "radcluster takes"):
        table.add_column(column, justify="right")
    start = time.process_time()
    model = sdp.build(instance, form="paper", rlt="lower")
    built = time.process_time() - start
    program = compile_model(model)
    total = time.process_time() - start
    n_rows = sum(not isinstance(source, int) for source, _ in program.rows)
    size = (f"{len(program.c)}", f"{n_rows}")
    _add_times(table, "radcluster", built, total, *size)
    for name, n_blocks, write in (
        ("whole matrices", 16, _by_matrix),
        ("whole triangles", 16, _by_triangle),
        ("row by row", 16, _by_row),
        ("entry by entry, 1 of 16", 1, _by_entry),
    ):
        times = _cvxpy_times(instance, n_blocks, write)
        ratio = total / (times[1] * 16 / n_blocks)
        _add_times(table, f"CVXPY, {name}", *times, "", "", f"{ratio:.2f} of it")
    return table


def _add_times(table, name, built, total, *rest) -> None:
    table.add_row(name, f"{built:.2f}", f"{total - built:.2f}", f"{total:.2f}", *rest)


def _cvxpy_times(instance: Instance, n_blocks: int, bounds) -> tuple[float, float]:
    """Processor seconds for stating the program in CVXPY, and until it is compiled for SCS."""
    import cvxpy as cp

    n, n_clusters, d = instance.n_points, instance.n_clusters, instance.sq_distances
    size, limit = n / n_clusters, 4 * float(diameter_limit(instance.radii[0]))
    ones = np.ones((n, 1))
    start = time.process_time()
    objective, constraints, memberships = 0, [], []
    for _ in range(n_blocks):
        m, b = cp.Variable((n, n), symmetric=True), cp.Variable((n, 1))
        lifted = m + np.ones((n, n)) + b @ ones.T + ones @ b.T
        objective += cp.sum(cp.multiply(d, lifted)) / (8 * size)
        constraints += [
            cp.bmat([[m, b], [b.T, np.ones((1, 1))]]) >> 0,
            cp.diag(m) == 1,
            cp.sum(b) == 2 * size - n,
            b >= -1,
            b <= 1,
            *bounds(cp, m, b, lifted, d, limit),
        ]
        memberships.append(b)
    constraints.append(sum(memberships) == 2 - n_clusters)
    problem = cp.Problem(cp.Minimize(objective), constraints)
    built = time.process_time() - start
    problem.get_problem_data(cp.SCS)
    return built, time.process_time() - start


def _by_matrix(cp, m, b, lifted, d, limit) -> list:
    return [cp.multiply(d, lifted) <= limit, lifted >= 0]


def _by_triangle(cp, m, b, lifted, d, limit) -> list:
    upper = np.triu_indices(len(d), 1)
    return [cp.multiply(d[upper], lifted[upper]) <= limit, lifted[upper] >= 0]


def _by_row(cp, m, b, lifted, d, limit) -> list:
    rows = [(m[i, i + 1 :] + 1 + b[i, 0] + b[i + 1 :, 0], d[i, i + 1 :]) for i in range(len(d) - 1)]
    return [part for row, d_i in rows for part in (cp.multiply(d_i, row) <= limit, row >= 0)]


def _by_entry(cp, m, b, lifted, d, limit) -> list:
    pairs = zip(*np.triu_indices(len(d), 1), strict=True)
    entries = [(m[i, j] + 1 + b[i, 0] + b[j, 0], d[i, j]) for i, j in pairs]
    return [row for entry, distance in entries for row in (distance * entry <= limit, entry >= 0)]


def _value_table(points) -> Table:
    table = Table(title="Step 1 on two moons, K=16")
    for column in ("r", "form", "solver", "seconds", "status", "value", "safe bound"):
        table.add_column(column, justify="right")
    for radius in (0.189, 0.18):
        instance = Instance(points, 16, radius)
        labelling = analyse(instance).labelling
        for solver in ("clarabel", "scs"):
            _add(table, radius, solve_sdp(instance, labelling, solver=solver).report)
    for radius in (0.189, np.inf):
        _add(table, radius, solve_sdp(Instance(points, 16, radius), form="peng_wei").report)
    return table


def _paper_table(instance: Instance) -> Table:
    """As printed, what accuracy it takes to know its value, and what it says of the points."""
    terms = instance.n_clusters**2 / (8 * instance.n_points) * instance.sq_distances.sum()
    title = f"sdp:paper, lower RLT, SCS: a difference of terms that add up to {terms:.0f}"
    table = Table(title=title)
    for column in ("blocks", "tolerance", "seconds", "value", "safe bound", "b from", "to"):
        table.add_column(column, justify="right")
    for reduce, tolerance in (
        (False, 1e-5),
        (True, 1e-5),
        (True, 1e-6),
        (True, 1e-7),
        (True, 1e-8),
    ):
        found = solve_sdp(
            instance, form="paper", rlt="lower", solver="scs", tolerance=tolerance, reduce=reduce
        )
        b, report = found.scores, found.report
        table.add_row(
            "1" if reduce else f"{instance.n_clusters}",
            f"{tolerance:.0e}",
            f"{report.seconds:.1f}",
            f"{report.objective:.6f}",
            f"{report.bound:.6f}",
            f"{b.min():.4f}",
            f"{b.max():.4f}",
        )
    return table


def _add(table, what, report) -> None:
    table.add_row(
        f"{what}",
        report.model,
        report.solver,
        f"{report.seconds:.2f}",
        report.status,
        f"{report.objective:.6f}",
        f"{report.bound:.6f}",
    )


def _cut_table(instance: Instance) -> Table:
    table = Table(title="Cuts on two moons, K=16, r=0.189, optimum 1.336693")
    for column in ("form", "labels", "rounds", "seconds", "rows", "safe bound"):
        table.add_column(column, justify="right")
    anchored = analyse(instance).labelling
    for form, labelling in (("perspective", anchored), ("peng_wei", anchored), ("peng_wei", None)):
        for rounds in (0, 1, 2, 5):
            report = solve_sdp(instance, labelling, form=form, cuts=KINDS, rounds=rounds).report
            table.add_row(
                report.model,
                "none" if labelling is None else "anchored",
                f"{rounds}",
                f"{report.seconds:.1f}",
                f"{report.n_constraints}",
                f"{report.bound:.6f}",
            )
    return table
