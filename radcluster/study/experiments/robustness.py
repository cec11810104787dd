"""The robustness curve that the paper never drew: imbalance against clusters in the small moon.

100 points, of which 50 down to 5 lie in the convex moon, K = 16, over many draws. A method that is
robust to sampling bias keeps about half of its clusters there. The radius is the smallest at which
16 clusters suffice on the draw (:func:`radcluster.min_radius`): it is computed without the
classes, and leaves no parameter to tune.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.table import Table

from radcluster import plots
from radcluster.datasets import CONVEX_MOON, two_moons
from radcluster.feasibility.min_radius import min_radius
from radcluster.metrics import summary
from radcluster.study import records
from radcluster.study.experiments import methods, report
from radcluster.study.experiments.table1 import N_CLUSTERS

MINORITY = (50, 40, 30, 20, 15, 10, 5)
METHODS = (
    "K-means",
    "K-medoids",
    "K-center",
    "card. K-means",
    "tk-means",
    methods.LINKAGE,
    "pipeline, k-center",
    "optimum",
)
DEFAULT_SEEDS = 20


def run(out: Path, *, seeds: int = DEFAULT_SEEDS, n_jobs: int = 1) -> list[records.Row]:
    """One row a method, imbalance and draw, in ``robustness.csv``."""
    tasks = [
        {"minority": minority, "draw": draw, "method": method}
        for minority in MINORITY
        for draw in range(seeds)
        for method in METHODS
    ]
    return records.run(out / "robustness.csv", tasks, measure, n_jobs=n_jobs)


@lru_cache(maxsize=4)
def _tightest(minority: int, draw: int) -> float:
    points, _ = two_moons(draw, (100 - minority, minority))
    return min_radius(points, N_CLUSTERS, time_limit=60).radius


def measure(minority: int, draw: int, method: str) -> records.Row:
    """One method on one draw at the smallest radius that 16 clusters allow."""
    points, classes = two_moons(draw, (100 - minority, minority))
    radius = _tightest(minority, draw)
    found = methods.find(method, points, N_CLUSTERS, radius, seed=draw)
    row = summary(points, found.labels, found.centers, classes, CONVEX_MOON)
    return {
        "radius": radius,
        "k_in_class": row["k_in_class"],
        "assigned_partition_radius": row["assigned_partition_radius"],
        "wcss": row["wcss"],
        "status": found.status,
    }


def table(rows: list[records.Row]) -> Table:
    """Clusters in the small moon for each method and imbalance."""
    shares = list(dict.fromkeys(row["minority"] for row in rows))
    lines = [
        [method]
        + [
            report.spread(report.values(rows, "k_in_class", method=method, minority=share), 1)
            for share in shares
        ]
        for method in METHODS
    ]
    columns = ["clusters in the small moon", *(f"{100 - share}/{share}" for share in shares)]
    return report.table("Robustness to imbalance: 8 of 16 is balanced", columns, lines)


def draw(rows: list[records.Row]) -> Figure:
    """Mean clusters in the small moon against its share of the points."""
    figure, (left, right) = plots.figure(1, 2, width=plots.PAGE, height=2.6)
    shares = sorted({row["minority"] for row in rows})
    shown = ("optimum", "K-center", methods.LINKAGE, "K-means", "K-medoids", "tk-means")
    for ax, column, label in (
        (left, "k_in_class", "clusters in the small moon"),
        (right, "assigned_partition_radius", "largest partition radius"),
    ):
        series = {}
        for method in shown:
            numbers = [report.values(rows, column, method=method, minority=s) for s in shares]
            spread = [n.std() for n in numbers] if method in ("optimum", "K-means") else None
            means = [np.mean(n) for n in numbers]
            series[method] = (shares, means) if spread is None else (shares, means, spread)
        plots.curves(series, "% of points in the small moon", label, ax)
        ax.invert_xaxis()
    right.get_legend().remove()
    left.axhline(N_CLUSTERS / 2, color=plots.FAINT, lw=0.9, ls=(0, (4, 2)))
    return figure
