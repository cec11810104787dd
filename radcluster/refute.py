"""A cheap attempt to prove a solver wrong: is there a better partition one move away?

A solver that calls a partition optimal also claims that moving a single point does not pay. Moving
a point at squared distance a from the centroid of its cluster of n points to a cluster of m points,
at squared distance b from that one's centroid, changes the objective by

    m / (m + 1) b  -  n / (n - 1) a.
"""

from __future__ import annotations

import numpy as np

from radcluster.conflicts import conflict_matrix
from radcluster.instance import Instance
from radcluster.verify import objective_of, sq_center_distances


def improved(instance: Instance, labels: np.ndarray) -> np.ndarray:
    """Labels after the best moves of single points that carry no must-link, until none pays.

    >>> line = Instance([[0.0], [1.0], [5.0], [6.0]], n_clusters=2)
    >>> improved(line, np.array([0, 1, 1, 1])).tolist()
    [0, 0, 1, 1]
    """
    n, k = instance.n_points, instance.n_clusters
    labels = np.array(labels)
    apart = [conflict_matrix(instance, c) for c in range(k)]
    rows = np.arange(n)
    linked = np.isin(rows, instance.must_link)
    cost = objective_of(instance, labels)
    while True:
        distance = sq_center_distances(instance, labels)
        size = np.bincount(labels, minlength=k)
        own = size[labels]
        leave = own / np.maximum(own - 1, 1) * distance[rows, labels]
        change = size / (size + 1) * distance - leave[:, None]
        change[linked | (own == 1)] = np.inf
        for c in range(k):
            change[apart[c][:, labels == c].any(axis=1) | (labels == c), c] = np.inf
        point, cluster = np.unravel_index(change.argmin(), change.shape)
        moved = np.where(rows == point, cluster, labels)
        # Recomputed, because the change of a small cluster drowns in the rounding of a large one.
        if change[point, cluster] >= 0 or objective_of(instance, moved) >= cost:
            return labels
        labels, cost = moved, objective_of(instance, moved)
