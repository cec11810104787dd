"""Where a radius helps on real data: rare digits, remote airports.

*Digits*: 100 images each of 1, 2, 3 and 5 each of 0, 4, K = 16. Is each rare class the majority of
some cluster, and how well do the centres classify? *Airports*: 800 of the United States, K = 30.
How far is an airport from its centre, on average and at worst?

The radius is a little above the smallest at which K clusters suffice, as far as that is found in
:data:`RADIUS_SECONDS`; the classes play no part in it. Two distances above the smallest show how
much hangs on the choice.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.table import Table

from radcluster import plots
from radcluster.datasets import airports, digits_imbalanced
from radcluster.feasibility.min_radius import min_radius
from radcluster.metrics import coverage, prototype_accuracy, summary
from radcluster.study import records
from radcluster.study.experiments import methods, report

#: Draw a data set, its number of clusters, and the classes that are rare in it.
DATA: dict[str, tuple[Callable, int, tuple[int, ...]]] = {
    "digits": (digits_imbalanced, 16, (0, 4)),
    "airports": (airports, 30, ()),
}
#: Our rows: the radius, as a multiple of the smallest.
SLACK = {"radius + 5 %": 1.05, "radius + 15 %": 1.15}
METHODS = ("K-means", "K-medoids", "K-center", methods.LINKAGE, *SLACK)
RADIUS_SECONDS = 20.0
DEFAULT_SEEDS = 12


def run(out: Path, *, seeds: int = DEFAULT_SEEDS, n_jobs: int = 1) -> list[records.Row]:
    """One row a data set, draw and method, in ``real.csv``."""
    tasks = [
        {"data": data, "draw": draw, "method": method}
        for data in DATA
        for draw in range(seeds)
        for method in METHODS
    ]
    return records.run(out / "real.csv", tasks, measure, n_jobs=n_jobs)


@lru_cache(maxsize=2)
def tightest(data: str, draw: int) -> float:
    """The smallest radius known to suffice."""
    sample, n_clusters, _ = DATA[data]
    points, _ = sample(draw)
    return min_radius(points, n_clusters, time_limit=RADIUS_SECONDS).radius


def _find(data, draw, method, points, n_clusters):
    if method not in SLACK:
        return methods.find(method, points, n_clusters, seed=draw), None
    radius = SLACK[method] * tightest(data, draw)
    return methods.find("radius, heuristic", points, n_clusters, radius), radius


def measure(data: str, draw: int, method: str) -> records.Row:
    """One method on one draw."""
    sample, n_clusters, rare = DATA[data]
    points, classes = sample(draw)
    found, radius = _find(data, draw, method, points, n_clusters)
    distances = np.linalg.norm(points - found.centers[found.labels], axis=1)
    row = summary(points, found.labels, found.centers)
    return {
        "radius": radius,
        "covered": coverage(found.labels, classes, rare) if rare else None,
        "accuracy": (
            prototype_accuracy(points, found.labels, found.centers, classes) if rare else None
        ),
        "mean_distance": float(distances.mean()),
        "max_distance": float(distances.max()),
        "partition_radius": row["assigned_partition_radius"],
        "wcss": row["wcss"],
        "seconds": round(found.seconds, 3),
    }


def table(rows: list[records.Row]) -> Table:
    """Both data sets, method by method."""
    columns = ["data, method", "rare classes covered", "balanced accuracy", "mean distance"]
    columns += ["max distance", "partition radius", "WCSS / K-means"]
    lines = []
    for data, method in dict.fromkeys((row["data"], row["method"]) for row in rows):
        mine = [row for row in rows if (row["data"], row["method"]) == (data, method)]
        plain = report.values(rows, "wcss", data=data, method="K-means")
        digits = 2 if data == "digits" else 0
        lengths = ("mean_distance", "max_distance", "partition_radius")
        lines.append(
            [
                f"{data}, {method}",
                report.spread(report.values(mine, "covered"), 2),
                report.spread(report.values(mine, "accuracy")),
                *(report.spread(report.values(mine, column), digits) for column in lengths),
                report.spread(report.values(mine, "wcss") / plain),
            ]
        )
    return report.table("Real data: digits K=16, airports K=30 (km)", columns, lines)


def draw(rows: list[records.Row]) -> Figure:
    """One draw of the airports by k-means and with the radius; to scale, in kilometres."""
    sample, n_clusters, _ = DATA["airports"]
    shown = ("K-means", next(iter(SLACK)))
    ours = next(row for row in rows if (row["data"], row["method"]) == ("airports", shown[1]))
    points, _ = sample(ours["draw"])
    figure, axes = plots.figure(1, 2, width=plots.PAGE, height=2.5)
    for ax, method in zip(axes, ("K-means", "radius, heuristic"), strict=True):
        found = methods.find(method, points, n_clusters, ours["radius"], seed=ours["draw"])
        farthest = np.linalg.norm(points - found.centers[found.labels], axis=1).max()
        name = method if method in shown else shown[1]
        title = f"{name}: at most {farthest:.0f} km to the centre"
        centers = _flat(found.centers, points)
        plots.partition(
            _flat(points, points), found.labels, centers, ours["radius"], ax=ax, title=title
        )
    return figure


def _flat(points, around):
    """Points in space as seen from above the middle of others, in kilometres."""
    up = around.mean(axis=0) / np.linalg.norm(around.mean(axis=0))
    east = np.cross([0.0, 0.0, 1.0], up)
    east /= np.linalg.norm(east)
    return points @ np.stack([east, np.cross(up, east)], axis=1)
