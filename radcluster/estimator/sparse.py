"""Precomputed distances as a sparse radius-neighbours graph: what is not stored is too far.

Two rows may share a cluster when their distance is stored and at most 2r. Up to a few thousand rows
the graph becomes a matrix in which pairs that are not stored lie beyond the radius. Beyond, the
search works on the stored pairs alone.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array

from radcluster.errors import InputError
from radcluster.estimator.spaces import MAX_DENSE, Space
from radcluster.problem.instance import Instance


class NeighbourGraph(Space):
    """A symmetric sparse matrix of distances."""

    metric = "precomputed"

    def __init__(self, graph):
        self.graph = checked_graph(graph)
        if len(self) > MAX_DENSE:
            raise InputError(
                f"a sparse graph of {len(self)} rows is more than the {MAX_DENSE} that are "
                "supported: take coordinates with metric='euclidean' or 'haversine'"
            )

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
        return self.dense(X)

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
        return queries[:, centers]


def checked_graph(graph) -> csr_array:
    """The graph with both directions of every pair, checked."""
    graph = csr_array(graph, dtype=float)
    if graph.shape[0] != graph.shape[1]:
        raise InputError(
            f"metric='precomputed' needs a square matrix of distances, got shape {graph.shape}"
        )
    graph.sum_duplicates()
    if graph.data.min(initial=0.0) < 0:
        raise InputError("a precomputed distance is negative")
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
