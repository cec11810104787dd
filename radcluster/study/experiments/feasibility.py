"""The feasibility curve: fewest clusters against the radius, each number proven.

The paper has "seen that at least 16 centroids were required" at r = .189. Here the number is
proven for a range of radii on the authors' draw, and at r = .189 on many draws: 16 is a property
of their sample, not of the moons. Complete linkage, cut at 2r, shows what a greedy method needs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.table import Table

from radcluster import plots
from radcluster.datasets import two_moons
from radcluster.feasibility.min_clusters import min_clusters
from radcluster.study import records
from radcluster.study.baselines import CompleteLinkage
from radcluster.study.experiments import report
from radcluster.study.experiments.table1 import RADII

AUTHORS_DRAW = 10
GRID = tuple(sorted({*(round(0.1 + 0.01 * step, 2) for step in range(41)), *RADII}))
DEFAULT_SEEDS = 100


def run(out: Path, *, seeds: int = DEFAULT_SEEDS, n_jobs: int = 1) -> list[records.Row]:
    """One row a draw and radius, in ``feasibility.csv``; a clique's points stand in its row."""
    tasks = [{"draw": AUTHORS_DRAW, "radius": radius} for radius in GRID]
    tasks += [{"draw": draw, "radius": RADII[0]} for draw in range(seeds) if draw != AUTHORS_DRAW]
    return records.run(out / "feasibility.csv", tasks, measure, n_jobs=n_jobs)


def measure(draw: int, radius: float) -> records.Row:
    """Fewest clusters for one draw and radius, with the kind of proof."""
    points, _ = two_moons(draw)
    found = min_clusters(points, radius, time_limit=60)
    greedy = CompleteLinkage(radius=radius).fit(points)
    return {
        "n_clusters": found.n_clusters,
        "lower_bound": found.lower_bound,
        "complete_linkage": int(greedy.labels_.max()) + 1,
        "certificate": found.certificate["kind"],
        "points": " ".join(map(str, found.certificate.get("points", []))),
        "seconds": round(found.seconds, 4),
    }


def on_authors_draw(rows: list[records.Row]) -> list[records.Row]:
    """The rows of the curve, by increasing radius."""
    return [row for row in rows if row["draw"] == AUTHORS_DRAW]


def over_draws(rows: list[records.Row]) -> dict[int, int]:
    """At the paper's radius: fewest clusters -> number of draws."""
    numbers = report.values(rows, "n_clusters", radius=RADII[0]).astype(int)
    return {int(k): int((numbers == k).sum()) for k in np.unique(numbers)}


def table(rows: list[records.Row]) -> Table:
    """The curve on the authors' draw."""
    columns = ["r", "fewest clusters", "proven bound", "certificate", "complete linkage", "seconds"]
    lines = [
        [
            f"{row['radius']:g}",
            str(row["n_clusters"]),
            str(row["lower_bound"]),
            row["certificate"],
            str(row["complete_linkage"]),
            f"{row['seconds']:.2f}",
        ]
        for row in on_authors_draw(rows)
    ]
    built = report.table("Fewest clusters on the two moons, authors' draw", columns, lines)
    counts = ", ".join(f"{k} on {count}" for k, count in over_draws(rows).items())
    built.caption = f"fewest clusters at r = {RADII[0]:g} over draws: {counts}"
    return built


def draw(rows: list[records.Row]) -> Figure:
    """The curve, and what r = .189 needs on other draws."""
    figure, (left, right) = plots.figure(
        1, 2, width=plots.PAGE, height=2.4, gridspec_kw={"width_ratios": [2, 1]}
    )
    curve = on_authors_draw(rows)
    radii = [row["radius"] for row in curve]
    series = {
        "fewest (proven)": (radii, [row["n_clusters"] for row in curve]),
        "complete linkage": (radii, [row["complete_linkage"] for row in curve]),
    }
    plots.curves(series, "r", "clusters", left, drawstyle="steps-post", markers=False)
    left.axvline(RADII[0], color=plots.FAINT, lw=0.9, ls=(0, (4, 2)))
    plots.bars(over_draws(rows), f"fewest clusters at r = {RADII[0]:g}", "draws", right)
    return figure
