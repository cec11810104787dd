"""A partition without compiled kernels, for a time limit that passed while they were compiled."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from radcluster.graph.conflicts import ConflictGraph
from radcluster.problem.instance import Instance
from radcluster.proof.verify import violations

#: Complete linkage and a colouring need all distances at once.
DENSE_POINTS = 1000


def uncompiled_partition(instance: Instance, seed: int = 0) -> np.ndarray | None:
    """Complete linkage, a colouring or k-means, the first that keeps the radius and the links.

    >>> uncompiled_partition(Instance([[0.0], [1.0], [5.0], [6.0]], 2, 0.5)).tolist()
    [0, 0, 1, 1]
    """
    valid = (labels for labels in _candidates(instance, seed) if not violations(instance, labels))
    return next(valid, None)


def _candidates(instance: Instance, seed: int) -> Iterator[np.ndarray]:
    if instance.n_points <= DENSE_POINTS:
        yield from _from_distances(instance)
    if instance.points is not None:
        # Importing it takes longer than the others need.
        from sklearn.cluster import KMeans

        means = KMeans(instance.n_clusters, n_init=1, random_state=seed)
        yield means.fit(instance.points, sample_weight=instance.weights).labels_.astype(int)


def _from_distances(instance: Instance) -> Iterator[np.ndarray]:
    k = instance.n_clusters
    if instance.n_points > 1:
        tree = linkage(squareform(np.sqrt(instance.sq_distances), checks=False), "complete")
        yield fcluster(tree, k, "maxclust") - 1
    graph = ConflictGraph(instance.replace(radius=instance.radii.min()))
    if graph.broken_must_link() is None:
        yield _exactly(k, graph.colouring(), graph.groups)


def _exactly(k: int, labels: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The partition with single groups split off until it has k clusters."""
    labels = labels.copy()
    for new in range(labels.max() + 1, k):
        for group in range(groups.max() + 1):
            members = groups == group
            own = labels[np.argmax(members)]
            if (labels == own).sum() > members.sum():
                labels[members] = new
                break
    return labels
