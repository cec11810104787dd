"""Must-linked points as one weighted point, for models that treat points alike within a group.

A group g of w_g points that always share a cluster enters a relaxation once: with D_gh the sum of
d_ij over i in g, j in h, the matrix of a partition's clusters, constant on g x h, has the objective
1/2 sum_gh D_gh Z_gh. A group goes by the number of its first point; without must-links, groups are
the points themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from pyomo.environ import quicksum
from scipy.sparse import csr_array

from radcluster.conflicts import Labelling, conflict_matrix, must_link_groups
from radcluster.instance import Instance
from radcluster.schur import SchurBlockData


@dataclass(frozen=True)
class Merged:
    """The groups of an instance.

    Attributes
    ----------
    names : list of G ints
        First point of each group.
    group_of : int array (N,)
    weights : int array (G,)
    scatter : array (G, G)
        D_gh.
    widest : array (G, G)
        Largest d_ij over i in g, j in h.
    allowed : bool array (G, K)
        Clusters that every point of the group may join, and whose radius admits the group.
    conflicts : list of K bool arrays (G, G)
        Pairs of groups that may not share the cluster.
    """

    names: list[int]
    group_of: np.ndarray
    weights: np.ndarray
    scatter: np.ndarray
    widest: np.ndarray
    allowed: np.ndarray
    conflicts: list[np.ndarray]

    def members(self, k: int) -> list[int]:
        """Positions of the groups that may go to cluster k."""
        return np.flatnonzero(self.allowed[:, k]).tolist()

    @cached_property
    def position(self) -> dict[int, int]:
        """Position of each name."""
        return {name: g for g, name in enumerate(self.names)}

    def row_terms(self, block: SchurBlockData) -> dict[int, list]:
        """For each row of a block's X, the terms of its sum over points."""
        weight = dict(zip(self.names, self.weights.tolist(), strict=True))
        terms: dict[int, list] = {i: [] for i in block.labels}
        for (i, j), x in block.X.items():
            terms[i].append(weight[j] * x)
            if i != j:
                terms[j].append(weight[i] * x)
        return terms

    def half_inner_terms(self, block: SchurBlockData) -> Iterator[tuple]:
        """The variables of a block's X, each with its coefficient in 1/2 <D, X>."""
        position, scatter = self.position, self.scatter.tolist()
        for (i, j), x in block.X.items():
            yield x, (0.5 if i == j else 1.0) * scatter[position[i]][position[j]]

    def half_inner(self, block: SchurBlockData):
        """1/2 <D, X> over the variables of a block."""
        return quicksum(coefficient * x for x, coefficient in self.half_inner_terms(block))


def merge(instance: Instance, labelling: Labelling | None = None) -> Merged:
    """Groups, their weights, distances, admissible clusters and conflicts."""
    labelling = labelling or Labelling.full(instance)
    groups = must_link_groups(instance)
    n, d = instance.n_points, instance.sq_distances
    names = np.unique(groups, return_index=True)[1]
    member = csr_array((np.ones(n), (groups, np.arange(n))))
    widest = np.zeros((len(names), len(names)))
    np.maximum.at(widest, (groups[:, None], groups[None, :]), d)
    by_radius = {
        radius: _between(member, conflict_matrix(instance, k))
        for k, radius in enumerate(instance.radii.tolist())
    }
    conflicts = [by_radius[radius] for radius in instance.radii.tolist()]
    too_wide = np.array([apart.diagonal() for apart in conflicts]).T
    return Merged(
        names=names.tolist(),
        group_of=groups,
        weights=np.bincount(groups),
        scatter=member @ (member @ d).T,
        widest=widest,
        allowed=((member @ ~labelling.allowed) == 0) & ~too_wide,
        conflicts=conflicts,
    )


def _between(member, conflicts) -> np.ndarray:
    """Whether some point of g conflicts with some point of h."""
    return (member @ (member @ conflicts.astype(float)).T) > 0
