"""Must-linked points as one weighted point, for models that treat points alike within a group.

A group g of points that always share a cluster, of total weight w_g, enters a relaxation once: with
D_gh the sum of w_i w_j d_ij over i in g, j in h, the matrix of a partition's clusters, constant on
g x h, has the objective 1/2 sum_gh D_gh Z_gh. A group goes by the number of its first point;
without must-links, groups are the points themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from pyomo.core.expr.numeric_expr import LinearExpression, MonomialTermExpression
from scipy.sparse import csr_array

from radcluster.conic.schur import SchurBlockData
from radcluster.graph.conflicts import AdmissiblePairs, conflict_matrix, must_link_groups
from radcluster.problem.instance import Instance


@dataclass(frozen=True)
class Groups:
    """The groups of an instance.

    Attributes
    ----------
    names : list of G ints
        First point of each group.
    group_of : int array (N,)
    weights : float array (G,)
        Total weight of each group: the number of its points when all weights are 1.
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
        """Names of the groups that may go to cluster k."""
        return [self.names[g] for g in np.flatnonzero(self.allowed[:, k])]

    @cached_property
    def position(self) -> dict[int, int]:
        """Position of each name."""
        return {name: g for g, name in enumerate(self.names)}

    @cached_property
    def weight(self) -> dict[int, float]:
        """Weight of the points that each name stands for: their number without weights."""
        return dict(zip(self.names, self.weights.tolist(), strict=True))

    def positions(self, names: list[int]) -> list[int]:
        """Positions of several names."""
        return [self.position[name] for name in names]

    def row_terms(self, block: SchurBlockData) -> dict[int, list]:
        """For each row of a block's X, the terms of its sum over points."""
        weight = self.weight
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
        # As one sum of terms: adding up Pyomo's products takes twice as long.
        terms = [(number, x) for x, number in self.half_inner_terms(block) if number]
        return LinearExpression(list(map(MonomialTermExpression, terms)))


def merge(instance: Instance, labelling: AdmissiblePairs | None = None) -> Groups:
    """Groups, their weights, distances, admissible clusters and conflicts."""
    labelling = labelling or AdmissiblePairs.full(instance)
    groups = must_link_groups(instance)
    n, d = instance.n_points, instance.sq_distances
    names = np.unique(groups, return_index=True)[1]
    member = csr_array((np.ones(n), (groups, np.arange(n))))
    weighted = csr_array((instance.weights, (groups, np.arange(n))))
    widest = np.zeros((len(names), len(names)))
    np.maximum.at(widest, (groups[:, None], groups[None, :]), d)
    by_radius = {
        radius: _between(member, conflict_matrix(instance, k))
        for k, radius in enumerate(instance.radii.tolist())
    }
    conflicts = [by_radius[radius] for radius in instance.radii.tolist()]
    too_wide = np.array([apart.diagonal() for apart in conflicts]).T
    return Groups(
        names=names.tolist(),
        group_of=groups,
        weights=np.bincount(groups, instance.weights),
        scatter=weighted @ (weighted @ d).T,
        widest=widest,
        allowed=((member @ ~labelling.allowed) == 0) & ~too_wide,
        conflicts=conflicts,
    )


def _between(member, conflicts) -> np.ndarray:
    """Whether some point of g conflicts with some point of h."""
    return (member @ (member @ conflicts.astype(float)).T) > 0
