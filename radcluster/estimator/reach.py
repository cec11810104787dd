"""Which cluster takes a new point without becoming wider than 2r.

A cluster takes x when no member lies more than 2r from x. With coordinates, any mean of its members
then lies within 2r of x too, since it is in their convex hull: a tree over such means names the few
clusters worth asking. The farthest member from x is a corner of that hull, so in low
dimension a cluster is known by its corners.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError, cKDTree
from scipy.spatial.distance import cdist

from radcluster.problem.instance import diameter_limit

#: Members of a cluster, and most axes, from which its corners are worth finding.
HULL_MEMBERS = 40
HULL_DIMENSION = 3
#: Queries looked at together.
CHUNK = 20_000


class VectorReach:
    """Clusters of points with coordinates; ``radii`` are in the coordinates' units."""

    def __init__(self, vectors, labels, centers, radii):
        self.centers, self.radii = centers, radii
        order = np.argsort(labels, kind="stable")
        order = order[np.searchsorted(labels[order], 0) :]
        cuts = np.searchsorted(labels[order], np.arange(1, len(centers)))
        self.members = [corners(vectors[part]) for part in np.split(order, cuts)]
        self.tree = cKDTree(centers)
        # Centres on a sphere are in no convex hull.
        self.inner = cKDTree(np.array([part.mean(axis=0) for part in self.members]))

    def nearest(self, queries) -> np.ndarray:
        """The nearest centre of each query."""
        return self.tree.query(queries)[1].astype(np.int64)

    def fitting_or_nearest(self, queries) -> np.ndarray:
        """The nearest cluster that takes each query, or else the nearest centre."""
        return _filled(self.fitting(queries), self, queries)

    def fitting(self, queries) -> np.ndarray:
        """The nearest cluster that takes each query; -1 where none does."""
        if np.isinf(self.radii).all():
            return self.nearest(queries)
        parts = range(0, len(queries), CHUNK)
        found = [self._fitting(queries[first : first + CHUNK]) for first in parts]
        return np.concatenate(found) if found else np.empty(0, dtype=np.int64)

    def _fitting(self, queries) -> np.ndarray:
        row, cluster = self._candidates(queries)
        found = np.full(len(queries), -1, dtype=np.int64)
        start = np.searchsorted(row, np.arange(len(queries) + 1))
        rank = np.arange(len(row)) - start[row]
        for step in range(int(rank.max(initial=-1)) + 1):
            now = np.flatnonzero((rank == step) & (found[row] < 0))
            if not len(now):
                break
            now = now[np.argsort(cluster[now], kind="stable")]
            for part in np.split(now, np.flatnonzero(np.diff(cluster[now])) + 1):
                k = int(cluster[part[0]])
                takes = self._takes(queries[row[part]], k)
                found[row[part[takes]]] = k
        return found

    def _candidates(self, queries):
        """Queries and the clusters with a mean within reach, the nearest centre first."""
        reach = np.sqrt(diameter_limit(self.radii.max())) * (1 + 1e-9)
        if np.isinf(reach):
            row, cluster = (a.ravel() for a in np.indices((len(queries), len(self.centers))))
        else:
            near = self.inner.query_ball_point(queries, reach)
            row = np.repeat(np.arange(len(queries)), [len(clusters) for clusters in near])
            cluster = np.array([k for clusters in near for k in clusters], dtype=np.int64)
        gap = np.square(queries[row] - self.centers[cluster]).sum(axis=1)
        order = np.lexsort((cluster, gap, row))
        return row[order], cluster[order]

    def _takes(self, queries, k) -> np.ndarray:
        widest = cdist(queries, self.members[k], "sqeuclidean").max(axis=1)
        return widest <= diameter_limit(self.radii[k])


def corners(points: np.ndarray) -> np.ndarray:
    """Points among which the farthest from anywhere is found."""
    if len(points) < HULL_MEMBERS or points.shape[1] > HULL_DIMENSION:
        return points
    if points.shape[1] == 1:
        return points[[points.argmin(), points.argmax()]]
    try:
        return points[ConvexHull(points).vertices]
    except QhullError:
        return points  # all on a line or a plane


class MatrixReach:
    """Clusters known by distances; queries are rows of distances to the data."""

    def __init__(self, labels, centers, radii):
        self.centers, self.radii = centers, radii
        order = np.argsort(labels, kind="stable")
        self.order = order[np.searchsorted(labels[order], 0) :]
        self.starts = np.searchsorted(labels[self.order], np.arange(len(centers)))

    def nearest(self, queries) -> np.ndarray:
        """The nearest medoid of each query."""
        return queries[:, self.centers].argmin(axis=1)

    def fitting_or_nearest(self, queries) -> np.ndarray:
        """The nearest cluster that takes each query, or else the nearest medoid."""
        return _filled(self.fitting(queries), self, queries)

    def fitting(self, queries) -> np.ndarray:
        """The nearest cluster that takes each query; -1 where none does."""
        widest = np.maximum.reduceat(queries[:, self.order], self.starts, axis=1)
        takes = np.square(widest) <= diameter_limit(self.radii)
        gap = np.where(takes, queries[:, self.centers], np.inf)
        return np.where(takes.any(axis=1), gap.argmin(axis=1), -1)


def _filled(labels, reach, queries) -> np.ndarray:
    lost = labels < 0
    if lost.any():
        labels[lost] = reach.nearest(queries[lost])
    return labels


def row_lookup(known, queries) -> np.ndarray:
    """For each row of ``queries`` the first row of ``known`` that is equal to it, or -1."""
    known, queries = (
        np.ascontiguousarray(np.asarray(a, dtype=float) + 0.0) for a in (known, queries)
    )
    as_one = np.dtype((np.void, known.dtype.itemsize * known.shape[1]))
    known, queries = known.view(as_one).ravel(), queries.view(as_one).ravel()
    order = np.argsort(known, kind="stable")
    place = np.minimum(np.searchsorted(known[order], queries), len(known) - 1)
    hit = order[place]
    return np.where(known[hit] == queries, hit, -1)
