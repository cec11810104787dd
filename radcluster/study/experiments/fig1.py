"""Figure 1: radius-constrained k-means on the imbalanced two moons; here, its certified optimum."""

from __future__ import annotations

from pathlib import Path

from radcluster.study import records
from radcluster.study.experiments.fig2 import draw, partition, table
from radcluster.study.experiments.table1 import RADII

DEFAULT_SEEDS = 1

__all__ = ["DEFAULT_SEEDS", "draw", "run", "table"]


def run(out: Path, *, seeds: int = DEFAULT_SEEDS, n_jobs: int = 1) -> list[records.Row]:
    """The optimum at the paper's radius, in ``fig1.csv``; it depends on no ``seeds``."""
    tasks = [{"method": "optimum", "radius": RADII[0], "seed": 0}]
    return records.run(out / "fig1.csv", tasks, partition, n_jobs=n_jobs)
