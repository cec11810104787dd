"""The clustering problem as column generation sees it: weighted points and who may join whom.

Must-links, given or made by branching, merge points into *groups*: group a is a point x_a, the
weighted mean of its members, of mass m_a, their total weight. A compatible set S of groups costs

    cost(S) = min_c sum_{a in S} m_a |x_a - c|^2

beyond the sums of squares inside its groups, which every partition pays (``offset``).

An instance known by its distances alone is embedded. A matrix that is not Euclidean becomes so
when h/2 (1/w_i + 1/w_j) is added to all d_ij, i != j (h when all weights are 1), for h large
enough. That adds to a cluster of n points and weight W

    1/(2W) sum_{i != j} w_i w_j h/2 (1/w_i + 1/w_j) = h/(2W) sum_i sum_{j != i} w_j = h (n - 1) / 2,

and h (N - K) / 2 to *every* partition into K clusters. So the answer is the same, and ``offset``
takes the difference.

Compatible pairs are kept as neighbour lists, found by a k-d tree, so that many points with a
small radius never need an N x N matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from radcluster.errors import InputError
from radcluster.problem.instance import Instance, diameter_limit
from radcluster.problem.partition import cluster_centers

#: Above this many compatible pairs the neighbour lists no longer fit comfortably in memory.
MAX_PAIRS = 100_000_000


@dataclass(frozen=True)
class Problem:
    """Groups of points, their compatible pairs, and the number of clusters.

    Attributes
    ----------
    labels : int array (N,)
        The group of each point.
    mass : float array (n,)
    centers : float array (n, dim)
        Mean of each group.
    offset : float
        Added to the cost of the clusters gives the cost of the partition.
    start, neighbours : int arrays
        Groups compatible with a are ``neighbours[start[a]:start[a + 1]]``, increasing, without a.
    reach : float
        No member of a cluster lies further than this from the cluster's centre.
    """

    n_clusters: int
    labels: np.ndarray
    mass: np.ndarray
    centers: np.ndarray
    offset: float
    start: np.ndarray
    neighbours: np.ndarray
    reach: float

    @property
    def n_groups(self) -> int:
        return len(self.mass)

    @cached_property
    def members(self) -> list[np.ndarray]:
        """Points of each group."""
        order = np.argsort(self.labels, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.labels))[:-1])

    @cached_property
    def has_conflicts(self) -> bool:
        return len(self.neighbours) < self.n_groups * (self.n_groups - 1)

    def compatible_with(self, group: int) -> np.ndarray:
        return self.neighbours[self.start[group] : self.start[group + 1]]

    def cost(self, groups) -> float:
        """Cost of one cluster beyond the constants inside its groups."""
        mass, x = self.mass[groups], self.centers[groups]
        x = x - mass @ x / mass.sum()
        return float(mass @ np.square(x).sum(axis=1))

    def expand(self, clusters) -> np.ndarray:
        """Labels of the points, given each cluster's groups; clusters may overlap.

        A group in several clusters stays in the first of them.
        """
        by_group = np.full(self.n_groups, -1)
        for k, groups in enumerate(clusters):
            groups = np.asarray(groups)
            by_group[groups[by_group[groups] < 0]] = k
        return by_group[self.labels]


def compatible_pairs(instance: Instance) -> np.ndarray:
    """Pairs i < j of points that may share a cluster, shape (m, 2)."""
    limit = float(diameter_limit(instance.radii.max()))
    n = instance.n_points
    if instance.points is None or not np.isfinite(limit):
        if n * (n - 1) // 2 > MAX_PAIRS:
            raise InputError(f"column generation on {n} points needs a finite radius")
        pairs = np.column_stack(np.triu_indices(n, 1))
        if np.isfinite(limit):
            pairs = pairs[instance.sq_distances[pairs[:, 0], pairs[:, 1]] <= limit]
    else:
        # The tree decides a little generously, the exact comparison settles it.
        tree = cKDTree(instance.points)
        radius = np.sqrt(limit) * (1 + 1e-9)
        if (tree.count_neighbors(tree, radius) - n) // 2 > MAX_PAIRS:
            raise InputError(
                "the radius is so large that the compatible pairs do not fit in memory"
            )
        pairs = tree.query_pairs(radius, output_type="ndarray")
        difference = instance.points[pairs[:, 0]] - instance.points[pairs[:, 1]]
        pairs = pairs[np.square(difference).sum(axis=1) <= limit]
    if len(instance.cannot_link):
        forbidden = instance.cannot_link @ [n, 1]
        pairs = pairs[~np.isin(np.sort(pairs, axis=1) @ [n, 1], forbidden)]
    return pairs


def principal_axes(points: np.ndarray) -> np.ndarray:
    """The points turned so that their variance falls from axis to axis; distances stay."""
    centred = points - points.mean(axis=0)
    return centred @ np.linalg.svd(centred, full_matrices=False)[2].T


def euclidean(sq_distances, weights) -> tuple[np.ndarray, float, float, float]:
    """Points with these squared distances plus h/2 (1/w_i + 1/w_j): points, h, errors.

    Returns the points, h, the largest squared distance added, and the largest error of a distance.
    """
    n = len(sq_distances)
    share, root = weights / weights.sum(), np.sqrt(weights)
    centred = sq_distances - share @ sq_distances
    centred = -0.5 * (centred - (centred @ share)[:, None])
    centred = root[:, None] * centred * root
    # The vector of the weights' roots lies in the kernel, beside others when the distances are
    # nearly those of a plane. The largest eigenvalue is made its own, and left out.
    kernel = np.outer(np.sqrt(share), np.sqrt(share))
    apart = 2.0 * np.linalg.norm(centred) or 1.0
    values, vectors = np.linalg.eigh((centred + centred.T) / 2 + apart * kernel)
    values, vectors = values[:-1], vectors[:, :-1]
    # Adding 2 shift to h adds shift to all that are left.
    shift = max(0.0, -values.min(initial=0.0))
    lifted = np.maximum(values + shift, 0.0)
    keep = lifted > lifted.max(initial=0.0) * 1e-13
    # The largest eigenvalues first: principal axes.
    points = (vectors[:, keep] * np.sqrt(lifted[keep]))[:, ::-1] / root[:, None]
    if not keep.any():
        points = np.zeros((n, 1))
    added = shift * (1 / weights[:, None] + 1 / weights) * (1 - np.eye(n))
    # By products of matrices: n^3 steps one by one would take minutes at some thousand points.
    gram = points @ points.T
    square = np.diag(gram)
    error = np.abs(square[:, None] + square - 2 * gram - sq_distances - added).max()
    error += 8 * n * np.finfo(float).eps * square.max()
    return points, 2 * shift, float(added.max()), float(error)


class ProblemFactory:
    """Builds the problem of an instance, and those that branching derives from it."""

    def __init__(self, instance: Instance):
        if not instance.uniform_radius:
            raise InputError(
                "column generation needs one radius for all clusters; "
                "for one radius per cluster use method='milp'"
            )
        self.instance = instance
        n = instance.n_points
        limit = float(diameter_limit(instance.radii[0]))
        self.points, self.offset = instance.points, 0.0
        if self.points is None:
            w = instance.weights
            self.points, h, added, error = euclidean(instance.sq_distances, w)
            # An error in each d_ij costs a cluster of weight W at most (W - min w) / 2 times it.
            loose = w.sum() - instance.n_clusters * w.min()
            self.offset = -(h * (n - instance.n_clusters) + error * loose) / 2
            limit += added + error
        elif self.points.shape[1] > 3:
            self.points = principal_axes(self.points)
        self.reach = np.sqrt(limit) * (1 + 1e-9)
        i, j = compatible_pairs(instance).T
        ones = np.ones(2 * len(i), dtype=np.int32)
        self.compatible = csr_array((ones, (np.r_[i, j], np.r_[j, i])), shape=(n, n))

    def build(self, together=(), apart=()) -> Problem | None:
        """The problem with more pairs of points joined or separated; None if they contradict."""
        labels = self._merge(together)
        n = labels.max() + 1
        count = np.bincount(labels)
        start, neighbours = self._group_neighbours(labels, count, apart)
        if start is None:
            return None
        return Problem(
            n_clusters=self.instance.n_clusters,
            labels=labels,
            mass=np.bincount(labels, self.instance.weights),
            start=start,
            neighbours=neighbours,
            reach=self.reach,
            **self._geometry(labels, n),
        )

    def _merge(self, together) -> np.ndarray:
        n = self.instance.n_points
        pairs = np.array([*self.instance.must_link.tolist(), *together], dtype=int).reshape(-1, 2)
        i, j = pairs.T
        _, component = connected_components(coo_array((np.ones(len(i)), (i, j)), shape=(n, n)))
        # Number the groups by their first point.
        _, first, inverse = np.unique(component, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=int)
        rank[np.argsort(first)] = np.arange(len(first))
        return rank[inverse]

    def _group_neighbours(self, labels, count, apart):
        n = len(count)
        compatible = self.compatible
        if n < len(labels):
            points = np.arange(len(labels))
            merge = csr_array((np.ones(len(labels), dtype=np.int32), (labels, points)))
            compatible = (merge @ compatible @ merge.T).tocoo()
            a, b = compatible.coords
            # Every point of one group must be compatible with every point of the other.
            full = compatible.data == count[a] * count[b]
            inside = np.bincount(a[a == b], compatible.data[a == b], minlength=n)
            if np.any(inside != count * (count - 1)):
                return None, None
            keep = full & (a != b)
            a, b = a[keep], b[keep]
        else:
            a, b = compatible.tocoo().coords
        if len(apart):
            pairs = labels[np.asarray(apart)]
            if np.any(pairs[:, 0] == pairs[:, 1]):
                return None, None
            forbidden = np.r_[pairs @ [n, 1], pairs @ [1, n]]
            keep = ~np.isin(a.astype(np.int64) * n + b, forbidden)
            a, b = a[keep], b[keep]
        order = np.lexsort((b, a))
        start = np.concatenate([[0], np.cumsum(np.bincount(a, minlength=n))]).astype(np.int64)
        return start, b[order].astype(np.int32)

    def _geometry(self, labels, n) -> dict:
        if n == len(labels):
            # A copy, because the instance's own array is read-only: the kernels would have to be
            # compiled once more for that.
            return {"centers": np.array(self.points, order="C"), "offset": self.offset}
        weights = self.instance.weights
        centers = cluster_centers(self.points, labels, n, weights)
        within = float(weights @ np.square(self.points - centers[labels]).sum(axis=1))
        return {"centers": centers, "offset": self.offset + within}
