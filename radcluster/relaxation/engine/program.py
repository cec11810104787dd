"""The Peng-Wei relaxation of an instance, in the scale in which the engine works.

Must-linked points are one group g of weight w_g. With s = sqrt(w), u = s / |s|, and D_gh the sum
of w_i w_j d_ij over the points i of g and j of h, a partition into K clusters of total weights W_k
is the matrix Y_gh = s_g s_h / W_k for g, h in cluster k and 0 elsewhere. It satisfies

    Y u = u,   tr Y = K,   0 <= Y <= I,   Y_gh >= 0,   Y_gh = 0 on conflicts,   Y_gg >= w_g / m_g

where m_g is the largest weight that a cluster with g can have, and it costs <C, Y> with
C_gh = D_gh / (2 s_g s_h). Nothing here needs points: any symmetric matrix of distances will do,
Euclidean or not. The engine divides C by a power of two, which is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from radcluster.graph.conflicts import conflict_matrix, must_link_groups
from radcluster.problem.instance import Instance

_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Program:
    """The relaxation of an instance whose points form n groups.

    Attributes
    ----------
    n_clusters : int
    group_of : int array (N,)
        Group of each point.
    weights : float array (n,)
    half : float array (n, n)
        D_gh / 2, not scaled: the cost of a partition is sum_k sum_{g, h in k} half_gh / W_k.
    conflicts : bool array (n, n)
        Pairs of groups that may not share a cluster, without the diagonal.
    error : float
        No entry of ``half`` is wrong by more than this part of it.
    euclidean : bool
        Whether the distances are those of points.
    """

    n_clusters: int
    group_of: np.ndarray
    weights: np.ndarray
    half: np.ndarray
    conflicts: np.ndarray
    error: float
    euclidean: bool = True

    @property
    def n_groups(self) -> int:
        return len(self.weights)

    @cached_property
    def roots(self) -> np.ndarray:
        """s, the square roots of the weights."""
        return np.sqrt(self.weights)

    @cached_property
    def unit(self) -> np.ndarray:
        """u = s / |s|."""
        return self.roots / np.linalg.norm(self.roots)

    @cached_property
    def scale(self) -> float:
        """The power of two by which C is divided."""
        cost = np.where(self.conflicts, 0.0, self.half / np.outer(self.roots, self.roots))
        largest = float(cost.max())
        return 2.0 ** np.ceil(np.log2(largest)) if largest > 0.0 else 1.0

    @cached_property
    def cost(self) -> np.ndarray:
        """C divided by ``scale``; on conflicts, where it plays no role, at most 1."""
        cost = self.half / np.outer(self.roots, self.roots) / self.scale
        return np.minimum(cost, 1.0)

    @cached_property
    def heaviest(self) -> np.ndarray:
        """m_gh: no cluster that holds g and h has a larger total weight.

        It has no more than the groups compatible with both, and leaves a group to each of the
        other K - 1 clusters.
        """
        fits = (~self.conflicts).astype(float)
        common = (fits * self.weights) @ fits.T
        most = self.weights.sum() - np.sort(self.weights)[: self.n_clusters - 1].sum()
        pair = self.weights[:, None] + self.weights
        return np.minimum(np.maximum(common * (1 + 4 * self.n_groups * _EPS), pair), most)

    @cached_property
    def floor(self) -> np.ndarray:
        """Lower bounds w_g / m_g of the diagonal of Y."""
        return self.weights / np.diag(self.heaviest) * (1 - 8 * _EPS)

    def cost_of(self, clusters: np.ndarray) -> float:
        """Cost of a partition, given the cluster of each group."""
        onehot = csr_array(
            (np.ones(self.n_groups), (clusters, np.arange(self.n_groups))),
            shape=(int(clusters.max()) + 1, self.n_groups),
        )
        inside = ((onehot @ self.half) * onehot.toarray()).sum(axis=1)
        return float((inside / (onehot @ self.weights)).sum())

    def with_conflicts(self, pairs: np.ndarray) -> Program:
        """The program with more pairs (m, 2) of groups in conflict."""
        conflicts = self.conflicts.copy()
        conflicts[pairs[:, 0], pairs[:, 1]] = conflicts[pairs[:, 1], pairs[:, 0]] = True
        return self.with_mask(conflicts)

    def with_mask(self, conflicts: np.ndarray) -> Program:
        """The program with these conflicts in place of its own."""
        return replace(self, conflicts=conflicts)

    def merged(self, group_of: np.ndarray) -> Program | None:
        """The program whose group ``group_of[g]`` holds the present group g.

        None when groups in conflict would be merged.
        """
        n = int(group_of.max()) + 1
        member = csr_array((np.ones(self.n_groups), (group_of, np.arange(self.n_groups))))
        conflicts = (member @ (member @ self.conflicts.astype(float)).T) > 0
        if conflicts.diagonal().any() or n < self.n_clusters:
            return None
        return replace(
            self,
            group_of=group_of[self.group_of],
            weights=member @ self.weights,
            half=member @ (member @ self.half).T,
            conflicts=conflicts,
            error=self.error + 2 * self.n_groups * _EPS,
        )


def build_program(instance: Instance) -> Program | None:
    """The relaxation of an instance; None when its must-links contradict its conflicts.

    With several radii the largest one decides who may share a cluster, which is a relaxation.
    """
    n = instance.n_points
    # A copy that can be written to: kernels would be compiled twice for the two kinds.
    weights = np.array(instance.weights)
    dim = 1 if instance.points is None else instance.points.shape[1]
    single = Program(
        n_clusters=instance.n_clusters,
        group_of=np.arange(n),
        weights=weights,
        half=0.5 * np.outer(weights, weights) * instance.sq_distances,
        conflicts=conflict_matrix(instance),
        error=(dim + 8) * _EPS,
        euclidean=instance.points is not None,
    )
    groups = must_link_groups(instance)
    return single if groups.max() + 1 == n else single.merged(groups)
