"""Small instances that carry their answers, and the enumeration that answers any small one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from radcluster import Instance
from radcluster.datasets import two_moons

#: Certified optima of the paper's instance (two moons, 100 points), by (K, r).
MOONS_OPTIMA = {
    (16, 0.189): 1.3366927379544213,
    (16, 0.18): 1.3441792740540663,
    (17, 0.18): 1.0957653093531587,
}


def moons(n_clusters: int = 16, radius: float = 0.189) -> Instance:
    """The paper's instance."""
    return Instance(two_moons()[0], n_clusters, radius)


def brute_force(instance: Instance) -> float:
    """The optimum over all labellings, straight from the definition; inf when infeasible."""
    n, k = instance.n_points, instance.n_clusters
    labels = _labellings(n, k, instance.uniform_radius)
    valid = np.ones(len(labels), dtype=bool)
    cost = np.zeros(len(labels))
    for c in range(k):
        member = labels == c
        valid &= member.any(axis=1)
        weighted = member * instance.weights
        inside = np.einsum("ti,ij,tj->t", weighted, instance.sq_distances, weighted)
        cost += inside / (2 * np.where(member.any(axis=1), weighted.sum(axis=1), 1.0))
        limit = 4 * instance.radii[c] ** 2 * (1 + 1e-9)
        for i, j in np.argwhere(np.triu(instance.sq_distances > limit)):
            valid &= ~(member[:, i] & member[:, j])
    for i, j in instance.cannot_link:
        valid &= labels[:, i] != labels[:, j]
    for i, j in instance.must_link:
        valid &= labels[:, i] == labels[:, j]
    return float(cost[valid].min()) if valid.any() else np.inf


@cache
def _labellings(n: int, k: int, interchangeable: bool) -> np.ndarray:
    """All label vectors; one of each set partition when labels are interchangeable."""
    rows = [()]
    for _ in range(n):
        rows = [
            (*row, c)
            for row in rows
            for c in range(min(k, max(row, default=-1) + 2) if interchangeable else k)
        ]
    return np.array(rows)


@dataclass(frozen=True)
class RandomCase:
    """A random small instance, by seed, with its enumerated optimum."""

    seed: int

    @property
    def instance(self) -> Instance:
        return random_instance(self.seed)

    @property
    def optimum(self) -> float:
        return brute_force(self.instance)


def random_instance(
    seed: int, *, max_points: int = 9, per_cluster_radii: bool = True, links: bool = True
) -> Instance:
    """N <= 9 points in 1 to 3 dimensions, K <= 4; duplicates, links, radii per cluster; both
    feasible and infeasible ones occur."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, max_points + 1))
    k = int(rng.integers(1, min(4, n) + 1))
    points = rng.normal(size=(n, int(rng.integers(1, 4))))
    if rng.random() < 0.25:
        points[rng.integers(n)] = points[rng.integers(n)]
    if rng.random() < 0.2:
        points = np.round(points)
    radius = rng.uniform(0.3, 1.6) if rng.random() < 0.85 else np.inf
    if per_cluster_radii and rng.random() < 0.25:
        radius = rng.choice([0.6, 0.9, 1.3], size=k)
    pairs = [tuple(rng.choice(n, 2, replace=False).tolist()) for _ in range(4)]
    cannot, must = [], []
    if links:
        cannot = pairs[: rng.integers(3)] if rng.random() < 0.4 else []
        must = pairs[2 : 2 + rng.integers(3)] if rng.random() < 0.3 else []
    return Instance(points, k, radius, cannot_link=cannot, must_link=must)


#: The keys of a result's JSON object, as the command line prints it.
RESULT_KEYS = {
    "status", "objective", "lower_bound", "gap", "n_clusters", "radius", "max_radius", "labels",
    "method", "solver", "seconds", "certificate", "steps",
}  # fmt: skip
