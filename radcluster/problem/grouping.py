"""What the heuristic works on: groups of points that stay together, and who may join whom.

Must-links make groups. Where many points lie within reach of each other, so that their lists of
neighbours would not fit in memory, *micro-aggregation* makes more: the points of a small grid
cell form one group, and two groups are compatible when the farthest corners of their bounding
boxes are within 2r. That is on the safe side, so every partition of the groups is one of the
points. Groups can be refined where clusters meet, once there are clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from radcluster.clock import Clock
from radcluster.problem.cells import cell_labels
from radcluster.problem.grid import grid_neighbours
from radcluster.problem.instance import Instance, diameter_limit
from radcluster.problem.neighbours import Neighbours, TooManyPairs, find_neighbours

#: Entries in the lists of neighbours: more than this are avoided by micro-aggregation.
MOST_ENTRIES = 40_000_000
#: Sides of the cells of micro-aggregation as parts of the radius, the finest first.
SIDES = (1 / 32, 1 / 24, 1 / 16, 1 / 12, 1 / 8, 1 / 6, 1 / 4, 1 / 2)


@dataclass(frozen=True)
class Grouping:
    """Groups of points, their masses, means, and lists of compatible groups.

    ``labels[i]`` is the group of point i. ``exact`` says whether two groups are compatible
    whenever all their points are; else some compatible pairs may be missing.
    """

    n_clusters: int
    labels: np.ndarray
    mass: np.ndarray
    centers: np.ndarray
    lists: Neighbours
    exact: bool = True

    @property
    def n_groups(self) -> int:
        return len(self.mass)

    @property
    def start(self) -> np.ndarray:
        return self.lists.start

    @property
    def neighbours(self) -> np.ndarray:
        return self.lists.index

    @property
    def has_conflicts(self) -> bool:
        return not self.lists.complete

    def compatible_with(self, group: int) -> np.ndarray:
        return self.lists.of(group)

    def cost(self, groups) -> float:
        """Cost of one cluster beyond the constants inside its groups."""
        mass, x = self.mass[groups], self.centers[groups]
        x = x - mass @ x / mass.sum()
        return float(mass @ np.square(x).sum(axis=1))


def grouped(instance: Instance, clock: Clock) -> Grouping | None:
    """Groups of an instance with points and one radius; None when the links contradict.

    Raises ``TimeoutError`` when the clock runs out, and
    :class:`radcluster.problem.neighbours.TooManyPairs` when no grouping has lists that fit.
    """
    linked = must_link_labels(instance)
    try:
        lists = find_neighbours(instance, clock=clock, max_entries=MOST_ENTRIES)
    except TooManyPairs:
        if instance.points.shape[1] > 3:
            raise
        return micro_aggregated(instance, linked, clock)
    if linked.max() + 1 < instance.n_points:
        lists = merged_lists(lists, linked)
        if lists is None:
            return None
    return _with_geometry(instance, linked, lists, exact=True)


def must_link_labels(instance: Instance) -> np.ndarray:
    """The must-link group of each point, numbered by their first points."""
    n = instance.n_points
    i, j = instance.must_link.T
    if not len(i):
        return np.arange(n)
    _, component = connected_components(coo_array((np.ones(len(i)), (i, j)), shape=(n, n)))
    return _by_first(component)


def _by_first(component: np.ndarray) -> np.ndarray:
    _, first, inverse = np.unique(component, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def merged_lists(lists: Neighbours, labels: np.ndarray) -> Neighbours | None:
    """Lists of groups compatible in all their pairs; None when a group is not in itself."""
    count = np.bincount(labels)
    n = len(labels)
    merge = csr_array((np.ones(n, np.int32), (labels, np.arange(n))))
    pairs = (merge @ lists.matrix().astype(np.int32) @ merge.T).tocoo()
    a, b = pairs.coords
    inside = np.bincount(a[a == b], pairs.data[a == b], minlength=len(count))
    if np.any(inside != count * (count - 1)):
        return None
    keep = (pairs.data == count[a] * count[b]) & (a != b)
    matrix = csr_array((np.ones(keep.sum(), np.int8), (a[keep], b[keep])), shape=pairs.shape)
    matrix.sort_indices()
    return Neighbours(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32))


def micro_aggregated(instance: Instance, linked: np.ndarray, clock: Clock) -> Grouping | None:
    """The finest grouping by cells whose lists fit; links keep their points out of the cells."""
    limit = float(diameter_limit(instance.radii.max()))
    own = np.unique(np.r_[instance.cannot_link.ravel(), instance.must_link.ravel()])
    for part in SIDES:
        if clock.expired:
            raise TimeoutError("the time limit passed while points were grouped")
        labels = cell_labels(instance.points, part * np.sqrt(limit) / 2)
        if len(own):
            labels[own] = labels.max() + 1 + linked[own]
            labels = np.unique(labels, return_inverse=True)[1]
        if (labels.max() + 1) ** 2 > 100 * instance.n_points * MOST_ENTRIES:
            continue
        lists = box_lists(instance, labels, clock)
        if lists is not None:
            return _with_geometry(instance, labels, lists, exact=False)
    raise TooManyPairs("the points lie too densely for their radius to be grouped")


def box_lists(instance: Instance, labels: np.ndarray, clock: Clock) -> Neighbours | None:
    """Lists of groups whose bounding boxes are compatible; None when they are too long."""
    order = np.argsort(labels, kind="stable")
    first = np.searchsorted(labels[order], np.arange(labels.max() + 1))
    points = instance.points[order]
    low = np.minimum.reduceat(points, first, axis=0)
    high = np.maximum.reduceat(points, first, axis=0)
    limit = float(diameter_limit(instance.radii.max()))
    found = grid_neighbours(low, limit, clock, MOST_ENTRIES, high)
    if found is None:
        return None
    lists = Neighbours(*found)
    return lists.without(labels[instance.cannot_link])


def _with_geometry(instance, labels, lists, exact) -> Grouping:
    weights = instance.weights
    n = int(labels.max()) + 1
    mass = np.bincount(labels, weights, minlength=n)
    centers = np.column_stack(
        [np.bincount(labels, weights * x, minlength=n) / mass for x in instance.points.T]
    )
    return Grouping(instance.n_clusters, labels, mass, np.ascontiguousarray(centers), lists, exact)
