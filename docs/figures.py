"""The pictures of the pages, drawn anew: ``python docs/figures.py``."""

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")

from sklearn.datasets import load_iris

from radcluster import Instance, compare, solve
from radcluster.datasets import two_moons

IMAGES = Path(__file__).parent / "images"


def save(ax, name: str) -> None:
    ax.figure.savefig(IMAGES / f"{name}.png", dpi=170, bbox_inches="tight")


def main() -> None:
    points, _ = two_moons()
    moons = Instance(points, 16, 0.189)
    solve(moons)  # compiles, so that the times below are those of a second run
    save(solve(moons).plot(), "result")
    save(solve(moons.replace(n_clusters=15)).plot(), "certificate_clique")
    save(solve(Instance(load_iris().data, 3, 1.0)).plot(), "certificate_matrix")
    angles = 2 * np.pi * np.arange(5) / 5
    pentagon = Instance(np.column_stack([np.cos(angles), np.sin(angles)]), 2, 0.8)
    save(solve(pentagon).plot(), "certificate_propagation")
    linked = Instance([[0.0, 0.0], [0.5, 0.2], [3.0, 0.0]], 2, 1.0, must_link=[(0, 2)])
    save(solve(linked).plot(), "certificate_must_link")
    comparison = compare(moons, ["exact", "milp", "pipeline", "heuristic"], time_limit=60)
    save(comparison.plot(), "compare")


if __name__ == "__main__":
    main()
