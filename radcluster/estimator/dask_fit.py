"""Clusters of a dask collection, which may be larger than memory.

Rows stay where they are. Workers sort the rows of each chunk by tile, cluster the tiles, and join
clusters across borders (:mod:`radcluster.estimator.tiles`); labels go back to the chunks. At the
end every cluster's diameter is verified over all chunks: each chunk names the corners of its part
of the cluster, among which the two farthest points of the cluster are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from radcluster.errors import InputError, SolverFailure
from radcluster.estimator import tiles
from radcluster.estimator.reach import corners
from radcluster.problem.diameters import sq_diameter
from radcluster.problem.instance import diameter_limit

#: Points of one tile.
TILE_POINTS = 150_000
#: Most columns: tiles are for low dimension.
MAX_DIMENSION = 3


@dataclass(frozen=True)
class Clustered:
    """What is known of a clustered collection.

    Attributes
    ----------
    labels : dask array
        In the chunks of the data, kept where it was computed.
    centers, sizes, radii : arrays
        Mean, number of rows and half of the diameter of each cluster.
    inertia : float
    corners, corner_labels : arrays
        Points among which the farthest of each cluster from anywhere is found.
    clique : array of rows
        Pairwise more than 2r apart: no partition has fewer clusters.
    """

    labels: object
    centers: np.ndarray
    sizes: np.ndarray
    radii: np.ndarray
    inertia: float
    corners: np.ndarray
    corner_labels: np.ndarray
    clique: np.ndarray


def as_array(X):
    """A dask array of floats with known chunks, each holding all columns."""
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array(lengths=True)
    if X.ndim != 2:
        raise InputError(f"a dask collection must have two dimensions, got {X.ndim}")
    if any(math.isnan(size) for size in X.chunks[0]):
        X = X.compute_chunk_sizes()
    return X.rechunk({1: -1}).astype(float)


def cluster(X, radius: float, seed: int = 0, tile_points: int | None = None) -> Clustered:
    """As few clusters as possible of the rows of a dask array, no wider than ``2 * radius``.

    A tile holds at most ``tile_points`` points, :data:`TILE_POINTS` by default.
    """
    import dask

    if X.shape[1] > MAX_DIMENSION:
        raise InputError(
            f"a dask collection is clustered in tiles of space, in at most {MAX_DIMENSION} "
            f"columns; it has {X.shape[1]}"
        )
    chunks = list(X.to_delayed()[:, 0])
    first = np.concatenate([[0], np.cumsum(X.chunks[0])])
    tree = _tree(chunks, radius, tile_points or TILE_POINTS)
    settled = _settled(chunks, first, tree, radius, seed)
    settled = list(dask.persist(*settled))
    identity, clique = _identity(settled)
    labels = _labels(chunks, first, settled, identity)
    (labels,) = dask.persist(labels)
    return _summary(X, chunks, labels, first, radius, clique)


def _tree(chunks, radius, tile_points) -> tiles.Node:
    import dask

    ends = np.array(dask.compute(*[dask.delayed(_ends)(chunk) for chunk in chunks]))
    if not np.isfinite(ends).all():
        raise InputError("the dask collection holds NaN, infinity, or an empty chunk")
    side = tiles.cell_side(ends[:, 0].min(axis=0), ends[:, 1].max(axis=0), radius)
    counted = dask.compute(*[dask.delayed(tiles.count_cells)(chunk, side) for chunk in chunks])
    cells, place = np.unique(
        np.concatenate([cells for cells, _ in counted]), axis=0, return_inverse=True
    )
    counts = np.bincount(place.ravel(), np.concatenate([counts for _, counts in counted]))
    return tiles.cut(cells, counts, side, tile_points)


def _ends(points):
    points = np.asarray(points)
    if not len(points):
        return np.full((2, points.shape[1]), np.nan)
    return np.array([points.min(axis=0), points.max(axis=0)])


def _settled(chunks, first, tree: tiles.Node, radius, seed) -> list:
    """One delayed :class:`~radcluster.estimator.tiles.Settled` per node, children first."""
    import dask

    by_tile = [
        dask.delayed(_by_tile)(chunk, at, tree)
        for chunk, at in zip(chunks, first[:-1], strict=True)
    ]
    found: dict[int, object] = {}
    for node in tree.nodes():
        if node.is_tile:
            parts = [part[node.number] for part in by_tile]
            found[node.number] = dask.delayed(_settle_tile)(parts, node, radius, seed)
        else:
            low, high = found[node.low.number], found[node.high.number]
            found[node.number] = dask.delayed(tiles.settle_border)(low, high, node, radius, seed)
    return list(found.values())


def _by_tile(points, first, tree: tiles.Node) -> dict:
    """Rows and points of a chunk, by the number of their tile."""
    points = np.ascontiguousarray(points)
    number = tree.tile_of(points)
    order = np.argsort(number, kind="stable")
    found = {}
    for tile in tree.tiles():
        low, high = np.searchsorted(number[order], [tile.number, tile.number + 1])
        found[tile.number] = (first + order[low:high], points[order[low:high]])
    return found


def _settle_tile(parts, node, radius, seed):
    rows = np.concatenate([rows for rows, _ in parts])
    points = np.concatenate([points for _, points in parts])
    return tiles.settle_tile(rows, points, node, radius, seed)


def _identity(settled) -> tuple[list[int], np.ndarray]:
    """The number of the first finished cluster of each node, and the clique of the root."""
    import dask

    # The finished pieces stay with the workers; only counts and the clique travel.
    counts = [dask.delayed(_count_finished)(node) for node in settled]
    last = dask.delayed(_clique)(settled[-1])
    (*counts, clique) = dask.compute(*counts, last)
    return np.concatenate([[0], np.cumsum(counts)]).tolist(), clique


def _count_finished(node) -> int:
    return node.finished.n_clusters


def _clique(node) -> np.ndarray:
    return node.clique


def _labels(chunks, first, settled, identity):
    """The labels of all rows as a dask array in the chunks of the data."""
    import dask
    import dask.array as da

    by_chunk = [
        dask.delayed(_by_chunk)(node, start, first)
        for node, start in zip(settled, identity[:-1], strict=True)
    ]
    blocks = []
    for i in range(len(chunks)):
        size = int(first[i + 1] - first[i])
        block = dask.delayed(_assembled)([part[i] for part in by_chunk], size)
        blocks.append(da.from_delayed(block, (size,), dtype=np.int64))
    return da.concatenate(blocks)


def _by_chunk(node, start, first) -> list:
    """Places within each chunk and labels of a node's finished rows."""
    rows, labels = node.finished.rows, node.finished.labels + start
    chunk = np.searchsorted(first, rows, side="right") - 1
    order = np.argsort(chunk, kind="stable")
    cuts = np.searchsorted(chunk[order], np.arange(1, len(first) - 1))
    return [(rows[part] - first[i], labels[part]) for i, part in enumerate(np.split(order, cuts))]


def _assembled(parts, size) -> np.ndarray:
    labels = np.full(size, -1, dtype=np.int64)
    for places, found in parts:
        labels[places] = found
    return labels


def _summary(X, chunks, labels, first, radius, clique) -> Clustered:
    """Centres, costs and diameters from the labels alone; refused unless they are valid."""
    import dask

    pieces = labels.to_delayed()
    counted = [dask.delayed(_moments)(c, piece) for c, piece in zip(chunks, pieces, strict=True)]
    parts = dask.compute(*counted)
    n_clusters = 1 + max(int(part[0].max()) for part in parts)
    if min(int(part[0].min()) for part in parts) < 0:
        raise SolverFailure("some rows of the dask collection got no cluster")
    names = np.concatenate([part[0] for part in parts])
    sizes = np.bincount(names, np.concatenate([part[1] for part in parts]), minlength=n_clusters)
    if sizes.min() < 1:
        raise SolverFailure("a cluster of the dask collection is empty")
    means = np.concatenate([part[2] for part in parts])
    count = np.concatenate([part[1] for part in parts])
    centers = np.column_stack(
        [np.bincount(names, count * x, minlength=n_clusters) / sizes for x in means.T]
    )
    # About the mean of each part, then from there to the centre: no digits are lost.
    scatter = sum(float(part[3].sum()) for part in parts)
    inertia = scatter + float(count @ np.square(means - centers[names]).sum(axis=1))
    outer = np.concatenate([part[4] for part in parts])
    corner_labels = np.concatenate([part[5] for part in parts])
    radii = np.sqrt(_sq_diameters(outer, corner_labels, n_clusters)) / 2
    if np.any(4 * np.square(radii) > diameter_limit(radius)):
        raise SolverFailure("a cluster of the dask collection is wider than 2r")
    return Clustered(
        labels, centers, sizes.astype(np.int64), radii, inertia, outer, corner_labels, clique
    )


def _moments(points, labels):
    """Of each cluster in a chunk: name, rows, mean, scatter about it; corners and their names."""
    points, labels = np.asarray(points), np.asarray(labels)
    order = np.argsort(labels, kind="stable")
    names, start = np.unique(labels[order], return_index=True)
    parts = [points[part] for part in np.split(order, start[1:])]
    count = np.array([len(part) for part in parts], dtype=float)
    mean = np.array([part.mean(axis=0) for part in parts])
    scatter = np.array([np.square(part - m).sum() for part, m in zip(parts, mean, strict=True)])
    outer = [corners(part) for part in parts]
    owner = np.repeat(names, [len(part) for part in outer])
    return names, count, mean, scatter, np.concatenate(outer), owner


def _sq_diameters(corners, labels, n_clusters) -> np.ndarray:
    order = np.argsort(labels, kind="stable")
    cuts = np.searchsorted(labels[order], np.arange(1, n_clusters))
    return np.array([sq_diameter(corners[part]) for part in np.split(order, cuts)])
