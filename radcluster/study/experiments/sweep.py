"""The sweep of cardinality bounds: does any balance the moons?

The paper raises the lower bound and lowers the upper one until nothing is feasible, and says that
both harm the balance. Bounds are on all K = 16 clusters; the small moon has 15 of 100 points.
"""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure
from rich.table import Table

from radcluster import plots
from radcluster.datasets import CONVEX_MOON, two_moons
from radcluster.metrics import summary
from radcluster.study import records
from radcluster.study.baselines import CardinalityKMeans
from radcluster.study.experiments import report
from radcluster.study.experiments.table1 import N_CLUSTERS

LOWER = (1, 2, 3, 4, 5, 6)
UPPER = (100, 15, 12, 10, 9, 8, 7)
DEFAULT_SEEDS = 20


def run(out: Path, *, seeds: int = DEFAULT_SEEDS, n_jobs: int = 1) -> list[records.Row]:
    """One row a pair of bounds and seed, in ``sweep.csv``: one bound moves, the other is loose."""
    bounds = [(low, UPPER[0]) for low in LOWER] + [(LOWER[0], high) for high in UPPER[1:]]
    tasks = [
        {"size_min": low, "size_max": high, "seed": seed}
        for low, high in bounds
        for seed in range(seeds)
    ]
    return records.run(out / "sweep.csv", tasks, measure, n_jobs=n_jobs)


def measure(size_min: int, size_max: int, seed: int) -> records.Row:
    """Cardinality-constrained k-means once."""
    points, classes = two_moons()
    model = CardinalityKMeans(
        N_CLUSTERS, size_min=size_min, size_max=size_max, n_init=3, random_state=seed
    ).fit(points)
    return summary(points, model.labels_, model.cluster_centers_, classes, CONVEX_MOON)


def table(rows: list[records.Row]) -> Table:
    """Clusters in the convex moon for each pair of bounds."""
    lines = []
    for low, high in dict.fromkeys((row["size_min"], row["size_max"]) for row in rows):
        wanted = {"size_min": low, "size_max": high}
        lines.append(
            [
                f"{low} to {high}",
                report.spread(report.values(rows, "k_in_class", **wanted), 2),
                report.spread(report.values(rows, "assigned_partition_radius", **wanted)),
                report.spread(report.values(rows, "wcss", **wanted)),
            ]
        )
    columns = ["sizes", "k in Ω", "partition radius", "WCSS"]
    return report.table("Cardinality bounds on the two moons (8 in Ω is balanced)", columns, lines)


def draw(rows: list[records.Row]) -> Figure:
    """Clusters in the convex moon as each bound tightens."""
    figure, axes = plots.figure(1, 2, width=plots.PAGE, height=2.2, sharey=True)
    for ax, moving, fixed in (
        (axes[0], "size_min", {"size_max": UPPER[0]}),
        (axes[1], "size_max", {"size_min": LOWER[0]}),
    ):
        loose = max(UPPER[1:]) if moving == "size_max" else max(LOWER)
        bounds = sorted({row[moving] for row in rows if row[moving] <= loose})
        numbers = [report.values(rows, "k_in_class", **fixed, **{moving: b}) for b in bounds]
        means, stds = [n.mean() for n in numbers], [n.std() for n in numbers]
        label = "lower bound on sizes" if moving == "size_min" else "upper bound on sizes"
        plots.curves({"card. K-means": (bounds, means, stds)}, label, "clusters in Ω", ax)
        ax.label_outer()
        ax.axhline(8, color=plots.FAINT, lw=0.9, ls=(0, (4, 2)))
    return figure
