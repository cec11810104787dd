"""Figure 2: the partitions of all methods on the imbalanced two moons.

The paper shows K-means, K-medoids, K-center and cardinality-constrained K-means, with 6, 6, 6 and
5 clusters in the convex moon; here stand also tk-means, complete linkage, Algorithm 1 and the
certified optimum.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.table import Table

from radcluster import plots
from radcluster.datasets import CONVEX_MOON, two_moons
from radcluster.metrics import summary
from radcluster.study import records
from radcluster.study.experiments import methods, report
from radcluster.study.experiments.table1 import N_CLUSTERS, RADII

PANELS = (
    "K-means",
    "K-medoids",
    "K-center",
    "card. K-means",
    "tk-means",
    methods.LINKAGE,
    "pipeline, k-center",
    "optimum",
)
DEFAULT_SEEDS = 1


def run(out: Path, *, seeds: int = DEFAULT_SEEDS, n_jobs: int = 1) -> list[records.Row]:
    """One row a method: labels, centres and metrics, in ``fig2.csv``.

    A figure shows one run, with seed 0, whatever ``seeds`` other experiments are given.
    """
    tasks = [{"method": method, "radius": RADII[0], "seed": 0} for method in PANELS]
    return records.run(out / "fig2.csv", tasks, partition, n_jobs=n_jobs)


def partition(method: str, radius: float, seed: int) -> records.Row:
    """One method's partition, with labels and centres as numbers separated by blanks."""
    points, classes = two_moons()
    found = methods.find(method, points, N_CLUSTERS, radius, seed)
    return summary(points, found.labels, found.centers, classes, CONVEX_MOON) | {
        "labels": " ".join(map(str, found.labels.tolist())),
        "centers": " ".join(f"{value:.10g}" for value in np.ravel(found.centers)),
    }


def table(rows: list[records.Row]) -> Table:
    """What the panels show, in numbers."""
    columns = ["method", "k in Ω", "partition radius", "k-radius", "WCSS"]
    lines = [
        [
            row["method"],
            str(row["k_in_class"]),
            f"{row['assigned_partition_radius']:.4f}",
            f"{row['assigned_k_radius']:.4f}",
            f"{row['wcss']:.4f}",
        ]
        for row in rows
    ]
    return report.table("Figures 1-2: radii of the partitions as assigned", columns, lines)


def draw(rows: list[records.Row]) -> Figure:
    """All panels; clusters wider than 2r have their diameter drawn in red."""
    columns = min(len(rows), 4)
    n_rows = -(-len(rows) // columns)
    width = plots.PAGE if columns > 1 else plots.COLUMN
    figure, axes = plots.figure(n_rows, columns, width=width, squeeze=False)
    points, classes = two_moons()
    for row, ax in zip(rows, axes.flat, strict=False):
        plots.partition(
            points,
            np.array(row["labels"].split(), dtype=int),
            centers=np.array(row["centers"].split(), dtype=float).reshape(-1, 2),
            radius=row["radius"],
            classes=classes,
            ax=ax,
            title=f"{row['method']}: {row['k_in_class']} in Ω",
        )
    for ax in axes.flat[len(rows) :]:
        ax.set_axis_off()
    return figure
