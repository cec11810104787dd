"""Step 1 of Algorithm 1 by a semidefinite program or by k-center: does it matter?

The paper says that a k-center problem in the place of the SDP "has minimal effects on the centroid
selection". On each draw of the two moons, with r = .189 and the fewest clusters that this radius
allows, Algorithm 1 runs with either Step 1, with Steps 3-4 once (as printed) and repeated, and is
compared with the certified optimum: cost, and how far the centroids lie from the optimal ones.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.table import Table
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from radcluster import plots
from radcluster.api import solve
from radcluster.datasets import CONVEX_MOON, two_moons
from radcluster.feasibility.min_clusters import min_clusters
from radcluster.metrics import clusters_in_class
from radcluster.problem.instance import Instance
from radcluster.result import Result
from radcluster.study import records
from radcluster.study.experiments import report
from radcluster.study.experiments.table1 import RADII

STEPS = ("kcenter", "kcenter:exact", "sdp:peng_wei", "sdp:perspective")
DEFAULT_SEEDS = 20


def run(out: Path, *, seeds: int = DEFAULT_SEEDS, n_jobs: int = 1) -> list[records.Row]:
    """One row a draw, Step 1 and number of Steps 3-4, in ``step1.csv``."""
    tasks = [
        {"draw": draw, "step1": step1, "repeat": repeat}
        for draw in range(seeds)
        for step1 in STEPS
        for repeat in (0, 1)
    ]
    return records.run(out / "step1.csv", tasks, measure, n_jobs=n_jobs)


@lru_cache(maxsize=4)
def _optimum(draw: int) -> tuple[Instance, Result]:
    points, _ = two_moons(draw)
    n_clusters = min_clusters(points, RADII[0]).n_clusters
    instance = Instance(points, n_clusters, RADII[0])
    return instance, solve(instance, "exact")


def measure(draw: int, step1: str, repeat: int) -> records.Row:
    """Algorithm 1 once, against the optimum."""
    _, classes = two_moons(draw)
    instance, best = _optimum(draw)
    result = solve(instance, "pipeline", step1=step1, repeat=bool(repeat))
    distances = cdist(result.centers, best.centers)
    matched = distances[linear_sum_assignment(distances)]
    return {
        "n_clusters": instance.n_clusters,
        "objective": result.objective,
        "lower_bound": result.lower_bound,
        "optimum": best.objective,
        "optimum_status": best.status,
        "excess": result.objective / best.objective - 1,
        "centroid_shift": float(matched.mean()),
        "moved_centroids": int((matched > 1e-6).sum()),
        "k_in_class": clusters_in_class(result.labels, classes, CONVEX_MOON),
        "k_in_class_optimum": clusters_in_class(best.labels, classes, CONVEX_MOON),
        "step1_seconds": round(result.steps[0].seconds, 4),
        "seconds": round(result.seconds, 4),
    }


def table(rows: list[records.Row]) -> Table:
    """Excess over the optimum and displacement of the centroids, by Step 1."""
    columns = [
        "Step 1",
        "cost over optimum, Steps 3-4 once",
        "repeated",
        "optimal",
        "bound / optimum",
    ]
    columns += ["centroids moved", "mean shift / r", "k in Ω differs", "Step 1 seconds"]
    lines = []
    for step1 in dict.fromkeys(row["step1"] for row in rows):
        once = 100 * report.values(rows, "excess", step1=step1, repeat=0)
        mine = [row for row in rows if row["step1"] == step1 and row["repeat"] == 1]
        excess = report.values(mine, "excess")
        tight = report.values(mine, "lower_bound") / report.values(mine, "optimum")
        differs = report.values(mine, "k_in_class") != report.values(mine, "k_in_class_optimum")
        lines.append(
            [
                step1,
                f"{report.spread(once, 2)} %",
                f"{report.spread(100 * excess, 2)} %",
                f"{(excess < 1e-6).sum()} of {len(excess)}",
                f"{tight.mean():.3f}",
                report.spread(report.values(mine, "moved_centroids"), 1),
                report.spread(report.values(mine, "centroid_shift") / RADII[0]),
                f"{differs.sum()} of {len(differs)}",
                f"{report.values(mine, 'step1_seconds').mean():.2f}",
            ]
        )
    return report.table("Step 1: k-center against SDP, over draws, r = 0.189", columns, lines)


def draw(rows: list[records.Row]) -> Figure:
    """Cost over the optimum, draw by draw in increasing order, for each Step 1."""
    figure, axes = plots.figure(1, 2, width=plots.PAGE, height=2.3, sharey=True)
    for ax, repeat, title in ((axes[0], 0, "Steps 3-4 once"), (axes[1], 1, "repeated")):
        series = {}
        for step1 in dict.fromkeys(row["step1"] for row in rows):
            excess = np.sort(100 * report.values(rows, "excess", step1=step1, repeat=repeat))
            series[step1] = (100 * np.arange(1, len(excess) + 1) / len(excess), excess)
        plots.curves(series, "% of draws", "% above the optimum, at most", ax, title)
    axes[1].get_legend().remove()
    axes[1].set_ylabel("")
    return figure
