"""The heuristic beside what ``exact`` proves: 50 small instances in 2 to 13 dimensions.

Part of ``radcluster bench scale``. The instances are drawn from seeds that nothing was tuned on.
Each radius is drawn between one that leaves some freedom and one that binds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import make_blobs

from radcluster import Instance, RadiusKMeans, SolverFailure, min_clusters, solve

#: What ``--only`` finds it by.
NAME = "heuristic beside exact"
INSTANCES = 50
#: Seconds for each proof; an instance that is not proven by then is replaced by the next one.
PROOF_SECONDS = 30.0
FIRST_SEED = 7000


@dataclass(frozen=True)
class Row:
    """One instance: what was proven and what the heuristic found.

    Attributes
    ----------
    excess : float
        Cost of the heuristic's partition over the optimum, less 1.
    more : float
        Clusters of the heuristic, their number free, over the fewest, less 1; nan when the fewest
        are not known.
    """

    name: str
    excess: float
    more: float


def drawn(seed: int) -> Instance:
    """A random instance: blobs or a normal cloud, and a radius that binds more or less."""
    rng = np.random.default_rng(seed)
    n, dim = int(rng.integers(60, 301)), int(rng.integers(2, 14))
    k = int(rng.integers(3, max(4, n // 8)))
    if rng.random() < 0.5:
        points = make_blobs(n, dim, centers=max(2, k // 2), random_state=seed)[0]
    else:
        points = rng.normal(size=(n, dim))
    labels = solve(Instance(points, k), method="heuristic").labels
    widest = max(
        np.square(points[labels == c][:, None] - points[labels == c]).sum(-1).max()
        for c in range(k)
    )
    return Instance(points, k, float(rng.uniform(0.9, 1.1) * np.sqrt(widest) / 2))


def measure(seed: int) -> Row | None:
    """The row of a seed; None when the instance has no proof within its time."""
    instance = drawn(seed)
    exact = solve(instance, time_limit=PROOF_SECONDS)
    if exact.status != "optimal":
        return None
    try:
        excess = solve(instance, method="heuristic").objective / exact.objective - 1
    except SolverFailure:  # no partition found
        excess = float("inf")
    fewest = min_clusters(instance.points, instance.radius, time_limit=PROOF_SECONDS)
    free = RadiusKMeans(None, radius=instance.radius, method="heuristic").fit(instance.points)
    known = fewest.lower_bound == fewest.n_clusters
    more = free.n_clusters_ / fewest.n_clusters - 1 if known else float("nan")
    n, dim = instance.points.shape
    return Row(f"{n} x {dim}, K={instance.n_clusters}", excess, more)


def run(console, instances: int = INSTANCES) -> list[Row]:
    """Print how far the heuristic stays from the proven optimum, on average and at worst."""
    rows: list[Row] = []
    seed = FIRST_SEED
    while len(rows) < instances:
        row = measure(seed)
        seed += 1
        if row is not None:
            rows.append(row)
    excess = np.array([row.excess for row in rows])
    more = np.array([row.more for row in rows])
    worst = rows[int(excess.argmax())]
    known = int(np.isfinite(more).sum())
    console.print(
        f"heuristic beside exact, {len(rows)} proven instances of {seed - FIRST_SEED} drawn: "
        f"{excess.mean():.2%} above the optimum on average, {excess.max():.2%} at worst "
        f"({worst.name}); K free, {known} of them with a proof: {np.nanmean(more):.2%} more "
        f"clusters than the fewest on average, {np.nanmax(more):.2%} at worst"
    )
    return rows
