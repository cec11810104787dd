"""Precomputed distances as a sparse radius-neighbours graph: what is not stored is too far.

Two rows may share a cluster when their distance is stored and at most 2r. Up to a few thousand rows
the graph becomes a matrix in which pairs that are not stored lie beyond the radius. Beyond, the
search works on the stored pairs alone (:mod:`radcluster.estimator.graph_fit`).
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse

from radcluster.errors import InputError
from radcluster.estimator.spaces import Space
from radcluster.problem.instance import Instance, diameter_limit


class NeighbourGraph(Space):
    """A symmetric sparse matrix of distances."""

    metric = "precomputed"

    def __init__(self, graph):
        self.graph = checked_graph(graph)

    def __len__(self):
        return self.graph.shape[0]

    def _farthest(self, radius) -> float:
        """The radius that keeps apart what is not stored."""
        stored = float(self.graph.data.max(initial=0.0)) / 2
        return np.minimum(radius, stored)

    def limit_from(self, radius):
        return self._farthest(radius)

    def dense(self, graph) -> np.ndarray:
        """Rows of distances; what is not stored is four times as far as anything stored."""
        graph = coo_array(graph)
        beyond = 4 * float(self.graph.data.max(initial=0.0)) or 1.0
        found = np.full(graph.shape, beyond)
        found[graph.coords] = graph.data
        return found

    def query(self, X):
        if X.shape[1] != len(self):
            raise InputError(f"X has {X.shape[1]} columns: {len(self)} rows were clustered")
        if issparse(X):
            return _canonical(X)
        # Of a dense row every entry counts, zeros too.
        columns = np.tile(np.arange(len(self)), len(X))
        ends = np.arange(len(X) + 1) * len(self)
        return csr_array((np.asarray(X, dtype=float).ravel(), columns, ends), shape=X.shape)

    def instance(self, rows, n_clusters, radius, **others):
        distances = self.dense(self.graph)
        np.fill_diagonal(distances, 0.0)
        squares = np.square(distances[np.ix_(rows, rows)])
        return Instance.from_distances(squares, n_clusters, self._farthest(radius), **others)

    def centers(self, labels, n_clusters, weights):
        medoids = np.empty(n_clusters, dtype=int)
        for k in range(n_clusters):
            members = np.flatnonzero((labels == k) & (weights > 0))
            within = self.graph[members][:, members].power(2) @ weights[members]
            medoids[k] = members[np.argmin(within)]
        return None, medoids

    def to_centers(self, queries, centers):
        return self.dense(queries[:, centers])


class GraphReach:
    """Clusters of the rows of a graph; queries are sparse rows of distances to these rows."""

    def __init__(self, labels, medoids, radii):
        self.labels, self.medoids = labels, medoids
        self.limits = diameter_limit(radii)
        self.size = np.bincount(labels[labels >= 0], minlength=len(medoids))

    def nearest(self, queries) -> np.ndarray:
        """The nearest medoid stored in each query, else cluster 0."""
        to = coo_array(queries[:, self.medoids])
        return _least(*to.coords, to.data, queries.shape[0], otherwise=0)

    def fitting_or_nearest(self, queries) -> np.ndarray:
        """The nearest cluster that takes each query, or else the nearest medoid."""
        found = self.fitting(queries)
        return np.where(found < 0, self.nearest(queries), found)

    def fitting(self, queries) -> np.ndarray:
        """The nearest cluster all of whose rows are stored and within reach; -1 where none is."""
        n_clusters = len(self.medoids)
        row = np.repeat(np.arange(queries.shape[0]), np.diff(queries.indptr))
        cluster = self.labels[queries.indices]
        near = (cluster >= 0) & (np.square(queries.data) <= self.limits[cluster])
        pair, place = np.unique(row[near] * n_clusters + cluster[near], return_inverse=True)
        hits = np.bincount(place, minlength=len(pair))
        # The distance to the medoid is among them where all of a cluster are.
        gap = np.full(len(pair), np.inf)
        central = queries.indices[near] == self.medoids[cluster[near]]
        gap[place[central]] = queries.data[near][central]
        whole = hits == self.size[pair % n_clusters]
        pair, gap = pair[whole], gap[whole]
        return _least(pair // n_clusters, pair % n_clusters, gap, queries.shape[0], otherwise=-1)


def _least(row, cluster, gap, n_rows: int, otherwise: int) -> np.ndarray:
    """The cluster of the least gap of each row, the first among equals."""
    found = np.full(n_rows, otherwise, dtype=np.int64)
    order = np.lexsort((cluster, gap, row))[::-1]
    found[row[order]] = cluster[order]
    return found


def same_graph(a, b) -> bool:
    """Whether two sparse matrices store the same entries, zeros among them."""
    a, b = _canonical(a), _canonical(b)
    return all(
        np.array_equal(getattr(a, part), getattr(b, part)) for part in ("indptr", "indices", "data")
    )


def same_rows(known: csr_array, queries: csr_array) -> np.ndarray:
    """For each sparse row of ``queries`` the first row of ``known`` equal to it, or -1."""
    first: dict[tuple[bytes, bytes], int] = {}
    for i, key in enumerate(_keys(known)):
        first.setdefault(key, i)
    return np.array([first.get(key, -1) for key in _keys(queries)], dtype=np.int64)


def _canonical(graph) -> csr_array:
    """A copy with each row's entries in order, each once."""
    graph = csr_array(graph, dtype=float, copy=True)
    graph.sum_duplicates()
    return graph


def _keys(graph):
    graph = _canonical(graph)
    for low, high in zip(graph.indptr[:-1], graph.indptr[1:], strict=True):
        yield graph.indices[low:high].astype(np.int64).tobytes(), graph.data[low:high].tobytes()


def checked_graph(graph) -> csr_array:
    """The graph with both directions of every pair, checked."""
    graph = csr_array(graph, dtype=float)
    if graph.shape[0] != graph.shape[1]:
        raise InputError(
            f"metric='precomputed' needs a square matrix of distances, got shape {graph.shape}"
        )
    graph.sum_duplicates()
    if graph.data.min(initial=0.0) < 0:
        raise InputError("Negative values in data: a precomputed distance is negative")
    i, j = coo_array(graph).coords
    if graph.data[i == j].any():
        row = int(i[(i == j) & (graph.data != 0)][0])
        raise InputError(f"the precomputed distance of row {row} to itself is not zero")
    off = i != j
    there = csr_array((graph.data[off], (i[off], j[off])), shape=graph.shape)
    back = csr_array((graph.data[off], (j[off], i[off])), shape=graph.shape)
    there.sort_indices()
    back.sort_indices()
    same = np.array_equal(there.indptr, back.indptr) and np.array_equal(there.indices, back.indices)
    if not same or not np.allclose(there.data, back.data, rtol=1e-9, atol=0):
        raise InputError("the precomputed distances are not symmetric")
    there.data = np.maximum(there.data, back.data)
    return there
