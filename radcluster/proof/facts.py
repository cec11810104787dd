"""Distances, links and groups of an instance, by definition.

Certificates are checked against these, and by none of the code that makes certificates.
"""

from __future__ import annotations

import networkx as nx
from scipy.spatial.distance import cdist

from radcluster.problem.instance import Instance, diameter_limit


class Facts:
    """What a certificate may appeal to."""

    def __init__(self, instance: Instance):
        self.instance = instance
        self.n_clusters = instance.n_clusters
        self.apart = {tuple(pair) for pair in instance.cannot_link.tolist()}
        self.together = {tuple(pair) for pair in instance.must_link.tolist()}
        links = nx.Graph()
        links.add_nodes_from(range(instance.n_points))
        links.add_edges_from(self.together)
        self.groups = [frozenset(group) for group in nx.connected_components(links)]
        self.group_of = {i: group for group in self.groups for i in group}

    def points(self, indices) -> list[int]:
        """These indices, once they are known to be different points."""
        if len(set(indices)) < len(indices) or not all(i in self.group_of for i in indices):
            raise ValueError("not a list of different points")
        return list(indices)

    def clusters(self) -> range:
        return range(self.n_clusters)

    def sq_distance(self, i: int, j: int) -> float:
        """d_ij, without the matrix of all of them."""
        points = self.instance.points
        if points is None:
            return float(self.instance.sq_distances[i, j])
        return float(cdist(points[[i]], points[[j]], "sqeuclidean")[0, 0])

    def too_far(self, i: int, j: int, cluster: int | None = None) -> bool:
        """Whether i and j are more than 2r apart (cluster None: at the largest radius)."""
        radii = self.instance.radii
        radius = radii.max() if cluster is None else radii[cluster]
        return bool(self.sq_distance(i, j) > diameter_limit(radius))

    def conflict(self, i: int, j: int, cluster: int | None = None) -> bool:
        """Whether i and j may not share this cluster (None: any cluster)."""
        return tuple(sorted((i, j))) in self.apart or self.too_far(i, j, cluster)

    def groups_conflict(self, one, other, cluster: int | None = None) -> bool:
        return any(self.conflict(i, j, cluster) for i in one for j in other)

    def admissible(self, group, cluster: int, placed: dict) -> bool:
        """Whether a group fits a cluster, alone and with the groups placed there."""
        mates = [group, *(other for other, k in placed.items() if k == cluster)]
        return not any(self.groups_conflict(group, mate, cluster) for mate in mates)

    def options(self, placed: dict) -> dict:
        """For each group that is not placed, the clusters that can take it."""
        return {
            group: [k for k in self.clusters() if self.admissible(group, k, placed)]
            for group in self.groups
            if group not in placed
        }
