"""Space cut into tiles by planes, and what is done with the points of one tile or of one border.

The planes form a tree: each cuts the box of a node in two, down to tiles that hold few enough
points. A tile is clustered by itself. Then, from the bottom of the tree up, the clusters near each
plane are put together from both sides and dissolved where the others can take their points. A
cluster is *open* while some point of it lies within 2r of a plane that is still to come; open
clusters are passed up, the others are finished. So only borders travel.

A bound: points in two tiles, each more than r inside its tile, are more than 2r apart. Sets of
pairwise distant points from the insides of all tiles together are a clique of conflicts: no
partition has fewer clusters than it has points.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from radcluster.clock import Clock
from radcluster.graph.fewest import fewer_clusters
from radcluster.methods.heuristic.search import fewest_partition
from radcluster.problem.grouping import MOST_ENTRIES, box_lists
from radcluster.problem.instance import Instance, diameter_limit
from radcluster.problem.neighbours import TooManyPairs, find_neighbours

#: A tile is at least this many times as wide as the radius.
LEAST_WIDTH = 16.0
#: The finest grid on which tiles are cut, in cells along the longest side.
FINEST = 256
#: Side of the cells in which the points of a cluster move together, as a part of the radius.
GRAIN = 1 / 16


@dataclass(frozen=True)
class Node:
    """A box of space: a tile, or two nodes on both sides of a plane ``x[axis] = at``."""

    number: int
    lower: np.ndarray
    upper: np.ndarray
    axis: int = -1
    at: float = 0.0
    low: Node | None = None
    high: Node | None = None

    @property
    def is_tile(self) -> bool:
        return self.low is None

    def nodes(self) -> Iterator[Node]:
        """This node and all below it, children first."""
        if not self.is_tile:
            yield from self.low.nodes()
            yield from self.high.nodes()
        yield self

    def tiles(self) -> list[Node]:
        return [node for node in self.nodes() if node.is_tile]

    def tile_of(self, points: np.ndarray) -> np.ndarray:
        """The number of the tile of each point."""
        found = np.full(len(points), self.number)
        if not self.is_tile:
            high = points[:, self.axis] >= self.at
            found[~high] = self.low.tile_of(points[~high])
            found[high] = self.high.tile_of(points[high])
        return found


def cell_side(lower: np.ndarray, upper: np.ndarray, radius: float) -> float:
    """Side of the cells on whose borders tiles are cut."""
    return max(LEAST_WIDTH * radius, float((upper - lower).max()) / FINEST)


def count_cells(points: np.ndarray, side: float) -> tuple[np.ndarray, np.ndarray]:
    """Cells of this side that hold points, and how many."""
    return np.unique(np.floor(points / side).astype(np.int64), axis=0, return_counts=True)


def cut(cells: np.ndarray, counts: np.ndarray, side: float, most: int) -> Node:
    """A tree of planes whose tiles hold at most ``most`` points where cells allow it."""
    numbers = iter(range(2 * len(cells)))
    dimension = cells.shape[1]
    everything = np.full(dimension, np.inf)

    def node(cells, counts, lower, upper) -> Node:
        extent = np.ptp(cells, axis=0)
        if counts.sum() <= most or not extent.any():
            return Node(next(numbers), lower, upper)
        axis = int(extent.argmax())
        plane = _balanced(cells[:, axis], counts)
        at = float(plane * side)
        below, above = upper.copy(), lower.copy()
        below[axis] = above[axis] = at
        high = cells[:, axis] >= plane
        halves = (
            node(cells[~high], counts[~high], lower, below),
            node(cells[high], counts[high], above, upper),
        )
        return Node(next(numbers), lower, upper, axis, at, *halves)

    return node(cells, counts, -everything, everything)


def _balanced(positions, counts) -> int:
    """The position, not the first, that leaves about half of the counts below it."""
    values, place = np.unique(positions, return_inverse=True)
    below = np.cumsum(np.bincount(place, counts))[:-1]
    return int(values[1 + np.abs(below - counts.sum() / 2).argmin()])


@dataclass(frozen=True)
class Piece:
    """Some rows of the data: their numbers, points, and labels 0..K-1."""

    rows: np.ndarray
    points: np.ndarray
    labels: np.ndarray

    @property
    def n_clusters(self) -> int:
        return int(self.labels.max(initial=-1)) + 1

    def select(self, mask) -> Piece:
        """The rows where the mask holds, clusters renumbered."""
        labels = np.unique(self.labels[mask], return_inverse=True)[1]
        return Piece(self.rows[mask], self.points[mask], labels)


@dataclass(frozen=True)
class Settled:
    """What a node knows: finished clusters, and open ones for the nodes above."""

    finished: Piece
    open: Piece
    clique: np.ndarray


def settle_tile(rows, points, tile: Node, radius: float, seed: int = 0) -> Settled:
    """Cluster the points of one tile."""
    labels = np.empty(0, dtype=np.int64)
    if len(points):
        labels = fewest_partition(np.ascontiguousarray(points), radius, seed=seed)
    clique = rows[distant(points, tile, radius)]
    return replace(_closed(Piece(rows, points, labels), tile, radius), clique=clique)


def settle_border(low: Settled, high: Settled, node: Node, radius: float, seed: int = 0) -> Settled:
    """Join the open clusters on both sides of a node's plane."""
    a, b = low.open, high.open
    whole = Piece(
        np.r_[a.rows, b.rows],
        np.concatenate([a.points, b.points]),
        np.r_[a.labels, b.labels + a.n_clusters],
    )
    near = np.abs(whole.points[:, node.axis] - node.at) <= 2 * radius
    touched = np.isin(whole.labels, np.unique(whole.labels[near]))
    if touched.any():
        border = whole.select(touched)
        fewer = with_fewer(border, radius, seed)
        labels = whole.labels.copy()
        labels[touched] = whole.n_clusters + fewer
        whole = replace(whole, labels=np.unique(labels, return_inverse=True)[1])
    clique = np.r_[low.clique, high.clique]
    return replace(_closed(whole, node, radius), clique=clique)


def _closed(piece: Piece, node: Node, radius: float) -> Settled:
    """The piece, its clusters near a plane above the node told from the others."""
    margin = np.minimum(piece.points - node.lower, node.upper - piece.points).min(axis=1)
    waiting = np.isin(piece.labels, np.unique(piece.labels[margin <= 2 * radius]))
    return Settled(piece.select(~waiting), piece.select(waiting), np.empty(0, np.int64))


def with_fewer(piece: Piece, radius: float, seed: int = 0) -> np.ndarray:
    """Labels with as many clusters of the piece dissolved as can be; never more than before."""
    instance = Instance(piece.points, 1, radius)
    clock = Clock(None)
    groups = np.arange(len(piece.points))
    try:
        lists = find_neighbours(instance, clock=clock, max_entries=MOST_ENTRIES)
    except TooManyPairs:
        groups = _grains(piece, radius)
        lists = box_lists(instance, groups, clock)
        if lists is None:
            return piece.labels
    labels = np.empty(int(groups.max()) + 1, dtype=np.int64)
    labels[groups] = piece.labels
    return fewer_clusters(lists, labels, clock, seed=seed)[groups]


def _grains(piece: Piece, radius: float) -> np.ndarray:
    """Points of one cluster in one small cell move together."""
    cells = np.floor(piece.points / (GRAIN * radius)).astype(np.int64)
    keys = np.column_stack([piece.labels, cells])
    return np.unique(keys, axis=0, return_inverse=True)[1].ravel()


def distant(points, tile: Node, radius: float) -> np.ndarray:
    """Points more than r inside the tile, pairwise more than 2r apart; greedily, by rows of space.

    The margin is a little wider than r, so that rounding cannot bring two tiles too close.
    """
    if not len(points):
        return np.empty(0, dtype=np.int64)
    margin = np.minimum(points - tile.lower, tile.upper - points).min(axis=1)
    inside = np.flatnonzero(margin > radius * (1 + 1e-6))
    if not len(inside):
        return inside
    reach = np.sqrt(diameter_limit(radius)) * (1 + 1e-9)
    tree = cKDTree(points[inside])
    free = np.ones(len(inside), dtype=bool)
    chosen = []
    for i in np.lexsort(points[inside].T[::-1]):
        if free[i]:
            chosen.append(i)
            free[tree.query_ball_point(points[inside[i]], reach)] = False
    return inside[chosen]
