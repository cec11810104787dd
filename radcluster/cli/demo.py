"""``radcluster demo``: the paper's instance, proven."""

from __future__ import annotations

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from radcluster.cli.support.output import progress_line
from radcluster.cli.support.writing import check_writable
from radcluster.errors import InputError, SolverFailure

N_CLUSTERS = 16
RADIUS = 0.189


@click.command()
@click.option("--solver", help="Solver by name. [default: the method's own]")
@click.option("--out", default="radcluster_demo.png", show_default=True, help="Figure to write.")
@click.option("--points", "points_out", help="Also write the points, to go on with: moons.csv.")
def command(solver, out, points_out):
    """Solve the paper's two-moons instance (100 points, 16 clusters, r = 0.189), and draw it."""
    from radcluster import datasets, metrics
    from radcluster.api import solve
    from radcluster.problem.instance import Instance

    points, moons = datasets.two_moons()
    check_writable(out)
    if not out.lower().endswith((".png", ".pdf", ".svg")):
        raise InputError(f"the figure must be a .png, .pdf or .svg file: {out}")
    if points_out:
        check_writable(points_out)
        np.savetxt(points_out, points, delimiter=",", fmt="%.17g")
    instance = Instance(points, N_CLUSTERS, RADIUS)
    # The MILP of Eq. 8 needs no compiled kernels, so the first command on a machine is quick.
    with progress_line("solving two moons") as progress:
        result = solve(instance, "milp", solver=solver, progress=progress)
    if not result.solved:
        raise SolverFailure(f"the demo ended with status {result.status}")
    in_convex = metrics.clusters_in_class(result.labels, moons, datasets.CONVEX_MOON)
    k_radius = metrics.k_radii(points, result.labels, result.centers).max()
    _print(Console(), result, in_convex, k_radius)
    _draw(points, moons, result, out)
    click.echo(f"figure: {out}")


def _print(console, result, in_convex, k_radius):
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(f"two moons, {len(result.labels)} points, K={N_CLUSTERS}, r={RADIUS}")
    table.add_column("radcluster", justify="right")
    table.add_column("the paper", justify="right")
    rows = [
        ("status", result.status, "no proof"),
        ("objective (sum of squares)", f"{result.objective:.9f}", "not given"),
        ("lower bound", f"{result.lower_bound:.9f}", "none"),
        ("gap", f"{result.gap:.1e}", "none"),
        ("partition radius", f"{result.max_radius:.4f}", "0.181"),
        ("k-radius", f"{k_radius:.4f}", "0.207"),
        ("clusters in the small moon", str(in_convex), "8"),
        ("seconds", f"{result.seconds:.2f}", "about 2400"),
        ("solvers", result.solver or "-", "MOSEK, Gurobi"),
    ]
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _draw(points, moons, result, out):
    import matplotlib

    matplotlib.use("Agg")
    from radcluster import plots

    title = f"K = {N_CLUSTERS}, r = {RADIUS}: {result.objective:.4f}, {result.status}"
    axes = plots.partition(
        points, result.labels, result.centers, radius=RADIUS, classes=moons, title=title
    )
    axes.figure.savefig(out, dpi=200, bbox_inches="tight")
