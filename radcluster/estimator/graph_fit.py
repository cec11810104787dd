"""Clusters of a sparse graph of distances with many rows, without a matrix of all pairs.

Only stored pairs are looked at: who may join whom, what a cluster costs, and in the end whether
every two rows of a cluster are stored and within 2r.
"""

from __future__ import annotations

import numbers
from collections import namedtuple

import numpy as np

from radcluster.clock import Clock
from radcluster.errors import InputError, SolverFailure
from radcluster.estimator.rows import first_seen
from radcluster.estimator.solving import DEFAULT_CLUSTERS, FEWEST_POINTS, Request
from radcluster.estimator.spaces import MAX_DENSE
from radcluster.estimator.sparse import NeighbourGraph
from radcluster.graph.fewest import few_clusters
from radcluster.problem.instance import diameter_limit
from radcluster.problem.kernels import helper, kernel
from radcluster.problem.neighbours import Neighbours
from radcluster.result import Result, relative_gap
from radcluster.status import Status

#: Rows looked at between two looks at the clock, and most sweeps over all rows.
SLICE = 2000
MOST_SWEEPS = 50
#: The gain per sweep, as a part of the cost, below which the search ends.
LEAST_GAIN = 1e-4

#: Stored pairs within reach: row i has ``index[start[i]:start[i + 1]]`` at these squared distances.
_Graph = namedtuple("_Graph", "start index squares weights")
#: Of each cluster: rows, weight, and the weighted sum of squares over ordered pairs.
_Clusters = namedtuple("_Clusters", "labels size mass pairs")
#: Scratch room: of each cluster the neighbours of a row in it and their weighted squares.
_Room = namedtuple("_Room", "hits sums near")


def fit_graph(model, X, space: NeighbourGraph, weights: np.ndarray, request: Request) -> None:
    """Cluster the rows of a large sparse graph and set the estimator's attributes."""
    _check(model)
    kept = np.flatnonzero(weights > 0)
    radius = float(model.radius)
    graph = _within(space, kept, radius, weights[kept])
    labels = _labels(model, graph, radius, request)
    n_clusters = int(labels.max()) + 1
    labels = first_seen(labels, n_clusters)[labels]
    everywhere = np.full(len(space), -1)
    everywhere[kept] = labels
    clusters = _clusters_of(graph, labels, n_clusters)
    inertia = float((clusters.pairs / (2 * clusters.mass)).sum())
    model.n_clusters_, model.inertia_, model.lower_bound_ = n_clusters, inertia, 0.0
    model.gap_ = relative_gap(inertia, 0.0)
    model.status_ = str(Status.OPTIMAL if inertia == 0 else Status.FEASIBLE)
    model.certificate_, model.cluster_centers_, model.n_iter_ = None, None, 1
    model.radius_, model.radii_ = radius, _half_diameters(graph, labels, n_clusters)
    model.max_radius_ = float(model.radii_.max())
    model._centers = space.centers(everywhere, n_clusters, weights)[1]
    model.medoid_indices_ = model._centers
    model._space, model._fit_X = space, X
    model._shaping, model.labels_ = everywhere, everywhere.copy()
    outside = np.flatnonzero(weights == 0)
    if len(outside):
        model.labels_[outside] = model._reach().fitting(space.query(space.graph[outside]))
    model._known_labels = model.labels_
    model.result_ = Result(
        Status(model.status_),
        n_clusters,
        radius,
        "heuristic",
        labels=model.labels_,
        objective=inertia,
        lower_bound=0.0,
        max_radius=model.max_radius_,
        seconds=request.clock.seconds,
    )


def is_listed(model, n_rows: int) -> bool:
    """Whether only stored pairs are looked at: all pairs are too many, or would take longer."""
    if n_rows > MAX_DENSE:
        return True
    given = isinstance(model.n_clusters, numbers.Integral)
    return n_rows > FEWEST_POINTS and not given and _refusal(model) is None


def _check(model) -> None:
    """Refuse what stored pairs alone cannot do."""
    why = _refusal(model)
    if why is not None:
        raise InputError(f"a sparse graph of this many rows {why}")


def _refusal(model) -> str | None:
    if model.radius is None or np.ndim(model.radius):
        return f"needs one radius, got {model.radius!r}"
    if not model.radius > 0:
        return f"needs a positive radius, got {model.radius!r}"
    if model.cannot_link is not None or model.must_link is not None:
        return "takes no links: leave a pair out of the graph to keep it apart"
    if not isinstance(model.init, str):
        return "takes no labels to start from"
    if model.method not in ("auto", "heuristic"):
        return f"takes method 'auto' or 'heuristic', got {model.method!r}"
    return None


def _within(space: NeighbourGraph, kept, radius, weights) -> _Graph:
    """The stored pairs among these rows that may share a cluster."""
    graph = space.graph[kept][:, kept]
    graph.sort_indices()
    row = np.repeat(np.arange(len(kept)), np.diff(graph.indptr))
    squares = np.square(graph.data)
    near = squares <= diameter_limit(radius)
    start = np.concatenate([[0], np.cumsum(np.bincount(row[near], minlength=len(kept)))])
    return _Graph(start, graph.indices[near].astype(np.int32), squares[near], weights)


def _labels(model, graph: _Graph, radius: float, request: Request) -> np.ndarray:
    """Labels of a valid partition: as few clusters as can be, or as many as were asked for."""
    n = len(graph.weights)
    count = model.n_clusters
    if isinstance(count, str) and np.isinf(radius):
        count = min(DEFAULT_CLUSTERS, n)
    given = isinstance(count, numbers.Integral)
    if given and not 1 <= count <= n:
        raise InputError(f"n_clusters={count} must be at least 1 and at most {n}")
    clock = request.clock
    lists = Neighbours(graph.start, graph.index)
    labels = few_clusters(lists, clock, seed=request.seed, at_least=count if given else 1)
    if labels.min() < 0:
        raise SolverFailure("the time limit passed before a valid partition was found")
    if given and labels.max() >= count:
        raise SolverFailure(
            f"the search found {labels.max() + 1} clusters and not the {count} asked for, which "
            "proves nothing about fewer"
        )
    if given:
        labels = _split(labels, count)
    return _improved(graph, labels, clock)


def _split(labels, n_clusters: int) -> np.ndarray:
    labels = labels.copy()
    for fresh in range(labels.max() + 1, n_clusters):
        largest = np.flatnonzero(labels == np.bincount(labels).argmax())
        labels[largest[len(largest) // 2 :]] = fresh
    return labels


def _clusters_of(graph: _Graph, labels, n_clusters: int) -> _Clusters:
    """The clusters' sums; refused unless every two rows of one are stored and within reach."""
    labels = np.asarray(labels, dtype=np.int64)
    size = np.bincount(labels, minlength=n_clusters)
    row, same = _inside(graph, labels)
    stored = np.bincount(labels[row], minlength=n_clusters)
    if size.min() < 1 or np.any(stored != size * (size - 1)):
        raise SolverFailure("the partition found is invalid: a pair of rows is too far apart")
    terms = graph.weights[row] * graph.weights[graph.index[same]] * graph.squares[same]
    return _Clusters(
        labels,
        size,
        np.bincount(labels, graph.weights, minlength=n_clusters),
        np.bincount(labels[row], terms, minlength=n_clusters),
    )


def _inside(graph: _Graph, labels) -> tuple[np.ndarray, np.ndarray]:
    """First rows and places of the stored pairs whose rows share a cluster."""
    row = np.repeat(np.arange(len(labels)), np.diff(graph.start))
    same = np.flatnonzero(labels[row] == labels[graph.index])
    return row[same], same


def _half_diameters(graph: _Graph, labels, n_clusters: int) -> np.ndarray:
    row, same = _inside(graph, labels)
    widest = np.zeros(n_clusters)
    np.maximum.at(widest, labels[row], graph.squares[same])
    return np.sqrt(widest) / 2


def _improved(graph: _Graph, labels, clock: Clock) -> np.ndarray:
    """Labels after rows moved, one at a time, to clusters that take them at less cost."""
    n_clusters = int(labels.max()) + 1
    clusters = _clusters_of(graph, labels, n_clusters)
    room = _Room(
        np.zeros(n_clusters, np.int64), np.zeros(n_clusters), np.empty(n_clusters, np.int64)
    )
    cost = float((clusters.pairs / (2 * clusters.mass)).sum())
    for _ in range(MOST_SWEEPS):
        gain = 0.0
        for first in range(0, len(labels), SLICE):
            if clock.expired:
                return clusters.labels
            gain += _sweep(graph, clusters, room, first, min(first + SLICE, len(labels)))
        cost -= gain
        if gain <= LEAST_GAIN * cost:
            break
    return clusters.labels


@kernel
def _sweep(graph, clusters, room, first, stop):
    """Move each of these rows where it saves most; what all moves save."""
    gain = 0.0
    for i in range(first, stop):
        own = clusters.labels[i]
        if clusters.size[own] > 1:
            gain += _move(graph, clusters, room, i, own)
    return gain


@helper
def _move(graph, clusters, room, i, own):
    """Move row i of cluster ``own`` to the cluster where it saves most, if any; what it saves."""
    hits, sums, near = room.hits, room.sums, room.near
    w = graph.weights[i]
    n_near = 0
    for p in range(graph.start[i], graph.start[i + 1]):
        j = graph.index[p]
        k = clusters.labels[j]
        if hits[k] == 0:
            near[n_near] = k
            n_near += 1
        hits[k] += 1
        sums[k] += 2 * w * graph.weights[j] * graph.squares[p]
    mass, pairs = clusters.mass[own], clusters.pairs[own]
    left = pairs - sums[own]
    leaving = pairs / (2 * mass) - left / (2 * (mass - w))
    best, target = 1e-9 * pairs / (2 * mass), -1
    for t in range(n_near):
        k = near[t]
        if k != own and hits[k] == clusters.size[k]:
            whole, before = clusters.pairs[k] + sums[k], clusters.mass[k]
            saved = leaving - whole / (2 * (before + w)) + clusters.pairs[k] / (2 * before)
            if saved > best:
                best, target = saved, k
    if target >= 0:
        clusters.pairs[own] = left
        clusters.pairs[target] += sums[target]
        clusters.mass[own] -= w
        clusters.mass[target] += w
        clusters.size[own] -= 1
        clusters.size[target] += 1
        clusters.labels[i] = target
    for t in range(n_near):
        hits[near[t]] = 0
        sums[near[t]] = 0.0
    return best if target >= 0 else 0.0
