"""What is proven, how fast, and how that grows with the number of points and of dimensions.

``radcluster bench exact`` prints the tables and writes, into ``benchmarks/results/`` of the
current directory when there is one, the scaling data as CSV and as a figure.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import scale

from radcluster import api, plots
from radcluster.benchmarks import dimensions
from radcluster.datasets import ruspini, two_moons
from radcluster.problem.instance import Instance
from radcluster.progress import Progress
from radcluster.result import Result

RESULTS = Path("benchmarks/results")
#: Points of the scaling runs, about 8 a cluster, the radius shrinking with their density.
SIZES = (100, 200, 500, 1000, 2000, 5000, 10_000)
#: The gap that the scaling runs are asked for.
SCALING_GAP = 1e-3
TIME_LIMIT = 900.0


@dataclass(frozen=True)
class Case:
    """An instance and what is asked of it."""

    name: str
    instance: Instance
    must: str
    time_limit: float = TIME_LIMIT


@dataclass(frozen=True)
class Run:
    """A finished run and how it got there."""

    result: Result
    trace: list[Progress]


def moons(n: int, n_clusters: int, radius: float) -> Instance:
    """Two moons of n points, 85 % of them in the first."""
    large = n * 85 // 100
    return Instance(two_moons(n=(large, n - large))[0], n_clusters, radius)


def dense_moons(n: int) -> Instance:
    """Two moons with about 8 points a cluster, at a radius in proportion to their spacing.

    The few clusters more make small n feasible, where the moons' tips count.
    """
    return moons(n, n // 8 + 4, 2.0 / np.sqrt(n))


def cases() -> list[Case]:
    """The instances of the table, small ones first."""
    flowers, plane = load_iris().data, ruspini()[0]
    wine = scale(load_wine().data)
    return [
        Case("moons 100, K=16, r=.189", moons(100, 16, 0.189), "proven, < 1 s"),
        Case("moons 100, K=16, r=.18", moons(100, 16, 0.18), "proven, < 1 s"),
        Case("moons 100, K=17, r=.18", moons(100, 17, 0.18), "proven, < 1 s"),
        Case("ruspini, K=6, 2r=36.62", Instance(plane, 6, 18.31), "8677.511455, < 5 s"),
        Case("ruspini, K=6, 2r=38", Instance(plane, 6, 19.0), "8677.511455, < 5 s"),
        Case("ruspini, K=4, 2r=47.64", Instance(plane, 4, 23.82), "12881.051236, < 5 s"),
        Case("moons 200, K=16, r=.2", moons(200, 16, 0.2), "2.685148, < 5 s"),
        Case("moons 200, K=32, r=.12", moons(200, 32, 0.12), "proven, < 10 s"),
        Case("moons 400, K=20, r=.2", moons(400, 20, 0.2), "proven, < 120 s"),
        Case("moons 1000, K=121, r=.06", moons(1000, 121, 0.06), "gap 1 %, < 120 s"),
        *(
            Case(f"ruspini, K={k}, r=inf", Instance(plane, k), "plain k-means")
            for k in (2, 4, 5, 8)
        ),
        *(Case(f"iris, K={k}, r=inf", Instance(flowers, k), "plain k-means") for k in (3, 4, 6)),
        Case("standardised wine, K=3, r=inf", Instance(wine, 3), "plain k-means", time_limit=25.0),
    ]


def run(console: Console, only: str = "") -> None:
    """Print the table of instances, the scaling, and what holds in many dimensions.

    With ``only``, nothing but the instances in many dimensions whose names contain it.
    """
    if not only:
        _column_generation(console)
    runs = dimensions.run(console, only)
    if RESULTS.parent.is_dir():
        for path in dimensions.write(runs, RESULTS):
            console.print(f"wrote {path}")


def _column_generation(console: Console) -> None:
    _warm_up(console)
    table = Table(title="column generation and branch and price")
    for column in ("instance", "must", "s", "objective", "bound", "gap", "status", "nodes"):
        table.add_column(column, justify="left" if column in ("instance", "must") else "right")
    for case in cases():
        table.add_row(case.name, case.must, *_cells(solve(case.instance, case.time_limit)))
    scaling = measure_scaling(SIZES)
    largest = max(scaling)
    result = scaling[largest].result
    name = f"moons {largest}, K={result.n_clusters}, r={result.radius:.2g}"
    table.add_row(name, "gap 5 %, < 900 s", *_cells(scaling[largest]))
    console.print(table)
    console.print(_scaling_table(scaling))
    if RESULTS.parent.is_dir():
        for path in write_scaling(scaling, RESULTS):
            console.print(f"wrote {path}")


def solve(instance: Instance, time_limit: float = TIME_LIMIT, rel_gap: float = 1e-6) -> Run:
    """Solve by column generation, keeping the progress."""
    trace: list[Progress] = []
    result = api.solve(
        instance, "colgen", time_limit=time_limit, rel_gap=rel_gap, progress=trace.append
    )
    return Run(result, trace)


def _warm_up(console: Console) -> None:
    """Compile the pricing kernels, or load them: not part of what is measured."""
    tiny = Instance(np.random.default_rng(0).random((30, 2)), 6, 0.3)
    console.print(f"kernels ready after {api.solve(tiny, 'colgen').seconds:.1f} s", style="dim")


def _cells(run: Run) -> tuple[str, ...]:
    result = run.result
    return (
        f"{result.seconds:.2f}",
        f"{result.objective:.6f}",
        f"{result.lower_bound:.6f}",
        f"{result.gap:.1e}",
        result.status,
        f"{run.trace[-1].nodes}",
    )


def measure_scaling(sizes: Iterable[int]) -> dict[int, Run]:
    """The run of each size."""
    return {n: solve(dense_moons(n), rel_gap=SCALING_GAP) for n in sizes}


def _scaling_table(runs: dict[int, Run]) -> Table:
    table = Table(title=f"two moons, 8 points a cluster, until the gap is {SCALING_GAP:g}")
    for column in ("N", "K", "r", "s", "iterations", "columns", "nodes", "gap"):
        table.add_column(column, justify="right")
    for n, run in runs.items():
        end, instance = run.trace[-1], dense_moons(n)
        table.add_row(
            f"{n}",
            f"{instance.n_clusters}",
            f"{instance.radius:.4f}",
            f"{end.seconds:.1f}",
            f"{end.iteration}",
            f"{end.columns}",
            f"{end.nodes}",
            f"{end.gap:.1e}",
        )
    return table


def write_scaling(runs: dict[int, Run], folder: Path) -> list[Path]:
    """The scaling data as CSV, one row a report, and as a figure."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / "exact_scaling.csv"
    with data.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["n", "seconds", "iteration", "columns", "nodes", "incumbent", "bound"])
        for n, run in runs.items():
            for p in run.trace:
                row = (n, f"{p.seconds:.3f}", p.iteration, p.columns, p.nodes, p.incumbent, p.bound)
                writer.writerow(row)
    picture = folder / "exact_scaling.png"
    draw_scaling(runs).savefig(picture, dpi=150, bbox_inches="tight")
    return [data, picture]


def draw_scaling(runs: dict[int, Run]):
    """Seconds against N, and gap against seconds."""
    canvas, (left, right) = plots.figure(1, 2, width=9.0)
    sizes = list(runs)
    seconds = [run.result.seconds for run in runs.values()]
    plots.curves({"column generation": (sizes, seconds)}, "points", "seconds", left)
    left.set(xscale="log", yscale="log")
    gaps = {
        f"N={n}": ([p.seconds for p in run.trace], [max(p.gap, 1e-9) for p in run.trace])
        for n, run in runs.items()
    }
    plots.curves(gaps, "seconds", "gap", right, markers=False)
    # Room for the names at the right.
    right.set(xscale="log", yscale="log", xlim=(None, 20 * max(seconds)))
    return canvas
