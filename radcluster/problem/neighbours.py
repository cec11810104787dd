"""Who may join whom: for each point the others within 2r of it, as sorted lists.

Two points i, j are *neighbours* when d_ij <= :func:`~radcluster.problem.instance.diameter_limit`
and no cannot-link forbids them: they may share a cluster. Up to :data:`DENSE` points the whole
matrix is computed at once; beyond it, a grid of cells of side 2r (up to three dimensions), a k-d
tree (up to eight), or blocks of rows find the pairs, and no N x N matrix ever exists. All of them
only propose pairs: the same exact comparison, on squared differences, decides in every case.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from radcluster.clock import Clock
from radcluster.errors import InputError
from radcluster.problem.instance import Instance, diameter_limit

#: Up to this many points all distances are computed at once.
DENSE = 1500
#: Above this many stored entries the lists no longer fit comfortably in memory.
MAX_ENTRIES = 100_000_000
#: Most axes for the grid of cells, and for the tree.
GRID_DIMENSION = 3
TREE_DIMENSION = 8
#: Points whose neighbours are counted to see whether the lists would fit.
SAMPLE = 50
#: Distances computed between two looks at the clock.
BLOCK = 4_000_000
TOO_MANY = "the radius is so large that the lists of compatible pairs do not fit in memory"


class TooManyPairs(InputError):
    """The lists of neighbours would not fit in memory."""


@dataclass(frozen=True)
class Neighbours:
    """Lists of neighbours: those of i are ``index[start[i]:start[i + 1]]``, increasing, without i.

    >>> line = Instance([[0.0], [1.0], [2.0]], 2, radius=0.5)
    >>> neighbours = find_neighbours(line)
    >>> neighbours.of(1).tolist(), neighbours.n_pairs, neighbours.complete
    ([0, 2], 2, False)
    """

    start: np.ndarray
    index: np.ndarray

    @property
    def n_points(self) -> int:
        return len(self.start) - 1

    @property
    def n_pairs(self) -> int:
        """Pairs that may share a cluster."""
        return len(self.index) // 2

    @property
    def complete(self) -> bool:
        """Whether every two points may share a cluster."""
        return len(self.index) == self.n_points * (self.n_points - 1)

    @cached_property
    def degree(self) -> np.ndarray:
        """How many neighbours each point has."""
        return np.diff(self.start)

    def of(self, i: int) -> np.ndarray:
        """Neighbours of point i, increasing."""
        return self.index[self.start[i] : self.start[i + 1]]

    def matrix(self) -> csr_array:
        """The lists as a sparse matrix of ones."""
        n = self.n_points
        return csr_array((np.ones(len(self.index), np.int8), self.index, self.start), shape=(n, n))

    def restricted(self, points: np.ndarray) -> Neighbours:
        """The lists among these points alone, renumbered in their order."""
        part = self.matrix()[points][:, points]
        part.sort_indices()
        return Neighbours(part.indptr.astype(np.int64), part.indices.astype(np.int32))

    def without(self, pairs: np.ndarray) -> Neighbours:
        """The lists with these pairs taken out."""
        if not len(pairs):
            return self
        n = self.n_points
        i, j = np.asarray(pairs, dtype=np.int64).T
        row = np.repeat(np.arange(n), self.degree)
        keep = ~np.isin(row * n + self.index, np.r_[i * n + j, j * n + i])
        size = np.bincount(row[keep], minlength=n)
        return Neighbours(np.concatenate([[0], np.cumsum(size)]), self.index[keep])


def find_neighbours(
    instance: Instance, *, clock: Clock | None = None, max_entries: int = MAX_ENTRIES
) -> Neighbours:
    """The neighbours of every point at the instance's largest radius, links included.

    Raises :class:`TooManyPairs` beyond ``max_entries`` stored entries, and ``TimeoutError`` when
    the clock runs out.
    """
    limit = float(diameter_limit(instance.radii.max()))
    if instance.points is None:
        found = from_matrix(instance.sq_distances <= limit)
    else:
        found = within(instance.points, limit, clock=clock, max_entries=max_entries)
    return found.without(instance.cannot_link)


def within(
    points: np.ndarray,
    limit: float,
    *,
    clock: Clock | None = None,
    max_entries: int = MAX_ENTRIES,
) -> Neighbours:
    """Pairs of points whose squared distance is at most ``limit``."""
    clock = clock or Clock(None)
    n, dim = points.shape
    if n <= DENSE or not np.isfinite(limit):
        if n * (n - 1) > max_entries:
            raise TooManyPairs(f"{n} points within reach of each other are too many to list")
        return from_matrix(cdist(points, points, "sqeuclidean") <= limit)
    if dim <= GRID_DIMENSION and limit > 0:
        from radcluster.problem.grid import grid_neighbours

        lists = grid_neighbours(points, limit, clock, max_entries)
        if lists is None:
            raise TooManyPairs(TOO_MANY)
    elif _expected_entries(points, limit) > max_entries:
        raise TooManyPairs(TOO_MANY)
    elif dim <= TREE_DIMENSION:
        lists = _by_tree(points, limit, clock, max_entries)
    else:
        lists = _by_blocks(points, limit, clock, max_entries)
    return Neighbours(*lists)


def from_matrix(compatible: np.ndarray) -> Neighbours:
    """Neighbours from a boolean matrix of compatible pairs; its diagonal is ignored."""
    n = len(compatible)
    compatible = compatible.copy()
    np.fill_diagonal(compatible, False)
    start = np.concatenate([[0], np.cumsum(compatible.sum(axis=1))]).astype(np.int64)
    return Neighbours(start, (np.flatnonzero(compatible) % n).astype(np.int32))


def _expected_entries(points, limit) -> float:
    """About how many entries the lists have, from those of a few points; too few on purpose."""
    rows = points[:: max(1, len(points) // SAMPLE)][:SAMPLE]
    near = sum(int((cdist(row[None], points, "sqeuclidean") <= limit).sum()) for row in rows)
    return 0.5 * near / len(rows) * len(points)


def _by_tree(points, limit, clock, max_entries):
    """The tree proposes a little generously, the exact comparison settles it."""
    tree = cKDTree(points)
    radius = np.sqrt(limit) * (1 + 1e-9)
    step = max(1, min(len(points), 2000))
    pieces = []
    for first in range(0, len(points), step):
        _look(clock)
        rows = points[first : first + step]
        near = tree.query_ball_point(rows, radius, return_sorted=True)
        size = np.fromiter(map(len, near), dtype=np.int64, count=len(near))
        column = np.concatenate([np.asarray(found, dtype=np.int32) for found in near])
        row = np.repeat(np.arange(first, first + len(rows)), size)
        pieces.append(_settled(points, row, column, limit))
        _refuse_beyond(pieces, max_entries)
    return _joined(pieces, len(points))


def _by_blocks(points, limit, clock, max_entries):
    """Rows of a block against all points, by differences of coordinates."""
    n = len(points)
    step = max(1, BLOCK // n)
    pieces = []
    for first in range(0, n, step):
        _look(clock)
        close = cdist(points[first : first + step], points, "sqeuclidean") <= limit
        row, column = np.nonzero(close)
        row += first
        keep = row != column
        pieces.append((row[keep], column[keep].astype(np.int32)))
        _refuse_beyond(pieces, max_entries)
    return _joined(pieces, n)


def _settled(points, row, column, limit):
    squared = np.square(points[row] - points[column]).sum(axis=1)
    keep = (squared <= limit) & (row != column)
    return row[keep], column[keep]


def _joined(pieces, n):
    size = sum(np.bincount(row, minlength=n) for row, _ in pieces)
    start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    return start, np.concatenate([column for _, column in pieces])


def _refuse_beyond(pieces, max_entries):
    if sum(len(row) for row, _ in pieces) > max_entries:
        raise TooManyPairs(TOO_MANY)


def _look(clock):
    if clock.expired:
        raise TimeoutError("the time limit passed while neighbours were sought")
