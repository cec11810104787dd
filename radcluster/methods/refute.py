"""A cheap attempt to prove a solver wrong: is there a better partition one move away?

A solver that calls a partition optimal also claims that moving a single point does not pay. Moving
a point of weight w at squared distance a from the centroid of its cluster of weight n to a cluster
of weight m, at squared distance b from that one's centroid, changes the objective by

    w m / (m + w) b  -  w n / (n - w) a.
"""

from __future__ import annotations

import numpy as np

from radcluster.problem.instance import Instance, diameter_limit
from radcluster.problem.partition import objective_of, sq_center_distances


def improved(instance: Instance, labels: np.ndarray) -> np.ndarray:
    """Labels after the best moves of single points that carry no must-link, until none pays.

    >>> line = Instance([[0.0], [1.0], [5.0], [6.0]], n_clusters=2)
    >>> improved(line, np.array([0, 1, 1, 1])).tolist()
    [0, 0, 1, 1]
    """
    n, k, weights = instance.n_points, instance.n_clusters, instance.weights
    labels = np.array(labels)
    blocked = np.column_stack([_blocked(instance, labels == c, c) for c in range(k)])
    rows = np.arange(n)
    linked = np.isin(rows, instance.must_link)
    cost = objective_of(instance, labels)
    while True:
        distance = sq_center_distances(instance, labels)
        mass = np.bincount(labels, weights, minlength=k)
        alone = np.bincount(labels, minlength=k)[labels] == 1
        rest = np.where(alone, 1.0, mass[labels] - weights)
        leave = weights * mass[labels] / rest * distance[rows, labels]
        join = weights[:, None] * mass / (mass + weights[:, None])
        change = join * distance - leave[:, None]
        change[linked | alone] = np.inf
        change[blocked] = np.inf
        change[rows, labels] = np.inf
        point, cluster = np.unravel_index(change.argmin(), change.shape)
        moved = np.where(rows == point, cluster, labels)
        # Recomputed, because the change of a small cluster drowns in the rounding of a large one.
        if change[point, cluster] >= 0 or objective_of(instance, moved) >= cost:
            return labels
        for c in (labels[point], cluster):
            blocked[:, c] = _blocked(instance, moved == c, c)
        labels, cost = moved, objective_of(instance, moved)


def _blocked(instance: Instance, inside: np.ndarray, cluster: int) -> np.ndarray:
    """Points that conflict with a member of the cluster; ``inside`` says who its members are."""
    limit = diameter_limit(instance.radii[cluster])
    blocked = (instance.sq_distances[:, inside] > limit).any(axis=1)
    i, j = instance.cannot_link.T
    blocked[i[inside[j]]] = blocked[j[inside[i]]] = True
    return blocked
