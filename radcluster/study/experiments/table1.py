"""Table 1: radii and clusters in the convex moon, on the authors' draw.

The draw is fixed (seed 10) and the methods are seeded 0, 1, ...: with a new draw for each seed the
paper's standard deviations do not come out, and K = 16 would be infeasible on some of the draws.
"""

from __future__ import annotations

import csv
from importlib.resources import files
from pathlib import Path

from rich.table import Table

from radcluster.datasets import CONVEX_MOON, two_moons
from radcluster.metrics import summary
from radcluster.study import records
from radcluster.study.experiments import methods, report

N_CLUSTERS = 16
#: The paper's radius, and that of the authors' notebook.
RADII = (0.189, 0.18)
OURS = ("pipeline, k-center", "pipeline, SDP", "optimum")
DEFAULT_SEEDS = 100


def run(out: Path, *, seeds: int = DEFAULT_SEEDS, n_jobs: int = 1) -> list[records.Row]:
    """One row a method, radius and seed, in ``table1.csv``."""
    tasks = [
        {"method": method, "radius": RADII[0], "seed": seed}
        for method in methods.SEEDED
        for seed in range(seeds)
    ]
    tasks.append({"method": methods.LINKAGE, "radius": RADII[0], "seed": 0})
    tasks += [
        {"method": method, "radius": radius, "seed": 0} for method in OURS for radius in RADII
    ]
    return records.run(out / "table1.csv", tasks, measure, n_jobs=n_jobs)


def measure(method: str, radius: float, seed: int) -> records.Row:
    """One method once: the paper's metrics, and what it did not report."""
    points, classes = two_moons()
    found = methods.find(method, points, N_CLUSTERS, radius, seed)
    row = summary(points, found.labels, found.centers, classes, CONVEX_MOON)
    return row | {
        "keeps_radius": int(row["assigned_partition_radius"] <= radius * (1 + 1e-12)),
        "status": found.status,
        "lower_bound": found.lower_bound,
        "gap": found.gap,
        "seconds": round(found.seconds, 4),
    }


def paper() -> dict[str, dict[str, str]]:
    """The printed table: method -> column -> "mean (± std)"."""
    text = files("radcluster").joinpath("data/paper_table1.csv").read_text()
    printed = {}
    for row in csv.DictReader(text.splitlines()):
        name = "ours" if row["method"].startswith("Ours") else row["method"]
        printed[name] = {
            column: row[f"{key}_mean"] + (f" ± {row[f'{key}_std']}" if row[f"{key}_std"] else "")
            for column, key in _PAPER_COLUMNS.items()
        }
    return printed


_PAPER_COLUMNS = {
    "partition_radius": "max_partition_radius",
    "k_radius": "max_k_radius",
    "k_in_class": "k_in_convex_moon",
}


def table(rows: list[records.Row]) -> Table:
    """Table 1 beside the paper's."""
    printed = paper()
    lines = []
    for method, radius in dict.fromkeys((row["method"], row["radius"]) for row in rows):
        mine = [row for row in rows if (row["method"], row["radius"]) == (method, radius)]
        ours = method in OURS
        beside = printed.get(method, {})
        if ours and radius == RADII[0]:
            beside = printed["ours"]
        cells = [f"{method}, r={radius:g}" if ours else method]
        for column in _PAPER_COLUMNS:
            digits = 2 if column == "k_in_class" else 3
            cells += [report.spread(report.values(mine, column), digits), beside.get(column, "")]
        kept = report.values(mine, "keeps_radius").mean()
        cells += [f"{kept:.0%}", report.spread(report.values(mine, "wcss"), 4)]
        cells += [_gap(mine[0]["gap"])]
        cells += [f"{report.values(mine, 'seconds').mean():.2f}"]
        lines.append(cells)
    columns = ["method", "partition radius", "paper", "k-radius", "paper", "k in Ω", "paper"]
    columns += ["keeps r", "WCSS", "gap", "seconds"]
    return report.table(
        "Table 1: two moons 85/15, K=16 (radii on Voronoi cells, Ω the small moon)", columns, lines
    )


def _gap(gap: float | None) -> str:
    """A gap of 1 is that of the bound 0: nothing was proven."""
    if gap is None:
        return ""
    return "none proven" if gap >= 1 else f"{gap:.0e}"
